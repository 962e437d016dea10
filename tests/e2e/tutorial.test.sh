#!/bin/bash
# The tutorial's commands run unchanged where bustap is installed, without the source, and their output contains the
# documented text.
set -eu -o pipefail
. "$TOP/tests/support/installed.sh"
for tool in gcc dot callgrind_annotate gnuplot; do
    command -v $tool >/dev/null || { echo "$tool is not installed"; exit 77; }
done
gcc -static -o none -x c - <<<'int main(void) { return 0; }' 2>/dev/null || { echo "nothing can be linked statically"; exit 77; }

install_documents
sed -n 's/^    \$ //p' doc/tutorial.md | installed_names | sed 's/^bustap dcfg diff.*/& || test $? = 1/' >script
[ "$(wc -l <script)" -ge 11 ]
# without the translator: the commands that read what a virtual board has captured
runs=.
[ -z "$NO_EXEC" ] || runs=build/smp
sed -i -n "\\,$runs,p" script
set -x
# shellcheck disable=SC1091
. ./script >out 2>&1 || { cat out; exit 1; }
set +x

# Messages and headings without numbers and widths, which differ between machines.
shape() { sed -E 's/[0-9][0-9,.]*/N/g; s/ +/ /g; s/^ //' "$@"; }
awk -v runs="$runs" '
    /^    \$ / { skipped = $0 !~ runs; next }
    /^    / && !skipped { sub(/^    /, ""); if (/^bustap|^build\// || (/[A-Z].*  +[A-Z]/ && !/[a-z]/)) print }
    ' doc/tutorial.md | shape >expected
[ "$(wc -l <expected)" -ge 9 ] || [ -n "$NO_EXEC" ]
shape out >printed
awk 'FILENAME == "expected" { lines[++count] = $0; next }
    $0 == lines[found + 1] { found++ }
    END { if (found < count) { print "not printed, or in another order: " lines[found + 1]; exit 1 } }' expected printed

# programs of this machine
if [ -z "$NO_EXEC" ]; then
    grep -q '^build/loops.dcfg.json.gz: good: 1 thread, .*; trace of 1 thread, ' out
    grep -q '^ *8640  .* multiply+.*loops.c:22$' out
    grep -q '^ *+1728  8640  10368  .*loops.c:22$' out
    grep -q '; loop at depth 3: 720 entries, 8640 iterations, 12\.0 per entry$' out
    grep -Eq '^ *[0-9.]+ %  +8640  +7920  0x[0-9a-f]+ .*\\--+ j' out
    grep -q 'PROGRAM TOTALS' out
    grep -q '^</script></body></html>$' build/loops.html
    grep -q '>loops.c:22<' build/multiply.svg
    grep -q '^program  *build/loops 5$' out
    [ "$(grep -c '^ *8640  *60480 .* multiply+.*loops.c:22$' out)" -ge 2 ]
    grep -q '^build/run.dcfg.json.gz: good' out
    grep -q '^0x[0-9a-f]*  conditional  *8640  91.67 %  *7[0-9][0-9]  loops.c:21  multiply+' out
    grep -q '^ *74300  .* %  *74300  *5  loops   multiply$' out
    [ "$(grep -Ec '^ *[0-9.]+ % .* (WAR WAW  privatizable  smooth.c:2[56]|independent   smooth.c:2[79]|serial  *smooth.c:15|reduction  *smooth.c:3[89]) ' out)" = 7 ]
    grep -q '^The stock is worth 13240$' out
    grep -q "^stock.c:33: it depends on [0-9]* instances of [0-9]* instructions, control left out$" out
    grep -q "^ *[0-9]*  stock.c:19  item->name.i. = '.0';$" out
    ! grep -q "  stock.c:44 " out || exit 1
    grep -q '^stock.c:33 depends on stock.c:19 by [1-9] dependences$' out
    grep -q '^memory  *#2 of [0-9a-f]* set_name stock.c:19 = 0x0$' out
    grep -q '^rcx  *#2 of [0-9a-f]* worth stock.c:33 = 0xf00$' out
    grep -q '^stock.c:19#2: on it depend ' out
    grep -q '^bustap wet report: build/stock: ' out
fi

# the two counters of each thread, in one line before the fix, and in two after it
[ "$(grep -c '^1052900 letters, 457200 digits$' out)" = 3 ] || [ -n "$NO_EXEC" ]
if [ -z "$NO_EXEC" ]; then
    grep -Eq '^bustap: build/tally_both.byu.gz: 82001 records, ' out
    grep -Eq '^0x[0-9a-f]*80 +[0-9]+ +6[0-9]\.[0-9]* % .* 0  1-2  +tallies$' out
    grep -Eq '^text  +1  +[0-9]+  +1[0-9]\.' out
    # invalidations, and misses by false sharing, which are all but the first ones of the processors
    awk '/INVALIDATIONS.*SYMBOL$/ && !/LEVEL/ { getline; shared = $NF == "tallies" && $2 > 1000 && $6 > 1000 && $2 - $6 <= 2 }
        END { exit !shared }' out
    [ "$(grep -Ec '^0x[0-9a-f]*80  +1  +0  +8  tallies .*/tally.c:37$' out)" = 1 ]
    [ "$(grep -Ec '^0x[0-9a-f]*80  +2  +24  +8  tallies.0x18 .*/tally.c:39$' out)" = 1 ]
    [ "$(grep -Ec '^0x[0-9a-f]*  +[12]  .*/tally.c:' out)" = 4 ] # none in the program without the fault
fi

# from a capture to caches
grep -q '^64.0 KiB    1024  110459     35.47 %$' out
grep -q '^ *1  data  *all *280595   67235  23.96 %  *67235  *10590  *49951  *4808  *1833  *53  ' out
grep -q '^ *0xfee00080  *340  *340 ' out
[ "$(grep -c '^ *0x802000  *2[0-9][0-9]  ' out)" = 2 ] # the line, without its accesses
grep -q '^ *0x802000  *2  *0  *32  *85  *42  *108  *72  *0$' out
grep -q '^64,0,0,,2950,,84194$' build/sharing.csv
for picture in addresses mix sharing mrc sweep; do
    grep -q '^</svg>' build/$picture.svg
done
