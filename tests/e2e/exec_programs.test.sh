#!/bin/bash
# Real programs under `bustap exec` are as natively.
set -eu
case $BUILD in *sanitize*) echo "AddressSanitizer lies where programs go"; exit 77 ;; esac
"$TOP/tests/e2e/exec_list"
