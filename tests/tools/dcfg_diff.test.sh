#!/bin/bash
# Differences between graphs: ids, order, folders, load addresses and compression are none; counts,
# types and threads are.
set -eu -o pipefail
PATH="$BUILD/tests/e2e:$PATH"

same() {
    bustap dcfg diff "$@" >verdict || { cat verdict; exit 1; }
    grep -q '^no difference: ' verdict
}
different() {
    local status=0
    bustap dcfg diff "$@" >verdict || status=$?
    [ "$status" = 1 ] || { cat verdict; exit 1; }
}

make_dcfg a.json
make_dcfg --load 0x10000 elsewhere.json.gz
same a.json elsewhere.json.gz
same - a.json <a.json

jq 'def n: if . >= 1 then . + 1000 else . end;
    .SPECIAL_NODES[1:][][0] |= n
    | .PROCESSES[1][1] |= (
        (.IMAGES[1:][][3] |= (
            (.BASIC_BLOCKS[1:][][0] |= n)
            | .BASIC_BLOCKS |= [.[0]] + (.[1:] | reverse)
            | (.ROUTINES[1:][] |= [
                (.[0] | n), (.[1] | map(n)), [.[2][0]] + (.[2][1:] | map(map(n))),
                [.[3][0]] + (.[3][1:] | map([(.[0] | n), (.[1] | map(n)), (.[2] | map(n)), (.[3] | n)]))])))
        | .IMAGES |= [.[0], .[2], .[1]]
        | .EDGES |= [.[0]] + (.[1:] | reverse | map([.[0] + 7, (.[1] | n), (.[2] | n), .[3], .[4]])))' \
    a.json >renamed.json
same a.json renamed.json
bustap dcfg check renamed.json >/dev/null

sed 's,/opt/example/,/usr/lib/,' a.json >moved.json
same moved.json a.json

jq '.PROCESSES[1][1].EDGES[1:][][4] |= reverse' a.json >swapped.json
different a.json swapped.json
grep -q '^ *+0 .*by other threads$' verdict
jq '.PROCESSES[1][1].EDGES[3][3] = 18' a.json >retyped.json
different a.json retyped.json
grep -q 'A: DIRECT_CONDITIONAL_BRANCH; B: FALL_THROUGH$' verdict
[ "$(grep -c 'main' verdict)" = 1 ]
jq '.PROCESSES[1][1].IMAGES[1][3].BASIC_BLOCKS[1][2] = 11' a.json >resized.json
different a.json resized.json
grep -q 'A: 12 bytes, 3 instructions; B: 11, 3$' verdict

# with a and b swapped, differences are reversed
make_dcfg --depth 0 --outer 12 b.json
different --csv a.json b.json
sort verdict | cut -d, -f 1,3,4,6,7 >forwards
different --csv b.json a.json
sort verdict | cut -d, -f 1,3,4,6,7 | awk -F, -v OFS=, '{ t = $2; $2 = $3; $3 = t; print }' | sort | diff - <(sort forwards |
    sed 's/^kind,a,b,/kind,b,a,/' | sort)
different --json --top 1 a.json b.json
jq -e '.differ and .totals.blocks.only_in_a == 2 and (.edges | length) == 1 and .blocks[0].change == 200' verdict >/dev/null
