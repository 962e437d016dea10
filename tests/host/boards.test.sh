#!/bin/sh
# A missing board is retried without affecting other captures; a capture whose bus ends is finished.
set -eu
. "$TOP/tests/host/daemon.sh"

add_capture absent 'board = virtual:replay=trace.byu' 'retry = 200ms'
add_capture good
add_capture nonsense 'board = abacus'
start_daemon
await is_state good running
await is_state absent waiting
await is_state nonsense stopped
status '.captures[0].error' | grep -q trace.byu || fail "no reason: $(status '.captures[0].error')"
status '.captures[2].error' | grep -q abacus || fail "no reason: $(status '.captures[2].error')"
! ctl start absent 2>error || fail "started a missing board"
grep -q 'capture absent: .*trace.byu' error
sleep 1
[ "$(grep -c 'capture absent' log)" -eq 1 ] || fail "reported more than once"
[ -z "$(ls out | grep absent)" ] || fail "files of a missing board"

# the board appears: 60000 records of an earlier capture
bustap capture --board virtual:smp=1,requests=60000 -o source --quiet 2>/dev/null
zcat source_*.byu.gz >new.byu
mv new.byu trace.byu
await is_state absent finished
[ "$(status '.captures[0].starts')" -eq 1 ]
verify_files out/absent_*.byu.gz
zcat out/absent_*.byu.gz | cmp - trace.byu
is_state good running || fail "the good capture was interrupted"

# it runs again after a start command only
ctl start absent
await is_state absent finished
[ "$(status '.captures[0].starts')" -eq 2 ]
stop_daemon INT
verify_files out/*.byu.gz
