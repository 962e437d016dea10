#!/bin/bash
# dcfg fetches: rows by chunk equal those made of a dump, rows by function add up to the same fetches.
set -eu -o pipefail
PATH="$BUILD/tests/e2e:$PATH"

make_capture files=2 file_records=4000 block_records=500 p
bustap dcfg fetches --chunks --sort addr --csv p_*.byu.gz >rows
bustap dump --csv p_*.byu.gz | awk -F, '
    $4 == "FETCH" {
        key = $3 " " $5
        if (!(key in fetches)) first[key] = $2
        fetches[key]++
        last[key] = $2
        if (!index(" " processors[key] " ", " " $7 " ")) processors[key] = processors[key] " " $7
    }
    END { for (key in fetches) print key, fetches[key], first[key], last[key], processors[key] }' |
    while read -r address size fetches first last processors; do
        echo "$((address)) $size $fetches $first $last $(tr ' ' '\n' <<<"$processors" | sort -n | tr '\n' ' ')"
    done | sort -n >wanted
spread() { # "0-2 5" to "0 1 2 5 "
    local part
    for part in $1; do seq -s ' ' "${part%-*}" "${part#*-}"; done | tr '\n' ' '
}
tail -n +2 rows | while IFS=, read -r fetches _ _ size processors first last _ _ address _; do
    echo "$((address)) $size $fetches $first $last $(spread "$processors")"
done | sort -n >got
diff wanted got

# the program of two images: each fetch is in one row, and functions have the names of the images
make_fetches --program 7 3000 x >x.byu
bustap dcfg fetches --image x.user --image x.kernel --json x.byu >rows.json
[ "$(jq '[.code[].fetches] | add' rows.json)" = "$(bustap info --json x.byu | jq .by_type.FETCH)" ]
bustap dcfg fetches --image x.user --image x.kernel --sort first --top 1 --csv x.byu | tail -1 >top
[ "$(cut -d, -f6 top)" = "$(jq '[.code[].first_tick] | min' rows.json)" ]

# a function of a program, fetched whole; its first chunk may count for the function before
"${CC:-gcc}" -std=c11 -O1 -static -no-pie -o recursion "$TOP/tests/e2e/programs/recursion.c"
read -r start size <<<"$(nm -S recursion | awk '$4 == "main" { print $1, $2 }')"
start=$((0x$start)) size=$((0x$size))
for ((at = start & ~31; at < start + size; at += 32)); do echo "$at 32 3"; done >main.lines
{ cat main.lines; echo "$start 8 5"; } | make_fetches >main.byu
bustap dcfg fetches --image recursion --csv main.byu >rows
chunks=$(wc -l <main.lines)
awk -F, -v size=$size -v chunks="$chunks" '
    $11 == "main" { found = $3 > size - 32 && $4 == size && $5 == "3 5" }
    NR > 1 { fetches += $1 }
    END { exit !(found && fetches == chunks + 1) }' rows || { cat rows; exit 1; }

# nothing to list, wrong words, an early end of the reader, a full disk
bustap dcfg fetches --csv - </dev/null | cmp - <(head -1 rows)
for wrong in --sort=name --top=-1; do
    status=0
    bustap dcfg fetches $wrong x.byu 2>err || status=$?
    [ "$status" = 2 ] && grep -q -e "${wrong%=*}" err || { cat err; exit 1; }
done
bustap dcfg fetches p_*.byu.gz | head -1 >/dev/null
status=0
bustap dcfg fetches x.byu >/dev/full 2>err || status=$?
[ "$status" = 3 ] || { cat err; exit 1; }
