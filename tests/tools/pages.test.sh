#!/bin/bash
# The commands of README.md run as printed, and the expressions of doc/filter.md are accepted.
set -eu -o pipefail
for tool in gnuplot gzip; do
    command -v $tool >/dev/null || { echo "$tool is missing"; exit 77; }
done
# the page that the reader looks at
less() { head -n 20; }

seq 2000 >FILE
awk '/^## (A first capture|Analyzing captures)$/ { on = 1; next } /^## / { on = 0 } on && sub(/^    /, "")' "$TOP/README.md" |
    sed 's,build/,,; s/time=10s/time=300ms/; /^make$/d; /packages build mpi/d; /^mpirun/d' >script # mpi.test.sh has these
[ "$(grep -c '^bustap\|^b2a\|^zcat' script)" -ge 13 ]
[ -z "$NO_EXEC" ] || sed -i -E '/^bustap (exec|profile|rondo|wet)/d' script
set +o pipefail # less ends before b2a
# shellcheck disable=SC1091
. ./script >out 2>err || { cat script err; exit 1; }
set -o pipefail
grep -q '^complete: ' out
grep -q 'INVALIDATIONS' out
[ $(($(stat -c %s trace.byu) % 12)) = 0 ] && [ -s trace.byu ] || exit 1
grep -q '^</svg>' addresses.svg
grep -q '^</svg>' misses.svg
[ -s trace.din.gz ]
[ -n "$NO_EXEC" ] || bustap wet check gzip.wet >checked

# the first block of expressions; symbols need a program
awk '/^## / { exit } sub(/^    /, "")' "$TOP/doc/filter.md" >expressions
[ "$(wc -l <expressions)" -ge 4 ]
while read -r expression; do
    bustap dump -n 10 -f "$expression" trace_*.byu.gz >dumped 2>err || { echo "$expression"; cat err; exit 1; }
done <expressions
