#!/bin/bash
# exec-on-file of the configuration: runs beside the capture, and after its end; what hangs is left in time.
set -eu
. "$TOP/tests/host/daemon.sh"
cat >note <<'END'
#!/bin/sh
[ ! -e slow ] || sleep 0.3
echo "$BUSTAP_FILE $BUSTAP_REASON" >>"$BUSTAP_PREFIX.files"
END
printf '#!/bin/sh\necho $$ >>processes\nexec sleep 1000\n' >hanging
chmod +x note hanging
trap 'kill $(cat processes) 2>/dev/null || true' EXIT

add_capture one 'board = virtual:smp=2,requests=100000' 'rotate = size=20K' 'exec-on-file = ./note'
add_capture ring 'ring = 120K' 'exec-on-file = ./note'
add_capture none 'board = virtual:smp=2,requests=100000' 'rotate = size=20K' 'exec-on-file = none-such -x'
start_daemon
await is_state one finished
await sh -c '[ "$(ls out/one_*.byu.gz)" = "$(cut -d " " -f 1 out/one.files)" ]'
# the command is counted shortly after its last line
counts() { [ "$(status '.captures[0].status.exec_on_file | [.failed, .skipped, .waiting] | @csv')" = 0,0,0 ]; }
await counts
await has_records none 1000
all_failed() { [ "$(status '.captures[2].status | .exec_on_file.failed == .files and .files > 2')" = true ]; }
await all_failed
grep -q 'bustapd: capture none: exec-on-file: there is no program none-such in the folders of PATH' log
grep -q 'bustapd: capture none: the command none-such cannot be run: No such file or directory; later' log
until [ "$(status '.captures[1].status.trigger.outside')" -gt 20000 ]; do sleep 0.05; done
file=$(ctl snapshot ring)
await grep -qx "$file snapshot" out/ring.files
# at the end, the daemon waits for the commands
: >slow
for i in 1 2 3; do ctl snapshot ring >/dev/null; done
stop_daemon
[ "$(ls out/ring_*.byu.gz)" = "$(cut -d ' ' -f 1 out/ring.files)" ] || fail "$(cat out/ring.files)"
grep -q 'waiting for exec-on-file: ' log
grep -q 'capture none: the command none-such failed for' log
rm slow

# for three quarters of the time limit
printf '[daemon]\nstop-timeout = 2s\n' >conf
add_capture hang 'exec-on-file = ./hanging'
start_daemon
await has_records hang 1000
ctl rotate hang
await test -s processes
stop_daemon
grep -q 'capture hang: the command ./hanging still runs for out/hang_00001_.*, and is left alone' log
grep -q 'capture hang: the command ./hanging was not run for 1 file, from this one on: out/hang_00002_' log
kill -0 "$(cat processes)"
verify_files out/hang_*

bustapd -c conf --check
printf '[capture a]\nboard = virtual:smp=1\noutput = a\nexec-on-file = none-such\n' >conf
! bustapd -c conf --check 2>error || exit 1
grep -q 'conf:1: \[capture a\]: exec-on-file: there is no program none-such' error
