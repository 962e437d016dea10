#!/bin/bash
# callgrind_annotate reads the output of `bustap dcfg callgrind` without a warning; its sums equal the
# graph's. The costs of instructions and the counts of jumps equal those of the fetches.
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
    bustap dcfg callgrind "$1" >profile 2>/dev/null
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

# instructions CAPTURE: compares the profile with the fetches
instructions() {
    # an instruction a line: its executions are its fetches
    bustap dump "$1" | awk '{ sub(/^0*/, ""); count["0x" $1]++ } END { for (a in count) print a, count[a] }' |
        sort >fetched
    awk '/^(calls|jump|jcnd)=/ { getline; next } /^0x/ { count[$1] += $3 } END { for (a in count) print a, count[a] }' \
        profile | sort >lines
    cmp fetched lines
    # a jump: fetches of its target right after it by the same processor; of a conditional one, all its executions
    bustap dump --csv "$1" | awk -F, '
        NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        { a = $(at["address"]); sub(/^0x0*/, "0x", a); p = $(at["processor"]); count[a]++
          if (p in last) pair[last[p] " " a]++
          last[p] = a }
        END { for (i in pair) { split(i, two, " "); print i, pair[i], count[two[1]] } }' | sort >pairs
    awk '/^jump=/ { split($1, c, "="); getline from; split(from, f); print f[1], $2, c[2] }' profile | sort >jumps
    awk '/^jcnd=/ { split($1, c, /[=\/]/); getline from; split(from, f); print f[1], $2, c[2], c[3] }' profile |
        sort >conditional
    cat jumps >>all_jumps
    cat conditional >>all_conditional
    [ -z "$(comm -23 conditional pairs)" ]
    [ -z "$(comm -23 jumps <(sed 's/ [0-9]*$//' pairs | sort))" ]
}

# random programs: jumps between routines, threads, system calls
for seed in 1 2 3; do
    make_fetches --program "$seed" 20000 "p$seed" >fetches.byu
    bustap dcfg build fetches.byu --image "p$seed.user" --image "p$seed.kernel" -o random.json.bz2 2>/dev/null
    check random.json.bz2
    instructions fetches.byu
done

# a program with loops
if [ -z "$NO_EXEC" ]; then
    cc -O1 -g -static -o loops "$TOP/tests/e2e/programs/loops.c"
    bustap exec -q --only-fetch -o loops_ --modules modules ./loops >/dev/null || true
    bustap dcfg build $(sed 's/^/--image /' modules) -o loops.json.bz2 loops_*.byu.gz 2>/dev/null
    check loops.json.bz2
    bustap convert -o loops.byu loops_*.byu.gz 2>/dev/null
    instructions loops.byu
    [ "$(wc -l <conditional)" -gt 20 ]
fi
[ -s all_jumps ]
[ -s all_conditional ]
