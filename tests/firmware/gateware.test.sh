#!/bin/sh
# The board in logic, simulated: the same frames as the C code, byte for byte, and under losses every record is what its
# index says. make check-gateware runs more.
set -eu
cosimulate=$TOP/build/gateware/cosimulate
[ -x "$cosimulate" ] || {
    echo "build/gateware/cosimulate is not built: that needs verilator"
    exit 77
}
trace=$SHARED/data/pentium2.byu # a real one
[ -f "$trace" ] || {
    trace=made.byu
    "$BUILD/tests/e2e/make_trace" --types all 20000 >made.byu
}
seed=1
for options in '' commands=60 packed=1 filter=1 'packed=1 filter=1 gap=20' 'pause=30 gap=1000 requests=5000' \
    'halts=60 packed=1 requests=5000' 'commands=60 halts=50' 'commands=60 bus=0' \
    'requests=2000 wraps=8' 'packed=1 requests=2000 wraps=8 gap=20' 'loss=1 gap=0 wraps=3' \
    'heartbeat=1 gap=30 requests=50000' \
    'loss=1 gap=0 link=20000000 pause=30' 'loss=1 gap=0 packed=1 bus=100000000' \
    'loss=1 missed=1 gap=0 packed=1 bus=100000000 core=50000000' 'loss=1 missed=1 gap=2 core=30000000' \
    'smp=8 bus=10000000' 'smp=8 packed=1 bus=15000000 requests=5000' \
    "replay=$trace requests=5000" "replay=$trace packed=1 bus=133000000" \
    'stall=1 gap=0 link=2000000 requests=5000' 'stall=1 gap=2 packed=1 bus=100000000 link=10000000'; do
    # shellcheck disable=SC2086 # several options
    "$cosimulate" seed=$seed $options || {
        echo "cosimulate seed=$seed $options"
        exit 1
    }
    seed=$((seed + 1))
done
