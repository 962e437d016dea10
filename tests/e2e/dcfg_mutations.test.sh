#!/bin/bash
# `bustap dcfg check` finds each of more than 700 changes that make a good graph a wrong one, by its rule.
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
bustap dcfg build --bus chunk=8 p_1.byu.gz -o bus.json --trace bus.trace.json 2>/dev/null
mutate bus.json bus.trace.json
mutate bus.json
make_dcfg example.json
mutate example.json
least=300

# an executed program
if [ -z "$NO_EXEC" ]; then
    gcc -g -O1 -w -o threads "$TOP/tests/e2e/programs/threads.c" -lpthread
    bustap exec -q -o threads.d/x --modules modules -- ./threads >/dev/null || : # the program's status
    mapfile -t images < <(sed 's/^/--image=/' modules)
    bustap dcfg build "${images[@]}" -o threads.json --trace threads.trace.json --chunk 5000 threads.d/*.byu.gz \
        2>/dev/null
    mutate threads.json threads.trace.json
    # each rule finds something
    comm -23 <(bustap dcfg check --rules | awk '{ print $1 }' | sort) \
        <(awk '$1 == "found" || $1 == "also" { print $2 }' results | sort -u) >unused
    [ ! -s unused ] || { echo "rules without a mutation:"; cat unused; exit 1; }
    least=700
fi

awk -F'\t' '$1 != "also" { tried[$2]++; found[$2] += $1 == "found"; conforming[$2] += $1 == "conforming" }
    END { for (rule in tried) printf "%-18s %d found of %d, %d conforming\n", rule, found[rule], tried[rule], conforming[rule] }' \
    results | sort
if grep -E '^(missed|accused)' results | sort | uniq -c; then exit 1; fi
[ "$(grep -c '^found' results)" -ge "$least" ] || { echo "only $(grep -c '^found' results) mutants"; exit 1; }
