#!/bin/bash
# The simulated board in logic: requests and clocks of its bus that pass in a second of processor time, through a whole
# capture. A trace (the Pentium II's, or a made-up one) and workloads at several rates of requests.
set -eu
gateware=$TOP/build/gateware/bustap-gateware
[ -x "$gateware" ] || {
    echo "build/gateware/bustap-gateware is not built: that needs verilator"
    exit 0
}
records=${RECORDS:-100000}
real=${SHARED:-}/data/pentium2.byu
if [ -f "$real" ]; then
    head -c "$((records * 12))" "$real" >trace.byu
else
    "$BUILD/tests/e2e/make_trace" --seed 1 "$records" >trace.byu
fi

TIMEFORMAT='%U %S'
printf '%-20s %12s %12s %14s %12s %8s\n' bus requests clocks/request requests/s clocks/s lost
for bus in replay=trace.byu smp=1 smp=4 smp=8; do
    { time "$BUILD/bustap" capture --quiet --board "program:$gateware bus=66M $bus requests=$records" -o got \
        2>message || true; } 2>times
    "$BUILD/bustap" info --json got_* >info
    ticks=$(jq .last_tick info) lost=$(jq '.lost' info)
    awk -v bus="$bus" -v records="$records" -v ticks="$ticks" -v lost="$lost" \
        '{ s = $1 + $2; printf "%-20s %12d %12.1f %14.0f %12.0f %8d\n", bus, records, ticks / records, records / s, ticks / s, lost }' times
    rm got_*
done
