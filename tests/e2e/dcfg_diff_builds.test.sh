#!/bin/bash
# `bustap dcfg diff --by-function` compares two builds of a program function by function: none that both builds have is
# only in one of them.
set -eu -o pipefail
PATH="$BUILD/tests/e2e:$PATH"

for level in 1 2; do
    "${CC:-gcc}" -g -O$level -static -no-pie -o "build$level" "$TOP/tests/e2e/programs/loops.c"
    status=0
    single_step --output run$level.byu.gz ./build$level 5 >stepped || status=$?
    if [ "$status" -eq 124 ]; then
        echo "single-stepping is not possible here"
        exit 77
    fi
    bustap dcfg build run$level.byu.gz --image build$level -o $level.json 2>messages
    nm build$level | awk 'tolower($2) ~ /^[tiw]$/ { print $3 }' | sort -u >symbols$level
done
comm -12 symbols1 symbols2 >both
for function in main multiply count_primes; do
    grep -qx $function both || { echo "$function is not in both builds"; exit 1; }
done

# routines OPTION...: symbol, offset, instructions in both, and where a routine is alone
routines() {
    local status=0
    bustap dcfg diff "$@" --json 1.json 2.json >diff.json || status=$?
    [ "$status" = 1 ]
    jq -r '.routines[] | "\(.symbol) \(.symbol_offset) \(.a) \(.b) \(.only_in)"' diff.json
}

# by address these functions do not compare
routines >by_address
grep -q '^\(main\|multiply\|count_primes\) .* [AaBb]$' by_address || { cat by_address; exit 1; }

routines --by-function >by_function
while read -r symbol offset a b only; do
    [ "$only" = null ] || [ "$offset" != 0 ] || ! grep -qxF "$symbol" both ||
        { echo "$symbol is only in $only: $a and $b instructions"; exit 1; }
done <by_function

# the functions that the levels compile differently, with their own instructions in both
for function in main multiply count_primes; do
    for level in 1 2; do
        bustap dcfg functions --json $level.json |
            jq -r --arg name $function '.functions[] | select(.symbol == $name).self'
    done | xargs echo $function 0 >wanted
    grep -qx "$(cat wanted) null" by_function || { cat wanted by_function; exit 1; }
done

# blocks, too: the entries of these functions are in both
jq -e '[.blocks[] | select(.symbol_offset == 0 and .only_in != null and
    (.symbol == "main" or .symbol == "multiply" or .symbol == "count_primes"))] == []' diff.json >/dev/null
