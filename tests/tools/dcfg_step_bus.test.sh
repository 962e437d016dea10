#!/bin/bash
# Programs as a bus sees them: chunks of 8, 16 and 32 bytes, fetched again after each jump. Without
# the program's file, blocks consist of chunks, and each chunk but prefetched ones is counted. With
# it, they consist of instructions; no certain count exceeds the executions, and all counts above them
# are at most those that the graph assumes.
set -eu -o pipefail
PATH="$BUILD/tests/e2e:$PATH"

# step SIZE AHEAD: writes the program's fetches to fetches.byu.gz, its executions to counts
step() {
    local status=0
    single_step --bus "$1" --ahead "$2" --output fetches.byu.gz --counts counts ./recursion >out || status=$?
    if [ "$status" -eq 124 ]; then
        echo "single-stepping is not possible here"
        exit 77
    fi
    [ "$status" -eq 1 ]
}

without_image() {
    local fetches visits
    fetches=$(bustap info --json fetches.byu.gz | jq .by_type.FETCH)
    bustap dcfg build --json fetches.byu.gz -o plain.json --trace plain.trace.json >summary.json
    bustap dcfg check plain.json --trace plain.trace.json
    visits=$((fetches - $(jq .bus.fetches_prefetched summary.json)))
    [ "$(jq '.PROCESSES[1][1].INSTR_COUNT' plain.json)" -eq "$visits" ]
    [ "$(jq '[.PROCESSES[1][1].IMAGES[1:][][3].BASIC_BLOCKS[1:][] | .[3] * .[5]] | add' plain.json)" -eq \
        "$visits" ]
    # --fetch bus gives the same as the detected kind
    bustap dcfg build --fetch bus fetches.byu.gz -o - 2>err | cmp - plain.json
}

# Executions in the graph above those of the program; ASSUMED is the limit.
compare() { # COUNTS BLOCKS.csv ASSUMED
    awk -F '[ ,]' -v CONVFMT=%.0f -v assumed="$3" '
        function number(hex,    i, n) {
            sub(/^0x/, "", hex)
            for (i = 1; i <= length(hex); i++)
                n = n * 16 + index("0123456789abcdef", substr(hex, i, 1)) - 1
            return n
        }
        NR == FNR { at = number($1); size[at] = $2; executed[at] = $3; total += $3; next }
        FNR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
        {
            at = number($column["address"])
            for (n = $column["block_instructions"]; n > 0 && at in size; n--) {
                found[at] += $column["executions"]
                certain[at] += $column["certain"]
                all_certain += $column["certain"]
                at += size[at]
            }
            too_much += n * $column["executions"] # never executed, nor the rest of the block
            wrong += n * $column["certain"]
        }
        END {
            for (at in found)
                if (found[at] > executed[at])
                    too_much += found[at] - executed[at]
            for (at in certain)
                if (certain[at] > executed[at])
                    wrong += certain[at] - executed[at]
            printf "of %d instructions %d were not executed, %d are assumed, %d are certain, %d of them not executed\n",
                total, too_much, assumed, all_certain, wrong
            exit too_much > assumed || wrong > 0 || all_certain == 0
        }' "$1" "$2"
}

with_image() {
    bustap dcfg build --json --image recursion fetches.byu.gz -o image.json --trace image.trace.json >summary.json
    bustap dcfg check image.json --trace image.trace.json
    jq -e '.fetch == "bus" and .bus.fetches_unexplained == 0 and .bus.fetches_in_no_image == 0' \
        summary.json >/dev/null || { jq -c . summary.json; exit 1; }
    bustap dcfg blocks --csv image.json >blocks.csv
    compare counts blocks.csv "$(jq .assumed summary.json)"
}

"${CC:-gcc}" -std=c11 -O1 -g -static -no-pie -o recursion "$TOP/tests/e2e/programs/recursion.c"
while read -r size ahead; do
    step "$size" "$ahead"
    without_image
    with_image
done <<'END'
8 0
16 0
16 1
32 2
END
