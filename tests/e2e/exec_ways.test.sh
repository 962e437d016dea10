#!/bin/bash
# The same programs, captured with other options, run as natively.
set -eu
[ -z "$NO_EXEC" ] || { echo "$NO_EXEC"; exit 77; }
"$TOP/tests/e2e/exec_list" --split-threads --only-fetch
"$TOP/tests/e2e/exec_list" --skip 10000 --count 100000 --follow
