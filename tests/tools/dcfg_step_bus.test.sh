#!/bin/bash
# Programs as a bus would see them: chunks of 8, 16 and 32 bytes. Without the program's file they are
# what blocks are made of, and each is counted.
set -eu -o pipefail
PATH="$BUILD/tests/e2e:$PATH"

"${CC:-gcc}" -std=c11 -O1 -g -static -no-pie -o recursion "$TOP/tests/e2e/programs/recursion.c"
for size in 8 16 32; do
    status=0
    single_step --bus "$size" --ahead $((size / 16)) --output "$size.byu.gz" ./recursion >told || status=$?
    if [ "$status" -eq 124 ]; then
        echo "single-stepping is not possible here"
        exit 77
    fi
    [ "$status" -eq 1 ]
    fetches=$(bustap info --json "$size.byu.gz" | jq .by_type.FETCH)
    bustap dcfg build --json "$size.byu.gz" -o "$size.json" --trace "$size.trace.json" >summary.json
    [ "$(jq '.PROCESSES[1][1].INSTR_COUNT' "$size.json")" -eq "$fetches" ]
    [ "$(jq '[.PROCESSES[1][1].IMAGES[1:][][3].BASIC_BLOCKS[1:][] | .[3] * .[5]] | add' "$size.json")" -eq \
        "$fetches" ]
    # the same as bus fetches, whatever it looks like
    bustap dcfg build --fetch bus "$size.byu.gz" -o - 2>told | cmp - "$size.json"
done
