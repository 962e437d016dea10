#!/bin/bash
# callgrind_annotate reads the output of `bustap dcfg callgrind` without a warning; its sums equal the
# graph's.
set -eu -o pipefail
PATH="$BUILD/tests/e2e:$PATH"
command -v callgrind_annotate >/dev/null || { echo "callgrind_annotate is missing"; exit 77; }

annotate() {
    callgrind_annotate --auto=no --threshold=100 "$@" profile 2>complaints
    [ ! -s complaints ] || { cat complaints; exit 1; }
}
number() { tr -d ' ,' | sed 's/(.*//'; }

# check GRAPH: the total, and the sum of all functions, is INSTR_COUNT
check() {
    local wanted
    wanted=$(bzcat "$1" | grep -o '"INSTR_COUNT":[0-9]*' | cut -d: -f2)
    bustap dcfg callgrind "$1" >profile
    annotate >functions
    [ "$(grep 'PROGRAM TOTALS' functions | number)" = "$wanted" ]
    [ "$(sed -n '/file:function/,$p' functions | grep '%)  ' | sed 's/(.*//; s/,//g' |
        awk '{ sum += $1 } END { print sum }')" = "$wanted" ]
}

make_dcfg example.json.bz2
check example.json.bz2
# main's inclusive cost holds all that it calls
annotate --inclusive=yes | grep -q '^6,811 (100.0%)  src/main.c:main '
annotate --inclusive=yes --tree=caller | grep -A 1 'main.c:main (15x)' | grep -q '^6,285 .*  \*  src/fill.c:fill '
# source lines
grep -qx '0x401104 9 6000' profile

make_dcfg --bare bare.json.bz2
check bare.json.bz2

# random programs: jumps between routines, threads, system calls
for seed in 1 2 3; do
    make_fetches --program "$seed" 20000 "p$seed" >fetches.byu
    bustap dcfg build fetches.byu --image "p$seed.user" --image "p$seed.kernel" -o random.json.bz2 2>/dev/null
    check random.json.bz2
done
