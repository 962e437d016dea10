#!/bin/bash
# The expressions of doc/filter.md are accepted.
set -eu -o pipefail
bustap capture -q --board virtual:smp=2,requests=20000 -o trace

# the first block of expressions; symbols need a program
awk '/^## / { exit } sub(/^    /, "")' "$TOP/doc/filter.md" >expressions
[ "$(wc -l <expressions)" -ge 4 ]
while read -r expression; do
    bustap dump -n 10 -f "$expression" trace_*.byu.gz >dumped 2>err || { echo "$expression"; cat err; exit 1; }
done <expressions
