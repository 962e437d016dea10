#!/bin/bash
# Real programs under `bustap exec`: their output, exit status and signals are as natively, and the
# captures are complete.
set -eu -o pipefail

# AddressSanitizer's shadow lies where the program should
case $BUILD in *sanitize*) echo "AddressSanitizer lies where programs go"; exit 77 ;; esac

n=0

# same PROGRAM ARGUMENT...: natively and under bustap
same() {
    local wanted=0 got=0
    n=$((n + 1))
    env -u _ "$@" >wanted 2>wanted.err <input || wanted=$?
    env -u _ bustap exec -q -o "run$n" -- "$@" >got 2>got.err <input || got=$?
    [ "$wanted" = "$got" ] || { echo "$*: status $got, wanted $wanted"; cat got.err; exit 1; }
    cmp wanted got || { echo "$*: output"; exit 1; }
    cmp wanted.err got.err || { echo "$*: standard error"; cat got.err; exit 1; }
    bustap verify run"$n"_*.byu.gz >verdict || { echo "$*"; cat verdict; exit 1; }
    grep -q '^complete: [1-9][0-9]* records in 1 file, nothing lost$' verdict
    rm -f run"$n"_*
}

seq 1000 >input
seq 1000 | sort -R --random-source=<(yes) >lines
same /bin/true
same /bin/ls -la "$TOP/doc"
same ls "$TOP/tools"
same sort -n lines
same gzip -9 -c lines
same cat
same cat - /nonexistent
same sh -c 'exit 7'
same sh -c 'kill -TERM $$'
same sh -c 'kill -SEGV $$'
same sh -c 'kill -KILL $$'
same bash -c 'echo $(seq 5 | sort -r); (exit 3); echo $?; exec 5>five; echo x >&5; cat five; trap "echo got" USR1; kill -USR1 $$; wait'
same bash -c 'exec 3>three 4>&3; echo x >&4; exec ls -l /proc/self/fd/3 | wc -l'
same bash -c 'exec true'

# the issue's own
bustap exec -o out/gz -- gzip -9 -c lines 2>told | cmp - <(gzip -9 -c lines)
grep -q '^bustap: .* records' told
bustap info out/gz_*.byu.gz >info
grep -q '^ticks  *1 to [0-9]* instructions$' info
grep -q '^program  *gzip -9 -c lines$' info
