#!/bin/bash
# A function that another one jumps to is a routine of its own, and has the instructions that callgrind counts for it.
set -eu -o pipefail
PATH="$BUILD/tests/e2e:$PATH"

"${CC:-gcc}" -std=c11 -D_XOPEN_SOURCE=700 -g -O2 -static -no-pie -Wl,--eh-frame-hdr -o tail_calls \
    "$TOP/tests/e2e/programs/tail_calls.c"
status=0
single_step --output run.byu.gz ./tail_calls >stepped || status=$?
if [ "$status" -eq 124 ]; then
    echo "single-stepping is not possible here"
    exit 77
fi
[ "$status" -eq 5 ]

# the addresses of the routines' entries
entries() { # GRAPH
    jq -r '.PROCESSES[1][1].IMAGES[1:][]
        | (.[3].BASIC_BLOCKS[1:] | map({key: (.[0] | tostring), value: .[1]}) | from_entries) as $at
        | .[1] as $load | .[3].ROUTINES[1:][] | "\($load) \($at[.[0] | tostring])"' "$1" |
        while read -r load offset; do printf '%x\n' $((load + offset)); done
}

build() { # PROGRAM GRAPH
    bustap dcfg build run.byu.gz --image "$1" --trace "$2.trace" -o "$2" 2>messages
    bustap dcfg check --trace "$2.trace" "$2"
    entries "$2" >"$2.entries"
}

# the address of a function
address() { # FUNCTION
    nm tail_calls | awk -v name="$1" '$3 == name { sub(/^0*/, "", $1); print $1 }'
}

build tail_calls graph.json
strip -o stripped tail_calls
build stripped stripped.json
for function in main even odd chosen_square; do
    for graph in graph stripped; do
        grep -qx "$(address $function)" $graph.json.entries ||
            { echo "$graph: $function is no routine"; exit 1; }
    done
done

# recursion is no loop; the loop that visits its function's unlikely part is one
bustap dcfg loops --csv graph.json >loops
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
    $(at["symbol"]) ~ /^(even|odd)$/ { bad = 1 }
    $(at["symbol"]) ~ /^divided/ { found += $(at["iterations"]) == 40 }
    END { exit bad || found != 1 }' loops

command -v callgrind_annotate >/dev/null || { echo "there is no callgrind_annotate"; exit 77; }
own() { # FUNCTION PROFILE: also of its recursion, which callgrind calls even'2
    callgrind_annotate --auto=no --threshold=100 "$2" |
        sed -n "s/^ *\([0-9,]*\) .*tail_calls\.c:$1\('[0-9]*\)\? .*/\1/p" | tr -d , |
        awk '{ sum += $1 } END { print sum + 0 }'
}
bustap dcfg callgrind graph.json >profile
valgrind --tool=callgrind --callgrind-out-file=other ./tail_calls >/dev/null 2>&1 || true
for function in even odd chosen_square rare; do
    got=$(own $function profile)
    wanted=$(own $function other)
    [ "$got" -gt 0 ] && [ "$got" = "$wanted" ] ||
        { echo "$function: $got instructions, callgrind has $wanted"; exit 1; }
done
