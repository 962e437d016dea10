#!/bin/bash
# The same programs again, captured in other ways: as natively each time.
set -eu
[ -z "$NO_EXEC" ] || { echo "$NO_EXEC"; exit 77; }
"$TOP/tests/e2e/exec_list" --split-threads --only-fetch
"$TOP/tests/e2e/exec_list" --skip 10000 --count 100000 --follow
