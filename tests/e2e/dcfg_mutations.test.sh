#!/bin/bash
# `bustap dcfg check` finds each of more than 500 changes that make a good graph a wrong one, by its rule.
#
# By hand, with more places of each change: PLACES=50 BUILD=build tests/run e2e/dcfg_mutations
set -eu -o pipefail
PATH="$BUILD/tests/e2e:$PATH"
mutate() {
    python3 "$TOP/tests/support/mutate_graph.py" "${PLACES:-4}" "$@" >>results
}
: >results

# random fetches of a bus, with and without a trace, and an example
make_capture files=1 file_records=1500 block_records=500 p
bustap dcfg build --bus chunk=32 p_1.byu.gz -o bus.json --trace bus.trace.json 2>/dev/null
mutate bus.json bus.trace.json
mutate bus.json
make_dcfg example.json
mutate example.json
least=300

# executed programs
if [ -z "$NO_EXEC" ]; then
    for program in threads; do
        gcc -g -O1 -w -o $program "$TOP/tests/e2e/programs/$program.c" -lpthread
        bustap exec -q -o $program.d/x --modules modules -- ./$program >/dev/null || : # the program's status
        mapfile -t images < <(sed 's/^/--image=/' modules)
        bustap dcfg build "${images[@]}" -o $program.json --trace $program.trace.json $program.d/*.byu.gz 2>/dev/null
        mutate $program.json $program.trace.json
    done
    least=500
fi

awk -F'\t' '{ tried[$2]++; found[$2] += $1 == "found"; conforming[$2] += $1 == "conforming" }
    END { for (rule in tried) printf "%-18s %d found of %d, %d conforming\n", rule, found[rule], tried[rule], conforming[rule] }' \
    results | sort
if grep -E '^(missed|accused)' results | sort | uniq -c; then exit 1; fi
[ "$(grep -c '^found' results)" -ge "$least" ] || { echo "only $(grep -c '^found' results) mutants"; exit 1; }
