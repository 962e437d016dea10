#!/bin/bash
# Calls into code without an image, and out of it, have bypasses where execution returned, so loops around them are
# loops. What their neighbours tell of its branches is their type.
set -eu -o pipefail
PATH="$BUILD/tests/e2e:$PATH"

"${CC:-gcc}" -std=c11 -O1 -g -static -no-pie -o generated "$TOP/tests/e2e/programs/generated.c"
status=0
single_step --output run.byu.gz ./generated >stepped || status=$?
if [ "$status" -eq 124 ]; then
    echo "single-stepping is not possible here"
    exit 77
elif [ "$status" -eq 9 ]; then
    echo "programs cannot execute code of their own here"
    exit 77
fi
[ "$status" -eq 5 ]
grep -qx 90 stepped

build() { # GRAPH OPTION...
    local name=$1
    shift
    bustap dcfg build run.byu.gz "$@" --trace "$name.trace" -o "$name" 2>messages
    bustap dcfg check --trace "$name.trace" "$name"
    bustap dcfg loops --csv "$name" >"$name.loops"
    # "TYPE EDGES COUNT" of the edges that begin or end outside of the image
    jq -r '(.EDGE_TYPES[1:] | map({key: (.[0] | tostring), value: .[1]}) | from_entries) as $names
        | .PROCESSES[1][1]
        | (.IMAGES[-1][3].BASIC_BLOCKS[1:] | map({key: (.[0] | tostring), value: 1}) | from_entries) as $outside
        | .EDGES[1:] | map(select($outside[.[1] | tostring] or $outside[.[2] | tostring])) | group_by(.[3])[]
        | "\($names[.[0][3] | tostring]) \(length) \(map(.[4] | add) | add)"' "$name" | sort >"$name.types"
}

# loop GRAPH SYMBOL ITERATIONS
loop() {
    awk -F, -v symbol="$2" -v wanted="$3" '
        NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        $(at["symbol"]) == symbol { found += $(at["iterations"]) == wanted }
        END { if (found != 1) { print symbol " has no loop of " wanted " iterations"; exit 1 } }' "$1.loops"
}

for unknown in branch indirect; do
    build $unknown.json --image generated --unknown-branches $unknown
    loop $unknown.json main 30
    loop $unknown.json main 20
    loop $unknown.json '' 90
    {
        echo 'CALL_BYPASS 1 0'
        [ $unknown = indirect ] || echo 'CALL 1 90'
        echo 'DIRECT_CONDITIONAL_BRANCH 1 40'
        echo 'FALL_THROUGH 2 100'
        [ $unknown = branch ] && echo 'INDIRECT_CALL 2 50' || echo 'INDIRECT_CALL 3 140'
        echo 'RETURN 3 140'
    } | sort | diff - $unknown.json.types
done

# without an image all code is unknown
build none.json
cut -d ' ' -f 1 none.json.types | paste -sd ' ' | grep -x 'BRANCH DIRECT_CONDITIONAL_BRANCH ENTRY EXIT FALL_THROUGH'
build none.json --unknown-branches indirect
cut -d ' ' -f 1 none.json.types | paste -sd ' ' |
    grep -x 'DIRECT_CONDITIONAL_BRANCH ENTRY EXIT FALL_THROUGH INDIRECT_CONDITIONAL_BRANCH INDIRECT_UNCONDITIONAL_BRANCH'

# the word is checked
status=0
bustap dcfg build run.byu.gz --unknown-branches direct -o none.json 2>messages || status=$?
[ "$status" -eq 2 ]
grep -q "'direct' is not branch or indirect" messages
