#!/bin/bash
# The same programs again, captured in other ways: as natively each time.
set -eu
case $BUILD in *sanitize*) echo "AddressSanitizer lies where programs go"; exit 77 ;; esac
"$TOP/tests/e2e/exec_list" --threads each --only-fetch
"$TOP/tests/e2e/exec_list" --skip 10000 --limit 100000 --follow
