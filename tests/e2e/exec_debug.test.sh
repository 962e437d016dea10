#!/bin/bash
# exec --debug: blocks beside their translation, signals and system calls, on standard error or in a file.
set -eu
[ -z "$NO_EXEC" ] || { echo "$NO_EXEC"; exit 77; }

fail() {
    echo "$*"
    exit 1
}
has() { # FILE EXPRESSION
    grep -qE -- "$2" "$1" || fail "no line matches $2 in $1: $(grep -v '^ ' "$1" | tail -n 30)"
}
lacks() {
    ! grep -qE -- "$2" "$1" || fail "a line matches $2 in $1: $(grep -E -m 3 -- "$2" "$1")"
}

# Signals and system calls on standard error, apart from the program's output.
status=0
# shellcheck disable=SC2016
bustap exec -q -o one --debug signals,system-calls -- \
    /bin/sh -c 'trap "echo caught" USR1; kill -USR1 $$; [ -e nonesuch ]; exit 5' >out 2>err || status=$?
[ "$status" = 5 ] && [ "$(cat out)" = caught ] || fail "status $status, $(cat out)"
has err '^[0-9]+:0 signal 10 SIGUSR1, code [0-9-]+: handler 0x[0-9a-f]+$'
has err '^[0-9]+:0 system call 1 write\(0x1, 0x[0-9a-f]+, 0x7, .*\) = 0x7$'
has err '^[0-9]+:0 system call [0-9]+ [a-z0-9]+\(.*\) = -ENOENT$'
has err '^[0-9]+:0 system call 15 rt_sigreturn\(.*\)$'
[[ $(tail -n 1 err) =~ 'system call 231 exit_group(0x5, '.*')'$ ]] || fail "the end: $(tail -n 1 err)"
lacks err ' block '

# A signal that ends the program; a fault has an address. Nothing else is printed.
# shellcheck disable=SC2016
bustap exec -q -o two --debug signals -- /bin/sh -c 'kill -TERM $$' 2>err || true
has err '^[0-9]+:0 signal 15 SIGTERM, code 0: ends the program$'
lacks err 'system call|block'

# Blocks in a file, which is truncated first: each instruction of the source once, with its translation.
seq 100000 >debug
bustap exec -q -o three --debug blocks --debug-file debug -- /bin/echo ran >out 2>err
[ "$(cat out)" = ran ] && [ ! -s err ] || fail "$(cat out err)"
awk '
    function check() { if (sources != expected) { print "block has " sources " of " expected " instructions"; exit 1 } }
    /^[0-9]+:0 block 0x[0-9a-f]+: [0-9]+ instructions, / { check(); blocks++; expected = $4; sources = 0; next }
    /^    0x[0-9a-f]+  [^|]+/ { sources++; if ($0 ~ /  (push rbp|mov rbp, rsp) +\| / ) known++; next }
    /^    \(entry\) / || /^ +\| [a-z]/ { next }
    { print "unexpected: " $0; exit 1 }
    END { check(); if (blocks < 100 || known < 1) { print blocks " blocks, " known " known instructions"; exit 1 } }
' debug || fail "blocks"
# An instruction without memory access is copied unchanged.
awk -F '|' '/^    0x[0-9a-f]+  xor e[a-d]x, e[a-d]x / { sub(/^ *0x[0-9a-f]+ +/, "", $1); gsub(/^ +| +$/, "", $1);
        sub(/^ +/, "", $2); if ($1 == $2) same++; else other++ }
    END { exit !(same > other) }' debug || fail "copies"

# Children with --follow append to the same file from any folder.
# shellcheck disable=SC2016
bustap exec -q -o four --follow --debug system-calls --debug-file debug -- \
    /bin/sh -c 'cd / && /bin/echo child; /bin/true' >out
[ "$(grep -c ' exit_group(' debug)" = 3 ] || fail "exits: $(grep ' exit_group(' debug)"
[ "$(sed -n 's/:.* exit_group(.*//p' debug | sort -u | wc -l)" = 3 ] || fail "processes"
has debug ' execve\(.*\)$'

for wrong in '--debug blocks,' '--debug everything' '--debug-file debug'; do
    status=0
    # shellcheck disable=SC2086
    bustap exec $wrong -- /bin/echo ran >out 2>err || status=$?
    [ "$status" = 2 ] && [ ! -s out ] || fail "$wrong: $status, $(cat out err)"
done
