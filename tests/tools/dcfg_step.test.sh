#!/bin/bash
# Graphs and traces of single-stepped programs, with the program's file and without: executions of each
# address, types of edges, and instructions of threads equal those that the stepper counts; the traces
# expand to the fetches.
set -eu -o pipefail
PATH="$BUILD/tests/e2e:$PATH"

# compile NAME FLAG...: tests/e2e/programs/NAME.c as NAME
compile() {
    local name=$1
    shift
    "${CC:-gcc}" -std=c11 -D_XOPEN_SOURCE=700 -g "$@" -static -no-pie -pthread \
        -o "$name" "$TOP/tests/e2e/programs/$name.c"
}

# step NAME [COMMAND...]: runs the program, then steps it; writes NAME.byu.gz, NAME.counts, NAME.totals
step() {
    local name=$1 status=0 stepped=0
    shift
    "$@" "./$name" >"$name.out" || status=$?
    "$@" single_step --output "$name.byu.gz" --counts "$name.counts" --totals "$name.totals" "./$name" \
        >"$name.stepped" ||
        stepped=$?
    if [ "$stepped" -eq 124 ]; then
        echo "single-stepping is not possible here"
        exit 77
    fi
    [ "$stepped" -eq "$status" ]
    diff "$name.out" "$name.stepped"
}

# total FILE NAME: one of single_step's totals
total() {
    awk -v name="$2" '$1 == name { print $2 }' "$1"
}

awk_number='
    function number(hex,    i, n) {
        sub(/^0x/, "", hex)
        for (i = 1; i <= length(hex); i++)
            n = n * 16 + index("0123456789abcdef", substr(hex, i, 1)) - 1
        return n
    }'

# Each block holds the instructions executed at its addresses, with their counts.
compare_addresses() { # COUNTS BLOCKS.csv
    awk -F '[ ,]' -v CONVFMT=%.0f "$awk_number"'
        function complain(text) { if (bad++ < 5) print text }
        NR == FNR { at = number($1); size[at] = $2; expected[at] = $3; next }
        FNR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
        {
            start = at = number($column["address"])
            end = at + $column["size"]
            for (n = 0; at < end && at in size; n++) {
                found[at] += $column["executions"]
                at += size[at]
            }
            if (at != end || n != $column["block_instructions"])
                complain(sprintf("the block at %x does not hold the instructions at its addresses", start))
        }
        END {
            for (at in expected)
                if (found[at] != expected[at])
                    complain(sprintf("%x: executed %d times, in the graph %d times", at, expected[at], found[at]))
            exit bad > 0
        }' "$1" "$2"
}

# The trace's edges, expanded to instructions, equal the fetches of each thread, in order.
compare_order() { # NAME GRAPH TRACE BLOCKS.csv
    bustap dump "$1.byu.gz" | awk '{ print $5, $1 }' | sort -s -n -k 1,1 >"$1.fetched"
    bustap dcfg expand "$2" --trace "$3" --csv >"$1.expanded"
    awk -F '[ ,]' -v CONVFMT=%.0f "$awk_number"'
        FNR == 1 { file++ }
        file == 1 { size[number($1)] = $2; next }
        FNR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
        file == 2 { instructions[$column["node_id"]] = $column["block_instructions"]; next }
        $column["target"] in instructions {
            at = number($column["address"])
            for (n = instructions[$column["target"]]; n > 0; n--) {
                printf "%d %08x\n", $column["thread"], at
                at += size[at]
            }
        }' "$1.counts" "$4" "$1.expanded" | cmp - "$1.fetched"
}

# types GRAPH: "TYPE COUNT" of its edges
types() {
    zcat "$1" | jq -r '
        (.EDGE_TYPES[1:] | map({key: (.[0] | tostring), value: .[1]}) | from_entries) as $names
        | .PROCESSES[1][1].EDGES[1:] | group_by(.[3])[]
        | "\($names[.[0][3] | tostring]) \(map(.[4] | add) | add)"'
}

# edges NAME TYPE...: how often edges of these types were taken, where the program's file is known
edges() {
    local file=$1.types
    shift
    awk -v types=" $* " 'index(types, " " $1 " ") { sum += $2 } END { print sum + 0 }' "$file"
}

# With the program's file, every edge has the type of the instruction before it; signals, which may
# occur anywhere, make some edges context changes.
compare_types() { # NAME
    local totals=$1.totals long_jumps=0
    case $1 in # returns by a jump
    far_jumps) long_jumps=10 ;;
    signals) long_jumps=1 ;;
    esac
    [ "$(edges "$1" UNKNOWN BRANCH)" -eq 0 ]
    [ "$(edges "$1" RETURN)" -eq $(($(total "$totals" returns) + long_jumps)) ]
    # system calls also end threads and signal handlers
    [ "$(edges "$1" SYSTEM_CALL SYSTEM_CALL_BYPASS EXIT SYSTEM_RETURN CONTEXT_CHANGE_RETURN)" -eq \
        "$(total "$totals" system_calls)" ]
    [ "$1" != signals ] || return 0
    [ "$(edges "$1" DIRECT_CALL INDIRECT_CALL CALL_BYPASS)" -eq "$(total "$totals" calls)" ]
    [ "$(edges "$1" DIRECT_UNCONDITIONAL_BRANCH INDIRECT_UNCONDITIONAL_BRANCH)" -eq \
        $(($(total "$totals" jumps) - long_jumps)) ]
    [ "$(edges "$1" CONTEXT_CHANGE SYSTEM_CALL)" -eq 0 ]
}

# compare NAME IMAGE: with and without the program's file
compare() {
    local name=$1 image=$2 graph
    for graph in image plain; do
        local file=$name.$graph.dcfg.json.gz options=
        [ "$graph" = plain ] || options="--image $image"
        # shellcheck disable=SC2086 # options are words
        bustap dcfg build --json "$name.byu.gz" $options --trace "$name.$graph.trace.json.gz" -o "$file" \
            >"$name.summary"
        [ "$graph" = plain ] ||
            jq -e '.places_in_no_image == 0 and .places_not_as_in_image == 0' "$name.summary" >"$name.err"
        bustap dcfg check "$file" --trace "$name.$graph.trace.json.gz" >"$name.check" || { cat "$name.check"; exit 1; }
        bustap dcfg blocks --csv "$file" >"$name.$graph.csv"
        compare_addresses "$name.counts" "$name.$graph.csv"
        compare_order "$name" "$file" "$name.$graph.trace.json.gz" "$name.$graph.csv"
        [ "$(zcat "$file" | jq -c '.PROCESSES[1][1].INSTR_COUNT_PER_THREAD')" = \
            "$(awk '/^thread_/ { print $2 }' "$name.totals" | jq -cs .)" ]
    done
    types "$name.image.dcfg.json.gz" >"$name.types"
    compare_types "$name"
    echo "$name: $(total "$name.totals" instructions) instructions at $(total "$name.totals" addresses) addresses"
}

while read -r name flags; do
    # shellcheck disable=SC2086 # flags are words
    compile "$name" $flags
    step "$name"
    compare "$name" "$name"
done <<'END'
loops -O2
recursion -O0
switches -O2
pointers -O1
threads -O1
far_jumps -O1
signals -O1
system_calls -O1 -Wl,-Ttext-segment=0x20000000
strings -O1
END

# further properties
[ "$(edges threads ENTRY)" -eq 3 ]
[ "$(edges signals CONTEXT_CHANGE)" -ge 2 ]
[ "$(edges signals CONTEXT_CHANGE_RETURN SYSTEM_RETURN)" -ge 4 ]
[ "$(edges strings REP)" -gt 3000 ]
[ "$(edges switches INDIRECT_UNCONDITIONAL_BRANCH)" -gt 500 ]
grep -q '^[0-9]*,.*,fibonacci,[0-9]*,.*/recursion\.c,[0-9]*,certain,' recursion.image.csv

# sizes of instructions equal those of binutils' disassembler
objdump -d -w loops | awk -F '\t' '
    NR == FNR { if (NF > 1) { gsub(/[ :]/, "", $1); size[$1] = split($2, bytes, " ") } next }
    { split($0, row, " "); sub(/^0*/, "", row[1]) }
    size[row[1]] != row[2] { print row[1], "has", row[2], "bytes, and here", size[row[1]]; bad = 1 }
    END { exit bad }' - loops.counts

# 32-bit code and position-independent code, without a library, which may be missing
compile_narrow() { # NAME FLAG...
    local name=$1
    shift
    "${CC:-gcc}" -m32 -std=gnu11 -O1 -g -ffreestanding -fno-stack-protector -nostdlib "$@" \
        -o "$name" "$TOP/tests/e2e/programs/narrow.c"
}
compile_narrow narrow -static -fno-pie -no-pie
compile_narrow anywhere -static-pie -fpie
status=0
./narrow 2>/dev/null || status=$?
if [ "$status" -eq 114 ]; then
    step narrow
    compare narrow narrow
    step anywhere setarch -R
    entry=$(readelf -h anywhere | awk '/Entry point/ { print $NF }')
    start=$(bustap dump anywhere.byu.gz | awk 'NR == 1 { print $1 }')
    compare anywhere "anywhere@$((0x$start - entry))"
else
    echo "no 32-bit programs here"
fi
