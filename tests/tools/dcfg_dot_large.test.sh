#!/bin/bash
# `bustap dcfg dot` of a graph with 20,000 blocks draws the hottest ones, and says in the picture and on standard error
# which part of the graph that is.
set -eu -o pipefail
PATH="$BUILD/tests/e2e:$PATH"

# 20,000 instructions, none after another one in memory: each is a block. All are executed once, 300 of them 50 times more.
awk 'function at(i) { return 65536 + i * 7 % 20000 * 16 }
    BEGIN {
        for (i = 0; i < 20000; i++) print at(i), 4
        for (round = 0; round < 50; round++)
            for (i = 5000; i < 5300; i++) print at(i), 4
    }' >lines
make_fetches <lines >large.byu
bustap dcfg build --fetch instr -o large.json large.byu 2>summary
grep -q ': 20000 blocks and ' summary
awk 'NR > 20000 { printf "0x%x\n", $1 }' lines | sort -u >hot
[ "$(wc -l <hot)" = 300 ]

# drawn FILE: addresses of the blocks in it
drawn() { sed -n 's/^ *n[0-9]* \[label="\(0x[0-9a-f]*\).*/\1/p' "$1" | sort -u; }

bustap dcfg dot large.json >picture.dot 2>messages
[ "$(drawn picture.dot | wc -l)" = 400 ]
drawn picture.dot | comm -13 - hot >missing
[ ! -s missing ] || { echo "hot blocks are missing"; cat missing; exit 1; }
# 300 blocks with 51 executions, and 100 others, of 35,000
grep -qF 'label="the 400 hottest of 20000 blocks, 44.00 % of the instructions\l"' picture.dot
[ "$(cat messages)" = 'bustap: drawn are the 400 hottest of 20000 blocks, with 44.00 % of what was executed; --all draws all' ]
# no edge leads to a block that is left out
sed -n 's/^  n\([0-9]*\) -> n\([0-9]*\) .*/\1 \2/p' picture.dot | tr ' ' '\n' | sort -u >ends
sed -n 's/^ *n\([0-9]*\) \[.*/\1/p' picture.dot | sort -u | comm -13 - ends >loose
[ -s ends ]
[ ! -s loose ] || { echo "edges without blocks"; cat loose; exit 1; }

bustap dcfg dot --top 300 large.json >fewer.dot 2>messages
grep -qF 'label="the 300 hottest of 20000 blocks, 43.71 % of the instructions\l"' fewer.dot
grep -q 'the 300 hottest of 20000 blocks, with 43.71 %' messages

bustap dcfg dot --all large.json >all.dot 2>messages
[ "$(drawn all.dot | wc -l)" = 20000 ]
[ ! -s messages ]
! grep -q hottest all.dot || { echo "all are the hottest"; exit 1; }

# the picture has the label, too
command -v dot >/dev/null || exit 0
dot -Tsvg picture.dot >picture.svg
grep -q '>the 400 hottest of 20000 blocks, 44.00 % of the instructions<' picture.svg
