#!/bin/sh
# Commands start, rotate and stop two captures, whose files are then complete.
set -eu
. "$TOP/tests/host/daemon.sh"

add_capture one
add_capture two 'board = virtual:smp=4,seed=7,rate=200000' 'start = manual'
start_daemon
await is_state one running
[ "$(state_of two)" = stopped ] || fail "two runs without a start command"
ctl --json status | jq -es '.[0] | .ok and .pid == '"$daemon"' and (.captures | length) == 2' >/dev/null
[ "$(status '.captures[1].status')" = null ] || fail "a status of a capture that has not started"

# the answer to start follows the board's answer
ctl start two
[ "$(state_of two)" = running ] || fail "two does not run"
await has_records one 1000
await has_records two 1000
[ "$(ctl status | grep -c running)" -eq 2 ] || fail "the table does not show two running captures"

# rotate one, not the other
ctl rotate one
await sh -c 'ls out/one_00001_*.byu.gz'
[ -z "$(ls out | grep '^two_00001_.*gz$')" ] || fail "two was rotated too"
kill -HUP "$daemon"
await sh -c 'ls out/two_00001_*.byu.gz'
await sh -c 'ls out/one_00002_*.byu.gz'

# the answer to stop comes when the files are complete
ctl stop two
[ "$(state_of two)" = stopped ] || fail "two is not stopped"
[ "$(state_of one)" = running ] || fail "one was stopped too"
[ -z "$(ls out | grep '^two_.*part$')" ] || fail "stopped with an incomplete file"
verify_files out/two_*.byu.gz
count=$(bustap info --json out/two_*.byu.gz | jq .records)
[ "$(status '.captures[1].status.records')" -eq "$count" ] || fail "status and files differ"

# and again, to new files of the same prefix
ctl start two
await has_records two 1000

# impossible commands are errors
! ctl start three 2>error || fail "started an unknown capture"
grep -q 'the configuration has no capture three' error
ctl stop two
! ctl rotate two 2>error || fail "rotated a stopped capture"
grep -q 'capture two does not run' error

stop_daemon
[ ! -e socket ] && [ ! -e .socket.lock ] || fail "the socket still exists"
[ -z "$(ls out | grep -v '\.byu\.gz$')" ] || fail "other files: $(ls out)"
verify_files out/*.byu.gz
grep -q 'bustapd: stopped' log
