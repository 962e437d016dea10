#!/bin/bash
# A second daemon is refused; one that was killed leaves nothing that stands in the way of the next.
set -eu
. "$TOP/tests/host/daemon.sh"

add_capture one 'rotate = size=100K'
start_daemon
await has_records one 1000

status=0
bustapd -c conf --socket socket 2>second || status=$?
[ "$status" -eq 3 ] || fail "the second daemon ended with $status"
grep -qx "bustapd: another bustapd, process $daemon, listens on socket; stop it, or use --socket" second ||
    fail "it said: $(cat second)"
[ "$(wc -l <second)" -eq 1 ] || fail "it said more: $(cat second)"
ctl status >/dev/null || fail "the first daemon is gone"
is_state one running || fail "the capture was disturbed"

# another socket, the same files: the captures' own lock
bustapd -c conf --socket other 2>third &
other=$!
await grep -q 'capture one: .*; trying again in 5 s' third
kill -TERM "$other"
wait "$other" || fail "the third daemon ended with $?"

await sh -c 'ls out/one_00002_*.byu.gz'
end_daemon KILL
[ -S socket ] || fail "nothing was left behind: this tests nothing"
start_daemon
await has_records one 1000
stop_daemon

# what was complete when it was killed is whole; what was not can be recovered
for file in out/one_*.byu.gz; do
    gzip -t "$file" || fail "$file is damaged"
done
for part in out/*.part; do
    # status 1: the kill came before the first block, or within one
    bustap recover "$part" -o "recovered.byu.gz" || [ $? -eq 1 ] || fail "$part cannot be recovered"
    gzip -t recovered.byu.gz
    rm recovered.byu.gz
done
