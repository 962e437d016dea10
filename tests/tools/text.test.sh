#!/bin/bash
# The text formats, against awk's version of the classic one and against each other, for all kinds of
# input.
set -eu -o pipefail
PATH="$BUILD/tests/e2e:$PATH"

# The classic dump by od and awk.
classic() {
    od -An -v -t u1 -w12 "$1" | awk '
    BEGIN {
        split("0 FETCH 1 MEMREAD 2 MEMREADINV 3 MEMWRITE 16 IOREAD 17 IOWRITE 32 DEFERREPLY " \
              "33 INTA 34 CNTRLAGNTRES 35 BRTRACEREC 49 SHUTDOWN 50 FLUSH 51 HALT 52 SYNC " \
              "53 FLUSHACK 54 STOPCLKAK 55 SMIACK", words, " ")
        for (i = 1; i in words; i += 2)
            names[words[i]] = words[i + 1] (length(words[i + 1]) >= 7 ? "\t" : "\t\t")
    }
    NF == 12 {
        printf "%02x%02x%02x%02x %s%2d\t%02x\t%d\t%.0f\n", $4, $3, $2, $1, names[$5], $6, $7, $8, \
            $9 + 256 * ($10 + 256 * ($11 + 256 * $12))
    }'
}

make_trace --types all --first-time-max --tail 7 30000 >t.byu
# noise with a fixed seed: random bytes may look like a compressed file
make_trace 30000 | gzip -n | tail -c 24000 >noise.byu
: >none.byu
printf 'eleven byte' >short.byu
for trace in t.byu noise.byu none.byu short.byu ${SHARED:+"$SHARED/data/pentium2.byu"}; do
    [ -f "$trace" ] || continue
    b2a --raw "$trace" >found 2>err
    classic "$trace" | cmp - found
    gzip -c "$trace" | b2a --raw 2>err | cmp - found
    bustap dump --raw "$trace" 2>err | cmp - found
    # plausible records need no --raw
    case $trace in noise.byu | short.byu) ;; *) b2a "$trace" 2>err | cmp - found ;; esac
done

# a capture equals the output of zcat, several files equal their concatenation
make_capture files=3 file_records=4000 block_records=700 p
b2a p_1.byu.gz p_2.byu.gz p_3.byu.gz >found
zcat p_1.byu.gz p_2.byu.gz p_3.byu.gz | b2a | cmp - found
cat p_1.byu.gz p_2.byu.gz p_3.byu.gz | b2a - | cmp - found
zcat p_?.byu.gz >p.byu
classic p.byu | cmp - found

# LP64 records
make_trace --types all --lp64 1000 >wide.byu
make_trace --types all 1000 | b2a | cmp - <(b2a --lp64 wide.byu)

# CSV and JSON have the same content
make_capture files=3 file_records=4000 block_records=3900 p
bustap dump --csv p_?.byu.gz | tail -n +2 >p.csv
bustap dump --json p_?.byu.gz |
    jq -r '[.index, .tick, .address, .type, .size, .attribute, .processor, .time] | join(",")' |
    cmp - p.csv
[ "$(wc -l <p.csv)" = 12000 ]
awk -F, '$2 != sum += $8 { exit 1 }' p.csv
