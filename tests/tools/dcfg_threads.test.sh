#!/bin/bash
# Counts by thread of `bustap dcfg blocks`, `functions` and `loops` add up to those of all threads, and agree with the
# fetches of each thread and with `annotate`.
set -eu -o pipefail
PATH="$BUILD/tests/e2e:$PATH"

fail() {
    echo "$*" >&2
    exit 1
}

# sums GRAPH UNIT: each row's column is the sum of its columns by thread
sums() {
    local list sum
    while read -r list sum; do
        bustap dcfg "$list" --by-thread --json "$1" >rows.json
        jq -e --arg list "$list" --arg sum "$sum" '.[$list] | length > 0 and all(
            .[$sum] == ([to_entries[] | select(.key | test("^thread_[0-9]+$")) | .value] | add))' rows.json >/dev/null ||
            fail "$1: $list: $sum is not the sum"
    done <<<"blocks executions
functions self
loops $2"
}

# --- a program's fetches: instructions of each thread ---
make_fetches --program 1 20000 p >fetches.byu
bustap dcfg build fetches.byu --image p.user --image p.kernel -o p.json 2>/dev/null
sums p.json instructions
for thread in 0 1; do
    wanted=$(bustap dump --json fetches.byu | jq -s --argjson p "$thread" '[.[] | select(.processor == $p)] | length')
    got=$(bustap dcfg functions --thread "$thread" --json p.json | jq "[.functions[].thread_$thread] | add")
    [ "$got" = "$wanted" ] || fail "thread $thread: $got instructions, $wanted fetches"
done

# --- the example: blocks by thread equal the annotation's ---
make_dcfg example.json
sums example.json instructions
bustap dcfg blocks --by-thread --json example.json |
    jq -c '[.blocks[] | [.node_id, .thread_0, .thread_1]] | sort' >blocks
bustap dcfg annotate --by-thread --json example.json 2>/dev/null |
    jq -c '[.functions[].rows[] | [.node_id, .thread_0, .thread_1]] | unique' >annotated
diff blocks annotated

# --- chunks of a bus: its threads are processors; a processor without fetches is none ---
for _ in 1 2 3 4 5 6 7 8; do
    printf '0x1000 8 1\n0x1008 8 1\n0x1000 8 3\n0x1008 8 3\n0x1010 8 3\n'
done | make_fetches >bus.byu
bustap dcfg build --fetch bus --bus chunk=8 bus.byu -o bus.json 2>/dev/null
sums bus.json chunks
[ "$(bustap dcfg blocks --by-thread --csv bus.json | head -1 | cut -d, -f1-3)" = executions,thread_0,thread_1 ]

# --- a thread twice is one column; there are limits ---
[ "$(bustap dcfg blocks --thread 1 --thread 1 --thread 0 --csv example.json | head -1 | cut -d, -f1-4)" = \
    executions,thread_1,thread_0,instructions ]
seq 0 69 | sed 's/.*/0x1000 4 &/' | make_fetches >many.byu
bustap dcfg build --fetch instr many.byu -o many.json 2>/dev/null
refused() { # MESSAGE ARGUMENT...
    local message=$1 status=0
    shift
    bustap dcfg "$@" >output 2>complaints || status=$?
    [ "$status" = 2 ] && grep -qF -- "$message" complaints && [ ! -s output ] || fail "$*: $status, $(cat complaints)"
}
for command in blocks functions loops annotate; do
    refused '--by-thread: the graph has 70 threads, choose up to 64 with --thread' "$command" --by-thread many.json
    refused '--thread: there is no thread 70, only 0 to 69' "$command" --thread 70 many.json
    refused '--thread: ' "$command" --thread 4294967296 many.json
    refused '--thread: ' "$command" --thread x many.json
done
choice=$(seq 0 63 | sed 's/^/--thread /')
# shellcheck disable=SC2086
bustap dcfg blocks $choice --json many.json | jq -e '.blocks[0] | .thread_0 == 1 and .thread_63 == 1' >/dev/null
# shellcheck disable=SC2086
refused '--thread: more than 64 threads' blocks $choice --thread 64 many.json
