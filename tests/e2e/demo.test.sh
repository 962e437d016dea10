#!/bin/sh
# The README's first command works as described.
set -eu
mkdir build
ln -s "$BUILD/bustap" "$BUILD/b2a" build
BUILD=$PWD/build "$TOP/tests/e2e/demo" >output 2>&1 || { cat output; exit 1; }
grep -q '^complete: [0-9]* records in [0-9]* files*, nothing lost$' output || { cat output; exit 1; }
grep -q '^complete  *yes$' output
[ "$(grep -c '^[0-9a-f]\{8\} [A-Z]' output)" -eq 10 ]
# if programs can be captured, the hottest block is the innermost loop, with its line
if ! grep -q '^Here programs cannot' output; then
    grep -A 1 '^EXECUTIONS' output | tail -n 1 | grep -q ' multiply+.* tests/e2e/programs/loops\.c:[0-9]*$' ||
        { cat output; exit 1; }
    # and the graph's part ends with that loop, annotated: its entry, its branch back, its source
    sed -n '/dcfg annotate --top 1/,/^Back to/p' output >annotated
    grep -q '; loop at depth 3: 720 entries, 8640 iterations, 12\.0 per entry$' annotated || { cat annotated; exit 1; }
    grep -q ' 8640 .* 0x[0-9a-f]* .*/-> .* loops\.c:[0-9]*  sum += a\[i\]\[k\] \* b\[k\]\[j\];$' annotated ||
        { cat annotated; exit 1; }
    grep -q ' 8640  *7920 .*\\-- j' annotated || { cat annotated; exit 1; }
    [ "$(grep -c '<details' "$(sed -n 's/^The same as a page for browsers: //p' output)")" -gt 10 ]
fi
# it ends with a miss-ratio curve and MESI counts
sed -n '/bustap mrc/,$p' output >studies
grep -q '^lines of 64 bytes: [0-9]* references' studies
grep -q '^32\.0 KiB  *512 ' studies
grep -q '^ *1  unified  *3  *[1-9][0-9]*  *[1-9]' studies
grep -q 'INVALIDATIONS  INTERVENTIONS  UPGRADES' studies
