#!/bin/bash
# No verdict allows a loop to run in parallel that must not: kernels of many shapes, whose truth an oracle finds by running
# their iterations in another order, but for the faults that baseline.txt names. How many verdicts are needlessly serial
# does not grow.
set -eu -o pipefail
[ -z "$NO_EXEC" ] || { echo "$NO_EXEC"; exit 77; }
"$TOP/tests/e2e/depend_kernels/judge.sh" check "$TOP/tests/e2e/depend_kernels/baseline.txt"
