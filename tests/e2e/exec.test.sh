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

# --- which part ---

cat >part.c <<'END'
#include <stdio.h>
#include <stdlib.h>
__attribute__((noinline)) int work(int n)
{
    volatile int sum = 0;
    for (int i = 0; i < n; i++)
        sum += i;
    return sum;
}
int main(int count, char **arguments)
{
    (void)arguments;
    for (int i = 0; i < 3; i++)
        printf("%d\n", work(100 * count));
    return 5;
}
END
gcc -O1 -o part part.c

# capture OPTION... : of ./part, whose output and status must be as ever; its fetches and data are counted
capture() {
    local status=0
    rm -f part_*
    bustap exec "$@" ./part >got 2>told || status=$?
    [ "$status" = 5 ] || { echo "$*: status $status"; cat told; exit 1; }
    printf '4950\n4950\n4950\n' | cmp - got
    bustap verify part_*.byu.gz >verdict || { cat verdict; exit 1; }
    bustap info --json part_*.byu.gz >info.json
    fetches=$(sed -n 's/^ *"FETCH": \([0-9]*\),*$/\1/p' info.json)
    records=$(sed -n 's/^ *"records": \([0-9]*\),*$/\1/p' info.json)
}

first() {
    bustap dump part_*.byu.gz | head -n 1 | cut -d ' ' -f 1
}

capture
whole=$fetches
[ "$records" -gt "$fetches" ]
capture --only-fetch
[ "$fetches $records" = "$whole $whole" ]
capture --only-data
[ -z "$fetches" ]
[ "$records" -gt 1000 ]
for limit in 1 2 1000 12345; do
    capture --limit "$limit"
    [ "$fetches" = "$limit" ]
    capture --skip "$limit" --limit 3
    [ "$fetches" = 3 ]
done
capture --skip 1000
[ "$fetches" = $((whole - 1000)) ]
capture --skip 1G
[ "$records" = 0 ]
grep -q 'ended before as many instructions' told

# what is left out and what is captured make the whole
bustap dump part_*.byu.gz >rest
capture
bustap dump part_*.byu.gz >all
capture --skip 777
bustap dump part_*.byu.gz >rest
tail -n "$(wc -l <rest)" all | cmp - rest
capture --limit 777
bustap dump part_*.byu.gz >begin
cat begin rest | cmp - all

at=$(nm part | sed -n 's/^0*\([0-9a-f]*\) T work$/\1/p')
capture --from work --limit 7 --modules modules
[ "$fetches" = 7 ]
base=$(sed -n "s|^$PWD/part@0x||p" modules)
[ "$(first)" = "$(printf %08x $((0x$base + 0x$at)))" ]
one=$(first)
capture --from "0x$one" --until work # the second call is the end
loop=$fetches
[ "$loop" -gt 400 ]
[ "$(first)" = "$one" ]
capture --from work --skip "$loop" --limit 5 # which begins with it
[ "$(first)" = "$one" ]
capture --from work+0x4 --limit 1
capture --until work
before=$fetches
capture --from work
[ $((before + fetches)) = "$whole" ]
capture --modules modules
bustap dcfg build $(sed 's/^/--image /' modules) -o part.json --trace trace.json part_*.byu.gz 2>told
bustap dcfg check --trace trace.json part.json
bustap dcfg blocks part.json | grep -q ' work+'
capture --from printf --limit 2 # in a library that is not there at the start
[ "$fetches" = 2 ]
capture --from no_such_function
[ "$records" = 0 ]
grep -q 'no file that the program loaded has a function no_such_function' told
status=0
bustap exec -q --from work --limit 10 --exit -o ended ./part >got || status=$?
[ "$status" = 0 ]
[ ! -s got ]
bustap info --json ended_*.byu.gz | grep -q '"FETCH": 10'

# --- by way of a board ---

instructions() {
    bustap dump part_*.byu.gz | awk '$NF == 1 { print $1, $2 }'
}
capture
instructions >wanted
capture --board
instructions | cmp wanted -
[ "$records" -gt "$whole" ]
capture --board --packing plain --limit 5000
[ "$(instructions | wc -l)" = 5000 ]
