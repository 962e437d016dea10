#!/bin/bash
# A capture reports losses in the journal: their beginning, their end and their number by stage, and at the end of the
# capture, not for each block. A capture without losses reports none.
set -eu
. "$TOP/tests/host/daemon.sh"

# a bus that does not wait, and a board with a queue of four frames
add_capture lossy 'board = virtual:smp=4,requests=3000000,rate=50M,queue=4' 'packing = plain'
add_capture good 'board = virtual:smp=1,requests=1000'
start_daemon
await is_state lossy finished
await is_state good finished
lost=$(status '.captures[0].status.lost.total')
[ "$lost" -gt 0 ] || fail "nothing was lost: the test has no effect"
stop_daemon
grep -q "^bustapd: capture lossy: .* after $(bustap info --json out/lossy_* | jq .records) records, $lost lost\$" log ||
    fail "$lost were lost"
grep -q '^bustapd: capture good: .* after 1000 records$' log || fail "nothing was lost"

# one beginning and one end with the sum, for any number of blocks with losses
lossy() { grep "^bustapd: capture lossy: $1" log; }
[ "$(lossy 'losses began at tick [0-9]* (bus [0-9]* so far)$' | wc -l)" -eq 1 ] || fail "how losses began"
[ "$(lossy "losses ended at tick [0-9]* after [0-9.]* s: $lost lost since tick [0-9]* (bus $lost)$" | wc -l)" -eq 1 ] ||
    fail "how losses ended"
! grep -q 'capture good: losses' log || fail "nothing was lost"

# bustap capture: the same
bustap capture -q --board virtual:smp=4,requests=3000000,rate=50M,queue=4 -o out/again --packing plain 2>messages || true
[ "$(grep -c '^bustap: losses began at tick ' messages)" -eq 1 ] || fail "messages: $(cat messages)"
[ "$(grep -c '^bustap: losses ended at tick ' messages)" -eq 1 ] || fail "messages: $(cat messages)"
