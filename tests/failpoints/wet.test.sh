#!/bin/bash
# A write of bustap wet that fails after its bytes, or half of them, have landed: they are taken back, so that the
# file has as many bytes as the report says, and the failure is the exit status.
set -eu
echo 'int main(void) { volatile int s = 0; for (int i = 0; i < 20000; i++) s += i; return 0; }' >program.c
gcc -O1 program.c -o program
for fault in write:2:DONEENOSPC write:2:HALFEIO write:2:HALFENOSPC; do
    status=0
    BUSTAP_FAIL=$fault "$BUILD/tests/failpoints/bustap" wet --no-cache -o "${fault//:/_}.wet" ./program 2>err || status=$?
    [ "$status" -eq 3 ] || { echo "$fault: exit status $status"; cat err; exit 1; }
    grep -q 'recording has stopped after 0 instructions: cannot write the WET file' err || { cat err; exit 1; }
    size=$(stat -c %s "${fault//:/_}.wet")
    grep -q " in $size bytes" err || { echo "$fault: the file has $size bytes"; cat err; exit 1; }
done
