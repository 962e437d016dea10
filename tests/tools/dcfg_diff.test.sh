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

# --- by function: another build has its functions elsewhere, and another file name ---
jq '.PROCESSES[1][1].IMAGES[1][3] |= (
        def move: if . == "0x1100" or . == "0x1104" or . == "0x1110" or . == "0x1113" then
            {"0x1100": "0x2140", "0x1104": "0x2144", "0x1110": "0x2150", "0x1113": "0x2153"}[.] else . end;
        walk(if type == "string" then move else . end))
    | walk(if . == "/opt/example/example" then "/opt/example/example.O2" else . end)' a.json >built.json
different a.json built.json
same --by-function a.json built.json
same --by-function built.json a.json
unquote() { sed 's/"power[^"]*\(""[^"]*\)*"/power/'; } # the name with a comma
# what the table of blocks of both graphs, joined by symbol and offset, has
make_dcfg --outer 17 --load 0x10000 more.json
different --by-function --csv built.json more.json
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
    $1 == "block" { print $(at["symbol"]), $(at["symbol_offset"]), $(at["change"]) }' <(unquote <verdict) | sort >got
for graph in built more; do
    bustap dcfg blocks --csv $graph.json | unquote |
        awk -F, -v graph=$graph 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
            { print graph, $(at["symbol"]), $(at["symbol_offset"]), $(at["executions"]) }'
done | awk '{ change[$2 " " $3] += $1 == "more" ? $4 : -$4 }
    END { for (k in change) if (change[k] != 0) print k, change[k] }' | sort >wanted
diff wanted got
[ "$(wc -l <got)" -gt 10 ]
