#!/bin/bash
# What keeps a capture from starting is told once, though the names of files have the time in them.
set -eu
. "$TOP/tests/host/daemon.sh"

add_capture full 'board = virtual:smp=1' 'retry = 200ms'
# a disk on which no file may have a single byte; what the daemon says goes through a pipe
(ulimit -f 0 && exec bustapd -c conf --socket socket) 2> >(cat >log) &
daemon=$!
await ctl status
await is_state full waiting
error() { status '.captures[0].error'; }
first=$(error)
grep -q 'File too large' <<<"$first" || fail "it says: $first"
another_time() { [ -n "$(error)" ] && [ "$(error)" != "$first" ]; }
await another_time
first=$(error)
await another_time
stop_daemon
await grep -q stopped log
[ "$(grep -c 'capture full' log)" -eq 1 ] || fail "said more than once"
[ -z "$(ls out)" ] || fail "left behind: $(ls out)"
