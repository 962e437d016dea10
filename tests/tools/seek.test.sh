#!/bin/bash
# --skip and --count print exactly those lines of the whole, for all starts and kinds of input. Blocks
# of a capture are skipped, not read.
set -eu -o pipefail
PATH="$BUILD/tests/e2e:$PATH"

make_capture files=4 file_records=1000 block_records=130 p
zcat p_1.byu.gz >p_1.byu
zcat p_2.byu.gz >p_2.byu
gzip -kc p_2.byu >plain_2.gz
bustap dump p_?.byu.gz >whole
bustap dump --csv p_?.byu.gz | tail -n +2 >whole.csv

for from in 0 1 129 130 131 999 1000 1001 1500 2999 3000 3999 4000 4001 100000; do
    for count in 1 130 700 2500; do
        sed -n "$((from + 1)),$((from + count))p;$((from + count + 1))q" whole >wanted
        bustap dump --skip "$from" --count "$count" p_?.byu.gz | cmp - wanted
        bustap dump --skip "$from" --count "$count" p_1.byu plain_2.gz p_3.byu.gz p_4.byu.gz |
            cmp - wanted
        sed -n "$((from + 1)),$((from + count))p;$((from + count + 1))q" whole.csv >wanted
        bustap dump --csv --skip "$from" --count "$count" p_?.byu.gz | tail -n +2 | cmp - wanted
    done
done
cat p_1.byu | bustap dump --skip 990 - | cmp - <(sed -n '991,1000p' whole)

# corruption in a skipped block is not read
size=$(wc -c <p_1.byu.gz)
printf '\377\377' | dd of=p_1.byu.gz bs=1 seek=$((size / 2)) conv=notrunc 2>dd.log
bustap dump --skip 950 --count 50 p_1.byu.gz 2>err | cmp - <(sed -n '951,1000p' whole)
