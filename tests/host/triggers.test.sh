#!/bin/bash
# Triggers, stops and rings of the configuration have the files of `bustap capture`; snapshots name their files.
set -eu
. "$TOP/tests/host/daemon.sh"

bus='board = virtual:smp=2,requests=100000'
options=(--trigger 'type=SHUTDOWN or type=SMIACK' --pre 100 --post 50)
add_capture windows "$bus" 'trigger = type=SHUTDOWN or type=SMIACK' 'pre = 100' 'post = 50'
add_capture stop "$bus" 'stop-on = type=SHUTDOWN' 'post = 10' 'ring = 120K'
add_capture ring 'ring = 120K'
add_capture open 'trigger = type=FETCH' 'pre = 1' 'post = 1000000000'
add_capture plain
start_daemon

# the same windows
await is_state windows finished
bustap capture -q --board "${bus#board = }" -o twin/windows "${options[@]}"
for file in twin/*; do bustap dump --csv "$file"; done >wanted
for file in out/windows_*; do bustap dump --csv "$file"; done >got
[ -s wanted ]
cmp wanted got
verify_files out/windows_*
status '.captures[0].status.trigger | [.matches, .windows, .outside, .short_windows, .stopped] | @csv' >counts
bustap capture -q --json --board "${bus#board = }" -o again/windows "${options[@]}" |
    jq -r '.trigger | [.matches, .windows, .outside, .short_windows, .stopped] | @csv' | cmp - counts
windows=$(cut -d, -f 2 counts)
[ "$windows" -ge 3 ] || fail "$windows windows"
ctl status >table
grep -qx "  trigger: $(cut -d, -f 1 counts) matches, $windows windows, $(cut -d, -f 3 counts) records outside" table
grep -q "windows: source ended after .* records in $windows windows\$" log
bustap capture -q --board "${bus#board = }" -o twin/stop --stop-on type=SHUTDOWN --post 10 --ring 120K
await is_state stop finished
cmp <(bustap dump twin/stop_*) <(bustap dump out/stop_*)
grep -q 'stop: limit reached after .* by a match of stop-on$' log

# a snapshot: its file is complete when its name is printed
await has_records plain 1000
until [ "$(status '.captures[2].status.trigger.outside')" -gt 20000 ]; do sleep 0.05; done
file=$(ctl snapshot ring)
[ "$(bustap dump "$file" | wc -l)" -eq 10240 ] || fail "$file"
bustap info "$file" | grep -q snapshot
[ "$(ctl --json snapshot ring | jq -r '.captures | map(.name, .status.trigger.snapshots) | @csv')" = '"ring",2' ]
ctl snapshot ring >third
[ "$(status '.captures[2].status.trigger.snapshot_file')" = "$(cat third)" ]
# SIGHUP and rotate make snapshots, too
kill -HUP "$daemon"
await sh -c 'ls out/ring_00004_*.byu.gz'
ctl rotate ring
await sh -c 'ls out/ring_00005_*.byu.gz'

refuse() {
    local status=0
    ctl snapshot "${@:2}" 2>error || status=$?
    [ "$status" -eq 3 ] && grep -qF "$1" error || fail "$status: $(cat error)"
}
refuse 'capture plain keeps no records for a snapshot: set ring in its section' plain
refuse 'capture windows does not run' windows
refuse 'the configuration has no capture nobody' nobody
# in an open window the file is not complete; the end of the capture ends the wait
ctl snapshot open 2>error && fail "a snapshot of an open window is complete" &
waiting=$!
until [ "$(status '.captures[3].status.trigger.windows')" -eq 1 ]; do sleep 0.05; done
sleep 0.3
kill -0 $waiting || fail "not waited for: $(cat error)"
ctl stop open
wait $waiting || true
grep -q 'capture open has ended meanwhile' error || fail "$(cat error)"
# all: those that it fits
[ "$(ctl snapshot)" = "$(status '.captures[2].status.trigger.snapshot_file')" ]
ctl stop ring
refuse 'no capture that runs keeps records for a snapshot'

# the configuration is not read again
printf '[capture new]\n' >conf
kill -HUP "$daemon"
await sh -c 'ls out/plain_00002_*.byu.gz'
[ "$(status '.captures | length')" -eq 5 ]
stop_daemon
verify_files out/ring_* && verify_files out/plain_* && verify_files out/open_*
