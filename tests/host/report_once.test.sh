#!/bin/bash
# The reason why a capture cannot start is reported once, although the file names in it contain the time.
set -eu
. "$TOP/tests/host/daemon.sh"

add_capture full 'board = virtual:smp=1' 'retry = 200ms'
# no file may have a single byte; the daemon's messages go through a pipe
(ulimit -f 0 && exec bustapd -c conf --socket socket) 2> >(cat >log) &
daemon=$!
await ctl status
await is_state full waiting
error() { status '.captures[0].error'; }
first=$(error)
grep -q 'File too large' <<<"$first" || fail "error: $first"
another_time() { [ -n "$(error)" ] && [ "$(error)" != "$first" ]; }
await another_time
first=$(error)
await another_time
stop_daemon
await grep -q stopped log
[ "$(grep -c 'capture full' log)" -eq 1 ] || fail "reported more than once"
[ -z "$(ls out)" ] || fail "files left: $(ls out)"
