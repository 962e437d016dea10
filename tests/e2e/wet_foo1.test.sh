#!/bin/bash
# The example of the WET trace format: what it says about line 8 of foo1.c, run with "2 7".
set -eu -o pipefail
[ -z "$NO_EXEC" ] || { echo "$NO_EXEC"; exit 77; }

# block TEXT ID: the lines about an instruction.
block() {
    awk -v id="$2" 'NR > 1 && NF == 6 { show = $1 == id } show' "$1"
}

fail() {
    echo "$*"
    exit 1
}

for options in -no-pie -pie; do
    gcc -O0 -g -std=gnu11 -w "$options" -o foo1 "$TOP/tests/e2e/programs/foo1.c"
    [ "$(./foo1 2 7)" = "result is 21" ]
    [ "$(bustap wet -o foo1.wet -- ./foo1 2 7)" = "result is 21" ] || fail "$options: another output"
    bustap wet print foo1.wet >text
    # ids are in order of execution: the first instruction of line 8
    read -r id ports address _ function line < <(awk 'NF == 6 && $4 == "foo1.c" && $6 == 8' text)
    [ "$ports $function $line" = "2 main 8" ] || fail "$options: line 8 has $ports ports"
    block text "$id" >lines
    branch=$(sed -n '3s/^    0:\([0-9]*\) 0$/\1/p' lines) store=$(sed -n '5s/^    0:\([0-9]*\) 0$/\1/p' lines)
    [ -n "$branch" ] && [ -n "$store" ] || fail "$options: $(cat lines)"
    printf '%s 2 %s foo1.c main 8\nSIZE 1\n    0:%s 0\nSIZE 1\n    0:%s 0\nVALUES 1\n    0:2\n' \
        "$id" "$address" "$branch" "$store" | diff - lines
    branch_line=$(block text "$branch" | head -1) store_line=$(block text "$store" | head -1)
    [[ $branch_line =~ ^$branch\ 2\ ([0-9a-f]+)\ foo1.c\ main\ 4$ ]] || fail "$options: $branch_line"
    branch_address=${BASH_REMATCH[1]}
    [[ $store_line =~ ^$store\ 2\ ([0-9a-f]+)\ foo1.c\ main\ 6$ ]] || fail "$options: $store_line"
    store_address=${BASH_REMATCH[1]}
    if [ "$options" = -no-pie ]; then
        objdump -d foo1 | grep -E "^ *$branch_address:.*jle" >/dev/null || fail "not a jle: $branch_line"
    fi
    # the limited history, in a file and on standard error
    bustap wet --history 100000 -o history -- ./foo1 2 7 >/dev/null
    bustap wet --history -- ./foo1 2 7 2>messages >/dev/null
    for file in history messages; do
        grep -qx "0x$address#0 --> 0x$branch_address#0" "$file" || fail "$options, $file: no control dependence"
        grep -qx "0x$address#0 --> 0x$store_address#0" "$file" || fail "$options, $file: no data dependence"
    done
    rm -f foo1.wet history
done
