#!/bin/bash
# A bus that does not wait, a board with a queue of four frames: captured and lost records add up
# exactly to those sent.
set -eu

status=0
bustap capture --json --board virtual:smp=4,requests=3000000,rate=50M,queue=4 --packing plain -o lossy \
    >summary.json || status=$?
jq -c '[.records, .lost, .source]' summary.json
[ "$status" -eq 1 ] || { echo "exit status $status of a capture with losses"; exit 1; }
[ "$(jq '.lost.total > 0' summary.json)" = true ] || { echo "nothing was lost: this tests nothing"; exit 1; }
[ "$(jq '.records + .lost.total' summary.json)" = "$(jq .source.accepted summary.json)" ]
[ "$(jq '.source.accepted + .source.above_4gib + .source.undecoded' summary.json)" = 3000000 ]

# the files report the same
[ "$(bustap info --json lossy_*.byu.gz | jq -c '[.records, .lost]')" = \
    "$(jq -c '[.records, .lost.total]' summary.json)" ]
[ "$(($(zcat lossy_*.byu.gz | wc -c) / 12))" = "$(jq .records summary.json)" ]
bustap verify lossy_*.byu.gz >verdict
grep -q '^accounted for: ' verdict || { cat verdict; exit 1; }
! bustap verify --strict lossy_*.byu.gz >/dev/null || { echo "--strict lets losses pass"; exit 1; }

# around matches: what is lost within a window is counted at its place, what is lost outside before the next record
# saved; nothing is missing
status=0
bustap capture -q --json --board virtual:smp=4,requests=3000000,rate=50M,queue=4 --packing plain \
    --trigger type=IOREAD --pre 2k --post 2k -o windows >summary.json || status=$?
[ "$status" -eq 1 ] || { echo "exit status $status of windows with losses"; exit 1; }
jq -e '.trigger.windows > 1 and .trigger.outside > 0 and .lost.total > 0' summary.json >/dev/null || { cat summary.json; exit 1; }
jq -e '.records + .lost.total == .source.accepted and .trigger.outside == .source.filtered' summary.json >/dev/null ||
    { cat summary.json; exit 1; }
[ "$(jq '.source | .accepted + .filtered + .above_4gib + .undecoded' summary.json)" = 3000000 ]
bustap verify windows_*.byu.gz >verdict || { cat verdict; exit 1; }
grep -q '^accounted for: ' verdict || { cat verdict; exit 1; }
[ "$(bustap info --json windows_*.byu.gz | jq -c '[.records, .lost]')" = "$(jq -c '[.records, .lost.total]' summary.json)" ]
bustap dump windows_*.byu.gz 2>said | wc -l >count
[ "$(cat count)" = "$(jq .records summary.json)" ]
for file in windows_*.byu.gz; do
    bustap dump "$file" 2>&1 >/dev/null | sed -n 's/.* were lost in \([0-9]*\) places\{0,1\}$/\1/p'
done >places
[ "$(sort -n places | tail -n 1)" -gt 1 ] || { echo 'no window has losses within'; cat places; exit 1; }
