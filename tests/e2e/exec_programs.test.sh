#!/bin/bash
# Real programs under `bustap exec` run as natively.
set -eu
[ -z "$NO_EXEC" ] || { echo "$NO_EXEC"; exit 77; }
"$TOP/tests/e2e/exec_list"
# a separate capture for each process and program
printf 'b\na\n' >letters
"$TOP/tests/e2e/exec_list" --children --follow
status=0
bustap exec -o tree --follow sh -c 'sort letters | head -n 1; exec ls letters' >got 2>messages || status=$?
[ "$status" = 0 ]
printf 'a\nletters\n' | cmp - got
for program in 'sort letters' 'head -n 1' 'ls letters' 'sh -c sort'; do
    found=0
    for file in tree*.byu.gz; do
        bustap info "$file" | grep -q "^program  *$program" && found=1
    done
    [ "$found" = 1 ] || { echo "no capture of $program"; cat messages; exit 1; }
done
bustap verify tree*.byu.gz >verdict
[ "$(grep -c '^complete' verdict)" -ge 4 ]
bustap exec -q -o limited --follow --count 100 sh -c 'ls letters; ls letters' >got
[ "$(wc -l <got)" = 2 ]
for file in limited*.byu.gz; do
    [ "$(bustap dump "$file" | grep -c FETCH)" -le 100 ]
done
