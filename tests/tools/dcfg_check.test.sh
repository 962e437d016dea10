#!/bin/bash
# Graphs and traces that build writes are valid; a change is reported with its place.
set -eu
PATH="$BUILD/tests/e2e:$PATH"

make_capture files=2 file_records=4000 block_records=1000 p
bustap dcfg build --bus chunk=8 p_?.byu.gz -o g.json.gz --trace t.json.bz2 2>/dev/null
bustap dcfg check g.json.gz --trace t.json.bz2 >out
grep -q '^g.json.gz: good: .* blocks, .*; trace of ' out
[ "$(wc -l <out)" = 1 ]

grep -q ' [0-9]* visits of chunks; trace of ' out # no instructions: the code is unknown

# from pipes, and as JSON
zcat g.json.gz >g.json
bzcat t.json.bz2 >t.json
bustap dcfg check - <g.json | grep -q '^-: good'
bustap dcfg check g.json --trace - <t.json | grep -q 'good'
bustap dcfg check g.json --trace t.json --json >out
jq -e '.good and .failure_count == 0 and .failures == [] and .checked.trace_edges > 0' out >/dev/null
blocks=$(jq '[.PROCESSES[1][1].IMAGES[1:][][3].BASIC_BLOCKS[1:][]] | length' g.json)
[ "$(jq .checked.blocks out)" = "$blocks" ]

# fails FILE RULE [OPTION...]: exit status 1, and a line about the rule
fails() {
    local file=$1 rule=$2 status=0
    shift 2
    bustap dcfg check "$file" "$@" >out 2>err || status=$?
    [ $status = 1 ] && [ ! -s err ] && grep -q "($rule, section" out || { cat out err; exit 1; }
}

# a wrong count is reported for the block, and for the thread's instructions
jq -c '.PROCESSES[1][1].EDGES[5][4][0] += 1' g.json >bad.json
fails bad.json flow
fails bad.json instructions
grep -q '^bad.json: PROCESSES\[1\]\[1\]\.INSTR_COUNT_PER_THREAD\[0\]: ' out

# failures above the limit are counted
jq -c '.PROCESSES[1][1].EDGES[1:][][4][0] += 1' g.json >bad.json
fails bad.json flow --max 3
[ "$(wc -l <out)" = 4 ]
grep -q '^and [0-9]* more$' out
bustap dcfg check bad.json --json --max 0 >out || [ $? = 1 ]
jq -e '(.good | not) and .failure_count > 10 and .failures == []' out >/dev/null

# what the graph of a bus rests on
jq -c '.BUSTAP_BUS.BLOCKS[1][1] += .PROCESSES[1][1].INSTR_COUNT' g.json >bad.json
fails bad.json bus-counts
grep -q '^bad.json: BUSTAP_BUS\.BLOCKS\[1\]: ' out
jq -c '.BUSTAP_BUS.BLOCKS[2][0] = .BUSTAP_BUS.BLOCKS[1][0]' g.json >bad.json
fails bad.json bus-blocks
jq -c '.BUSTAP_BUS.MODEL = "chunk=9"' g.json >bad.json
fails bad.json bus-model
grep -q '^bad.json: BUSTAP_BUS\.MODEL: ' out
jq -c '.BUSTAP_BUS.REPEATED = .BUSTAP_BUS.FETCHES + 1' g.json >bad.json
fails bad.json bus-fetches
grep -q '^bad.json: BUSTAP_BUS\.REPEATED: [0-9]* is above FETCHES, ' out
jq -c '.BUSTAP_BUS.UNIT = "furlong"' g.json >bad.json
fails bad.json format
grep -q 'BUSTAP_BUS\.UNIT .*: UNIT is neither instruction nor chunk' out || { cat out; exit 1; }

# an invalid graph, and a trace of another graph
head -c 2000 g.json >bad.json
fails bad.json format
grep -q '^bad.json: ' out
fails g.json trace-format --trace g.json
jq -c '.PROCESSES[1][0] = 9' t.json >bad.json
fails g.json trace-process --trace bad.json
grep -q '^bad.json: PROCESSES\[1\]: ' out

# a capture of a real bus
if [ -n "$SHARED" ] && [ -e "$SHARED/data/pentium2.byu" ]; then
    bustap dcfg build "$SHARED/data/pentium2.byu" -o g.json --trace t.json 2>/dev/null
    bustap dcfg check g.json --trace t.json | grep -q " $(jq '.PROCESSES[1][1].INSTR_COUNT' g.json) visits of chunks; "
fi

# limits
status=0
bustap dcfg check g.json --max-memory 10K 2>err || status=$?
[ $status = 3 ] && grep -q 'limit' err || exit 1
status=0
bustap dcfg check g.json --trace t.json --trace-edges 10 2>err || status=$?
[ $status = 2 ] && grep -q -- '--trace-edges' err || exit 1

# usage
status=0
bustap dcfg check - --trace - 2>err </dev/null || status=$?
[ $status = 2 ] && grep -q 'both' err || exit 1

# the rules, which the man page lists with the same words
bustap dcfg check --rules | tr -s ' ' >rules
[ "$(wc -l <rules)" -ge 40 ]
awk '/^\.It Cm [a-z-]* Pq / { if (row) print row; row = $3; for (i = 5; i <= NF; i++) row = row " " $i; next }
    row && /^\./ { print row; exit }
    row { row = row " " $0 }' "$TOP/doc/bustap-dcfg.1" >page
diff page rules

# a reader that closes early is no error
bustap dcfg check --rules | head -1 >/dev/null
