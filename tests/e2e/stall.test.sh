#!/bin/bash
# A link that is too slow for the bus: without --stall requests are lost; with it none is, and the
# records are those of an unhurried bus, with later times.
set -eu

bus=virtual:smp=2,seed=3,requests=60000
slow=$bus,rate=10M,queue=4,link=500k

status=0
bustap capture -q --json --board "$slow" -o lossy >summary.json || status=$?
[ "$status" -eq 1 ] || { echo "exit status $status of a capture with losses"; exit 1; }
jq -e '.lost.bus > 0 and .source.stalls == 0 and .source.stalled == 0' summary.json >/dev/null || { cat summary.json; exit 1; }

# the records without their times, which are last
fields() { bustap dump "$1" | awk '{ $NF = ""; print }'; }

# of a board in this process, and of a program
bustap capture -q --board "$bus" -o whole
fields whole_*.byu.gz >expected
last=$(bustap info --json whole_*.byu.gz | jq .last_tick)
for board in "$slow" "program:$BUILD/tests/e2e/firmware_board $slow"; do
    rm -f stalled_*
    bustap capture --json --board "$board" --stall -o stalled >summary.json 2>messages
    jq -e --argjson last "$last" '.complete and .lost.total == 0 and .records == 60000 and .source.stalls > 0 and
        .last_tick > $last and .last_tick <= $last + .source.stalled' summary.json >/dev/null ||
        { cat summary.json messages; exit 1; }
    grep -q '^bustap: the board stalled the bus [0-9]* times*, [0-9.]* s in total: ' messages || { cat messages; exit 1; }
    fields stalled_*.byu.gz | cmp - expected
    bustap verify --strict stalled_*.byu.gz >/dev/null
done

# the files tell that times may be those of a slowed target, and so do parts of them
bustap info stalled_*.byu.gz | grep -q '^stall  *the board could stall the bus'
[ "$(bustap info --json whole_*.byu.gz | jq .stall)" = false ]
! bustap info whole_*.byu.gz | grep -q '^stall' || { echo 'a capture without --stall has one'; exit 1; }
bustap cut -q --count 100 -o part.byu.gz stalled_*.byu.gz
[ "$(bustap info --json part.byu.gz | jq .stall)" = true ] || { echo 'a part forgot the stall'; exit 1; }
