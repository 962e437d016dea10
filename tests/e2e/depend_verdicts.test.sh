#!/bin/bash
# Many loops with known verdicts, of two compilers: a verdict that would let a serial loop run in parallel is wrong, also of
# vectorized code.
set -eu -o pipefail
[ -z "$NO_EXEC" ] || { echo "$NO_EXEC"; exit 77; }

compilers=("gcc -O0" "gcc -O1 -fno-tree-vectorize" "gcc -O2 -fno-tree-vectorize" "gcc -O3")
! command -v clang >/dev/null || compilers+=("clang -O2 -fno-vectorize -fno-slp-vectorize" "clang -O2")
for compiler in "${compilers[@]}"; do
    $compiler -g -o verdicts "$TOP/tests/e2e/programs/verdicts.c"
    bustap depend --json -o verdicts.json ./verdicts >out
    python3 - verdicts.json "$TOP/tests/e2e/programs/verdicts.c" "$compiler" <<'PY'
import json, re, sys
report, source = json.load(open(sys.argv[1])), open(sys.argv[2]).read()
known = {name: verdicts.split() for verdicts, name in
         re.findall(r"^/\* verdict: ([a-z ]+) \*/\nLOOP [^(]*?(\w+)\(", source, re.M)}
loops = {}
for loop in report["loops"]:
    name = report["places"][loop["place"]].get("function")
    if name in known and (name not in loops or loop["instructions"] > loops[name]["instructions"]):
        loops[name] = loop
judged, wrong, strict = 0, [], "tree-vectorize" in sys.argv[3] or "-O0" in sys.argv[3]
for name, loop in loops.items():
    if loop["verdict"] == "unjudged":
        continue
    judged += 1
    if loop["verdict"] not in known[name] + ([] if strict else ["serial"]):
        wrong.append((name, loop["verdict"], loop["reasons"]))
assert not wrong and len(known) >= 44 and judged >= 20, (sys.argv[3], judged, wrong)
PY
done
