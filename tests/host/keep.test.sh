#!/bin/bash
# A ring keeps its size over restarts of the daemon, also after it was killed.
set -eu
. "$TOP/tests/host/daemon.sh"

add_capture one 'board = virtual:smp=2,rate=400000' 'rotate = size=50K' 'keep = 4'
complete() { ls out/one_*.byu.gz | wc -l; }
is_full() { [ "$(complete)" -eq 4 ] && ! ls out/one_00001_*.byu.gz; }
round=0 left=0
until [ $left -ge 2 ]; do # a kill between two files leaves no incomplete one
    round=$((round + 1))
    start_daemon
    await is_full
    await has_records one 1000
    end_daemon KILL
    # the kill may come between the rename of a new file and the removal of an old one
    [ "$(complete)" -le 5 ] || fail "round $round: $(ls out)"
    left=$(ls out/*.part 2>/dev/null | wc -l)
done
start_daemon
await has_records one 1000
stop_daemon
[ "$(complete)" -eq 4 ] || fail "files: $(ls out)"
[ "$(ls out/*.part | wc -l)" -eq $left ] || fail "incomplete files were removed: $(ls out)"
