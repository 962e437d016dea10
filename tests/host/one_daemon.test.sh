#!/bin/bash
# A second daemon is refused; files of a killed daemon do not hinder the next.
set -eu
. "$TOP/tests/host/daemon.sh"

add_capture one 'rotate = size=100K'
start_daemon
await has_records one 1000

status=0
bustapd -c conf --socket socket 2>second || status=$?
[ "$status" -eq 3 ] || fail "the second daemon ended with $status"
grep -qx "bustapd: another bustapd, process $daemon, listens on socket; stop it, or use --socket" second ||
    fail "message: $(cat second)"
[ "$(wc -l <second)" -eq 1 ] || fail "more than one message: $(cat second)"
ctl status >/dev/null || fail "the first daemon has ended"
is_state one running || fail "the capture was interrupted"

# another socket, the same files: the lock of the captures refuses it
bustapd -c conf --socket other 2>third &
other=$!
await grep -q 'capture one: .*; trying again in 5 s' third
kill -TERM "$other"
wait "$other" || fail "the third daemon ended with $?"

await sh -c 'ls out/one_00002_*.byu.gz'
end_daemon KILL
[ -S socket ] || fail "no socket was left: the test has no effect"
start_daemon
await has_records one 1000
stop_daemon

# files that were complete at the kill are good; others can be recovered
for file in out/one_*.byu.gz; do
    gzip -t "$file" || fail "$file is damaged"
done
for part in out/*.part; do
    # status 1: the kill came before the first block, or within one
    bustap recover "$part" -o "recovered.byu.gz" || [ $? -eq 1 ] || fail "$part cannot be recovered"
    gzip -t recovered.byu.gz
    rm recovered.byu.gz
done
