#!/bin/bash
# The edges of a program's trace as text: gzip, with symbols. "check" reads the same trace and prints nothing.
#
# usage: dcfg_expand.bench.sh [RUNS]    (5)
set -eu -o pipefail
runs=${1:-5}
# shellcheck source=tests/bench/traced_programs.sh
. "$TOP/tests/bench/traced_programs.sh"
make_programs

bustap exec --only-fetch -o trace -- gzip -c text >/dev/null 2>messages
bustap dcfg build --trace trace.json -o graph.json trace_*.byu.gz 2>messages
edges=$(sed -n 's/.*trace.json: \([0-9]*\) edges.*/\1/p' messages)
echo "gzip: $edges edges; processor time, best of $runs"

# rate NAME COMMAND...
rate() {
    local name=$1 used
    shift
    # not to a file: gigabytes would measure the disk
    used=$(for _ in $(seq "$runs"); do
        /usr/bin/time -o used -f '%U %S' "$@" >/dev/null
        awk '{ print $1 + $2 }' used
    done | sort -n | head -n 1)
    awk -v name="$name" -v edges="$edges" -v used="$used" \
        'BEGIN { printf "%-16s %8.1f million edges/s\n", name, edges / used / 1e6 }'
}
rate 'check' bustap dcfg check graph.json --trace trace.json
for form in --csv --json ''; do
    # shellcheck disable=SC2086 # no form is no argument
    rate "expand $form" bustap dcfg expand graph.json --trace trace.json $form
done
