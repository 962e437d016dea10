#!/bin/bash
# Captures that fail in the middle: earlier files are complete, the error is reported, the capture continues in new
# files if that can help, the gap is reported, and the other capture is not affected.
set -eu
. "$TOP/tests/host/daemon.sh"

bustap capture --board virtual:smp=2,requests=50000 -o source --quiet
zcat source_*.byu.gz >good.byu
# record 20000 becomes invalid
{ head -c 240000 good.byu; printf '\0\0\0\0\177\0\0\0\1\0\0\0'; tail -c +240013 good.byu; } >trace.byu

add_capture trace 'board = virtual:replay=trace.byu'
add_capture disk 'board = virtual:smp=2,requests=60000' 'output = full/disk' 'retry = 200ms'
add_capture good 'board = virtual:smp=1,rate=20000' 'rotate = size=64K'
# each file fails after 100 KiB
start_daemon bash -c 'ulimit -f 100 && exec "$@"' -

await is_state trace finished
status '.captures[0].error' | grep -q 20000 || fail "error: $(status '.captures[0].error')"
grep -q '^bustapd: capture trace: source ended after 20000 records; .*20000' log
zcat out/trace_*.byu.gz | cmp - <(head -c 240000 good.byu)

await is_state disk waiting
# each start clears the error
reports_disk() { status '.captures[1].error' | grep -q full/disk; }
await reports_disk
restarted() { [ "$(status '.captures[1].starts')" -ge 3 ]; }
await restarted
status '.captures[1].gap_s > 0.4' | grep -qx true || fail "no gap: $(status '.captures[1].gap_s')"
grep -q 'capture disk: runs again on virtual:smp=2,requests=60000; nothing was captured for' log
ctl stop disk
[ "$(state_of disk)" = stopped ] || fail "state: $(state_of disk)"
for file in full/disk_*.byu.gz; do
    gzip -t "$file" || fail "$file is damaged"
done

is_state good running || fail "the good capture was interrupted"
[ "$(status '.captures[2].starts')" -eq 1 ]
stop_daemon
verify_files out/good_*.byu.gz
