#!/bin/bash
# The dependences of executed programs equal those that a byte map finds when the programs are single-stepped.
set -eu -o pipefail
[ -z "$NO_EXEC" ] || { echo "$NO_EXEC"; exit 77; }

# The counts of all loops of a pair, from a report by instruction. A WAR has sources in earlier iterations, too, which
# only the executed program's report knows: the single-stepped one has no loops.
pairs() {
    python3 - "$1" <<'PY'
import collections, csv, sys
counts = collections.Counter()
for row in csv.DictReader(open(sys.argv[1], newline="")):
    counts[row["kind"], row["sink_offset"], row["source_offset"]] += int(row["count"])
for (kind, sink, source), count in counts.items():
    print(kind, sink, source, count)
PY
}

for options in -O0 -O1 "-O2 -fno-tree-vectorize" -O3; do
    # shellcheck disable=SC2086 # a list
    gcc $options -g -fno-stack-protector -fno-builtin -fcf-protection=none -nostdlib -static -no-pie -o program \
        "$TOP/tests/e2e/programs/dependences.c"
    status=0
    "$BUILD/tests/e2e/step_dependences" ./program >stepped || status=$?
    [ "$status" != 124 ] || { echo "programs cannot be single-stepped here"; exit 77; }
    [ "$status" -eq 0 ]
    bustap depend --all --level access --by instruction --csv -o executed.csv ./program || true
    pairs executed.csv | sort >executed
    grep -v ^WAR stepped | sort | diff - <(grep -v ^WAR executed) >difference ||
        { echo "$options: the pairs differ"; head -20 difference; exit 1; }
    awk '/^WAR/ && FILENAME == "executed" { count[$2, $3] = $4 } /^WAR/ && FILENAME == "stepped" && count[$2, $3] < $4' \
        executed stepped >missing
    [ ! -s missing ] || { echo "$options: writes after reads are missing"; cat missing; exit 1; }
    [ "$(wc -l <executed)" -gt 50 ]
    bustap depend check executed.csv
    # by default only return addresses and saved registers are missing
    bustap depend --level access --by instruction --csv -o some.csv ./program || true
    pairs some.csv | sort | comm -23 - executed >more
    [ ! -s more ]
done
