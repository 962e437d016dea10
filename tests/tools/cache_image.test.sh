#!/bin/bash
# Contended lines are reported with the program's symbols and source lines.
set -eu -o pipefail
command -v nm >/dev/null || { echo "nm is missing"; exit 77; }

# a variable of bustap itself, as if loaded at 0x10000000
read -r variable name < <(nm -S "$BUILD/bustap" | awk '$3 ~ /^[dD]$/ && NF == 4 { print $1, $4; exit }')
read -r routine < <(nm -S "$BUILD/bustap" | awk '$4 == "main" { print $1 }')
[ -n "$variable" ] && [ -n "$routine" ] || { echo "the program has no symbols"; exit 77; }
first=$(nm "$BUILD/bustap" | awk '$3 == "__executable_start" { print $1 }')
data=$((0x10000000 + 0x$variable - 0x${first:-0}))
code=$((0x10000000 + 0x$routine - 0x${first:-0}))

# two processors alternate in writing there; the columns are those of `bustap dump --csv`
make_lines() {
    bustap dump --csv </dev/null
    for i in $(seq 0 39); do
        printf '%d,%d,0x%08x,MEMWRITE,4,0x3,%d,1\n' $((2 * i)) $((2 * i)) "$data" $((i % 2))
        printf '%d,%d,0x%08x,MEMWRITE,1,0x3,%d,1\n' $((2 * i + 1)) $((2 * i + 1)) "$code" $((i / 8 % 2))
    done
}
make_lines >trace.csv
bustap cache --from csv --coherence mesi --image "$BUILD/bustap@0x10000000" --l1 line=1,1K trace.csv >out
grep -q "39 .* $name\$" out || { echo "no $name"; cat out; exit 1; }
grep -q " main *tools/bustap.c:\| main .*bustap.c:[0-9]" out || { echo "no main"; cat out; exit 1; }

# an invalid image
status=0
bustap cache --image trace.csv trace.csv >out 2>err || status=$?
[ $status -eq 1 ] || exit 1
[ ! -s out ] || exit 1
grep -q 'trace.csv' err

# the loop that misses
if [ -z "${NO_EXEC-}" ]; then
    cat >stride.c <<'C'
int cells[1 << 16];
int main(void)
{
    int sum = 0;
    for (int round = 0; round < 3; round++)
        for (int i = 0; i < 1 << 16; i += 16)
            sum += cells[i]; /* 12288 misses: lines of 64 bytes, 256 KiB */
    return sum & 1;
}
C
    gcc -g -O1 -fno-tree-vectorize -static -o stride stride.c
    bustap exec -q -o part --modules modules -- ./stride
    # shellcheck disable=SC2046 # options
    for by in symbol source instruction; do
        bustap cache --by $by --top 1 --csv $(sed 's/^/--image /' modules) part_*.byu.gz >$by.csv
    done
    # the capture knows its modules
    bustap cache --by source --top 1 --csv part_*.byu.gz >alone.csv
    bustap cache --by source --top 1 --csv --modules modules part_*.byu.gz >listed.csv
    [ ! -e part.modules ]
    tail -n 1 source.csv | cmp - <(tail -n 1 listed.csv)
    bustap exec -q -o folder/beside_it -- ./stride
    bustap cache --by source --top 1 --csv folder/beside_it_*.byu.gz | cmp - source.csv
    ! cmp -s alone.csv source.csv || exit 1
    # as do lines that two threads contend for
    cat >contend.c <<'C'
#include <pthread.h>
volatile long contended_cells[2];
static void *work(void *cell)
{
    for (int i = 0; i < 2000; i++)
        ++*(volatile long *)cell;
    return 0;
}
int main(void)
{
    pthread_t other;
    pthread_create(&other, 0, work, (void *)&contended_cells[1]);
    work((void *)&contended_cells[0]);
    return pthread_join(other, 0);
}
C
    gcc -g -O1 -pthread -o contend contend.c
    bustap exec -q --quantum 20 -o contend -- ./contend
    bustap cache --classify --lines 1 contend_*.byu.gz >lines.txt
    grep -q ' contended_cells' lines.txt || { cat lines.txt; exit 1; }
    # who accesses which bytes of it, and where
    bustap cache --classify --lines 1 --accesses 2 --csv contend_*.byu.gz >accesses.csv
    for cell in 0 8; do
        grep -q "^0x[0-9a-f]*,[01],[0-9]*,8,contended_cells,$cell,0,[12][09]..,[12][09]..,[1-9][0-9]*,0,[1-9][0-9]*,0x[0-9a-f]*,work,.*contend.c,6\$" accesses.csv ||
            { cat accesses.csv; exit 1; }
    done
    [ "$(cut -d , -f 2 accesses.csv | sort -u | wc -l)" = 3 ] # a processor each, and the heading
    grep -Eq ' contended_cells\+0x8 .* work  *[^ ]*contend.c:6$' lines.txt || { cat lines.txt; exit 1; }
    # a list that names a missing file: the counts are there, with a note
    echo "$PWD/gone@0x10000000" >contend.modules
    bustap cache --classify --lines 1 contend_*.byu.gz >lines.txt 2>err
    grep -q 'lines have no names: .*gone' err || { cat err; exit 1; }
    [ "$(wc -l <err)" = 1 ]
    grep -q '^LINE\|  LINE ' lines.txt
    grep -q '^main,[0-9]*,1228[0-9],' symbol.csv || { cat symbol.csv; exit 1; }
    grep -q 'stride.c,7,main,[0-9]*,1228[0-9],' source.csv || { cat source.csv; exit 1; }
    grep -q ',main,.*stride.c,7,[0-9]*,1228[0-9],' instruction.csv || { cat instruction.csv; exit 1; }
fi
