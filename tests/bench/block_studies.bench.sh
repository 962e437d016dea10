#!/bin/bash
# Studies of captures of executed programs that are coded by blocks: processor seconds by blocks, by records of the same
# file (an option that selects all records has that effect), and from a capture of the default engine. The results are
# compared.
#
# usage: block_studies.bench.sh [INSTRUCTIONS]    of each program (40M)
set -eu -o pipefail
. "$TOP/tests/bench/traced_programs.sh"
make_programs

# study RESULT CAPTURE COMMAND...: processor seconds, the least of five runs
study() {
    measure 5 bustap "${@:3}" "$2" | awk '{ print $1 }'
    mv output "result.$1"
}

# compare PROGRAM OPTION COMMAND...: OPTION makes the command read records, and has no other effect
compare() {
    local program=$1 option=$2 blocks records other
    shift 2
    blocks=$(study blocks "$program"-blocks_* "$@")
    records=$(study records "$program"-blocks_* "$@" "$option")
    other=$(study other "$program"-programs_* "$@")
    cmp result.blocks result.records
    cmp result.blocks result.other
    awk -v name="$1" -v blocks="$blocks" -v records="$records" -v other="$other" 'BEGIN {
        printf "    %-6s by blocks %.2f s, by records %.2f s (%.2f times), other engine %.2f s (%.2f times)\n",
            name, blocks, records, records / blocks, other, other / blocks }'
}

# capture NAME COMMAND...: by both engines, then both studies
capture() {
    local engine
    for engine in programs blocks; do
        bustap exec -q --count "$instructions" --engine $engine -o "$1-$engine" -- "${@:2}" >output 2>&1 </dev/null || true
    done
    printf '  %s, %.0f M records\n' "$1" \
        "$(bustap info --json "$1"-blocks_* | sed -n '0,/"records"/s/.*"records": \([0-9]*\).*/\1e-6/p')"
    compare "$1" --time=0ticks.. dcfg build -o -
    compare "$1" --count=1000G cache --l1 32K,line=64,ways=8,split --l2 1M,line=64,ways=16
}

instructions=${1:-40M}
echo "block_studies: processor seconds"
capture compute ./compute
capture gzip gzip -9 -c text
if command -v sqlite3 >/dev/null; then
    capture sqlite3 sqlite3 -init queries :memory: .quit
fi
capture cc1 "$(gcc -print-prog-name=cc1)" -quiet -O2 decode.i -o -
