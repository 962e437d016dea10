#!/bin/bash
# A capture that ends after losses says so in the journal, with the number; one without does not.
set -eu
. "$TOP/tests/host/daemon.sh"

# a bus that does not wait, and a board with room for four frames
cat >conf <<END
[capture lossy]
board = virtual:smp=4,requests=3000000,rate=50M,queue=4
output = out/lossy
packing = plain
[capture good]
board = virtual:smp=1,requests=1000
output = out/good
END
start_daemon
await is_state lossy finished
await is_state good finished
lost=$(status '.captures[0].status.lost.total')
[ "$lost" -gt 0 ] || fail "nothing was lost: this tests nothing"
stop_daemon
grep -q "^bustapd: capture lossy: .* after $(bustap info --json out/lossy_* | jq .records) records, $lost lost\$" log ||
    fail "$lost were lost"
grep -q '^bustapd: capture good: .* after 1000 records$' log || fail "nothing was lost"
