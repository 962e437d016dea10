#!/bin/bash
# Expanded traces: each edge begins where the one before it ends, their number is the graph's, and
# parts equal those of the whole.
set -eu
PATH="$BUILD/tests/e2e:$PATH"

make_capture files=2 file_records=4000 block_records=1000 p
bustap dcfg build --bus chunk=8 p_?.byu.gz -o g.json.gz --trace t.json.gz --chunk 100 2>/dev/null

bustap dcfg expand g.json.gz --trace t.json.gz --csv >all
[ "$(head -1 all)" = thread,index,edge,source,target,type,address,symbol,symbol_offset ]
sed -i 1d all
awk -F, '$1 == thread && ($2 != number + 1 || $4 != target) { print; exit 1 }
         $1 != thread && ($2 != 0 || $6 != "ENTRY") { print; exit 1 }
         { thread = $1; number = $2; target = $5 }' thread=none all

# each edge's count is the graph's
zcat g.json.gz | jq -r '.PROCESSES[1][1].EDGES[1:][] | .[0] as $id | .[4] | to_entries[]
    | select(.value > 0) | "\(.key),\($id) \(.value)"' | sort >counts
cut -d, -f 1,3 all | sort | uniq -c | awk '{ print $2 " " $1 }' | sort | diff counts -

# parts
threads=$(cut -d, -f 1 all | sort -nu)
last=$(echo "$threads" | tail -1)
for from in 0 1 99 100 101 350; do
    bustap dcfg expand g.json.gz --trace t.json.gz --csv --thread "$last" --skip $from -n 150 |
        sed 1d | diff - <(grep "^$last," all | tail -n +$((from + 1)) | head -150)
done
bustap dcfg expand g.json.gz --trace t.json.gz --csv --skip 120 --count 1 | sed 1d |
    diff - <(awk -F, '$2 == 120' all)
[ "$(bustap dcfg expand g.json.gz --trace t.json.gz -n 0 | wc -l)" = 1 ]

# all formats have the same content; a pipe as the trace
zcat t.json.gz | bustap dcfg expand g.json.gz --trace - --json |
    jq -r '[.thread, .index, .edge, .source, .target, .type, .address // ""] | join(",")' |
    diff - <(cut -d, -f 1-7 all)
bustap dcfg expand g.json.gz --trace t.json.gz | sed 1d |
    awk '{ print $1 "," $2 "," $3 "," $4 "," $5 "," $6 }' | diff - <(cut -d, -f 1-6 all)

# a reader that closes early is no error
[ "$(bustap dcfg expand g.json.gz --trace t.json.gz 2>err | head -3 | wc -l)" = 3 ]
[ ! -s err ] || { cat err; exit 1; }

# fails STATUS WORD COMMAND...
fails() {
    local wanted=$1 word=$2 status=0
    shift 2
    "$@" >out 2>err || status=$?
    [ "$status" = "$wanted" ] && grep -q -- "$word" err || { echo "$* gave $status"; cat err; exit 1; }
}
fails 2 'no thread 99' bustap dcfg expand g.json.gz --trace t.json.gz --thread 99
fails 2 'no process 5' bustap dcfg expand g.json.gz --trace t.json.gz --process 5
fails 2 '--trace' bustap dcfg expand g.json.gz
fails 2 exclude bustap dcfg expand g.json.gz --trace t.json.gz --csv --json
fails 2 both bustap dcfg expand - --trace -
zcat t.json.gz | jq -c '.PROCESSES[1][0] = 9' >other.json
fails 1 'belong together' bustap dcfg expand g.json.gz --trace other.json
zcat t.json.gz >whole.json
head -c $(($(wc -c <whole.json) / 2)) whole.json >cut.json
fails 1 'cut.json' bustap dcfg expand g.json.gz --trace cut.json
fails 3 'nothing.json' bustap dcfg expand g.json.gz --trace nothing.json
