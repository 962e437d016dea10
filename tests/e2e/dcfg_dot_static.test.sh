#!/bin/bash
# Graphviz lays out the graph of a static program: many functions of libc that call each other.
set -eu -o pipefail
[ -z "$NO_EXEC" ] || { echo "$NO_EXEC"; exit 77; }
command -v dot >/dev/null || { echo "dot is missing"; exit 77; }

for program in recursion switches; do
    "${CC:-gcc}" -std=c11 -O1 -g -static -no-pie -o "$program" "$TOP/tests/e2e/programs/$program.c"
    bustap exec -q --only-fetch --modules modules -o "$program" "./$program" 20 >/dev/null || : # the program's status
    bustap dcfg build --image "$(cat modules)" -o graph.json "${program}"_*.byu.gz 2>/dev/null
    bustap dcfg dot graph.json >picture.dot 2>/dev/null
    timeout 200 dot -Tsvg picture.dot >picture.svg 2>complaints || { head complaints; exit 1; }
    [ ! -s complaints ] || { head complaints; exit 1; }
    [ "$(grep -c 'class="edge"' picture.svg)" = "$(grep -c -e ' -> ' picture.dot)" ]
done
