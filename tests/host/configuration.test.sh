#!/bin/sh
# Errors in the configuration and the options are reported, with the line.
set -eu
. "$TOP/tests/host/daemon.sh"

expect() {
    wanted=$1
    sentence=$2
    shift 2
    status=0
    "$@" >output 2>&1 || status=$?
    [ "$status" -eq "$wanted" ] || fail "$*: exit status $status, expected $wanted: $(cat output)"
    grep -qxF -- "$sentence" output || fail "$*: $(cat output)"
}

bustapd -c "$TOP/doc/bustapd.conf" --check
printf '[capture a]\nboard=virtual:smp=1\noutput=a\n\nspeed=9\n' >bad
expect 2 'bustapd: bad:5: unknown key "speed" in [capture a]; there are board, output, rotate, keep, stop, filter, packing, stall, queue, workers, when-full, start, retry, disk-full, engine, level, reconnect, trigger, pre, post, stop-on, ring, exec-on-file, pack-after, pack-level' \
    bustapd -c bad --check
expect 2 'bustapd: bad:5: unknown key "speed" in [capture a]; there are board, output, rotate, keep, stop, filter, packing, stall, queue, workers, when-full, start, retry, disk-full, engine, level, reconnect, trigger, pre, post, stop-on, ring, exec-on-file, pack-after, pack-level' \
    bustapd -c bad
printf '[capture a]\nboard=virtual:smp=1\noutput=a\n[capture b]\nboard=ftdi:port=3\noutput=b\n' >boards
expect 2 'bustapd: boards:4: [capture b]: board option "port=3" is not one of serial=, description=, vid=, pid=, channel=' \
    bustapd -c boards --check
printf '[capture a]\nboard=abacus\noutput=a\n' >abacus
expect 2 "bustapd: abacus:1: [capture a]: no board 'abacus': boards are virtual:replay=FILE, virtual:smp=N and ftdi[:serial=S], each with options, and program:COMMAND" \
    bustapd -c abacus --check
printf '[capture a]\nboard=virtual:replay=not/there\noutput=a\n' >absent
expect 0 'absent: 1 capture, no errors' bustapd -c absent --check
expect 3 'bustapd: cannot read the configuration none: No such file or directory' bustapd -c none
head -c 2000000 /dev/zero | tr '\0' '\n' >large
expect 2 'bustapd: large has more than 1048576 bytes' bustapd -c large
: >empty
expect 0 'empty: 0 captures, no errors' bustapd -c empty --check
expect 2 "see 'bustapd --help'" bustapd --nonsense
expect 2 "bustapd: unexpected argument 'x'" bustapd x
expect 3 'bustapd: cannot make the lock no/.socket.lock: No such file or directory' \
    bustapd -c empty --socket no/socket
: >file
expect 3 'bustapd: file exists and is not a socket' bustapd -c empty --socket file
[ -f file ] || fail "file was removed"
[ ! -e .file.lock ] || fail ".file.lock exists"
bustapd --help | grep -q '^usage: bustapd'
bustapd --version | grep -q '^bustapd [0-9]'
