#!/bin/sh
# The README's first command does what it says.
set -eu
"$TOP/tests/e2e/demo" >output 2>&1 || { cat output; exit 1; }
tail -n 2 output | grep -q '^complete: [0-9]* records in [0-9]* files*, nothing lost$' || { cat output; exit 1; }
grep -q '^complete  *yes$' output
[ "$(grep -c '^[0-9a-f]\{8\} [A-Z]' output)" -eq 10 ]
