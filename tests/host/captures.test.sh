#!/bin/sh
# Two captures, told to start, rotate and stop; what they leave behind is whole.
set -eu
. "$TOP/tests/host/daemon.sh"

add_capture one
add_capture two 'board = virtual:smp=4,seed=7,rate=200000' 'start = manual'
start_daemon
await is_state one running
[ "$(state_of two)" = stopped ] || fail "two runs, and nobody told it to"
ctl --json status | jq -e '.ok and .pid == '"$daemon"' and (.captures | length) == 2' >/dev/null
[ "$(status '.captures[1].status')" = null ] || fail "a status of nothing"

# start is answered when the board has answered
ctl start two
[ "$(state_of two)" = running ] || fail "two does not run"
await has_records one 1000
await has_records two 1000
[ "$(ctl status | grep -c running)" -eq 2 ] || fail "the table shows something else"

# rotate one, not the other
ctl rotate one
await sh -c 'ls out/one_00001_*.byu.gz'
[ -z "$(ls out | grep '^two_00001_.*gz$')" ] || fail "two was rotated too"
kill -HUP "$daemon"
await sh -c 'ls out/two_00001_*.byu.gz'
await sh -c 'ls out/one_00002_*.byu.gz'

# stop is answered when the files are complete
ctl stop two
[ "$(state_of two)" = stopped ] || fail "two is not stopped"
[ "$(state_of one)" = running ] || fail "one was stopped too"
[ -z "$(ls out | grep '^two_.*part$')" ] || fail "stopped, and a file is not complete"
verify_files out/two_*.byu.gz
count=$(bustap info --json out/two_*.byu.gz | jq .records)
[ "$(status '.captures[1].status.records')" -eq "$count" ] || fail "status and files differ"

# and again, to new files of the same prefix
ctl start two
await has_records two 1000

# what cannot be done is said
! ctl start three 2>error || fail "started what is not there"
grep -q 'the configuration has no capture three' error
ctl stop two
! ctl rotate two 2>error || fail "rotated what does not run"
grep -q 'capture two does not run' error

stop_daemon
[ ! -e socket ] && [ ! -e .socket.lock ] || fail "the socket is still there"
[ -z "$(ls out | grep -v '\.byu\.gz$')" ] || fail "left behind: $(ls out)"
verify_files out/*.byu.gz
grep -q 'bustapd: stopped' log
