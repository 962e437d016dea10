#!/bin/bash
# Two blocks begin at one address only if the code there changed; a format without sizes of instructions makes no second
# block where a branch is taken at times.
set -eu -o pipefail
PATH="$BUILD/tests/e2e:$PATH"

compile() { # NAME
    "${CC:-gcc}" -std=c11 -O1 -g -static -no-pie -o "$1" "$TOP/tests/e2e/programs/$1.c"
}

build() { # NAME OPTION...
    local name=$1
    shift
    bustap dcfg build "$@" --trace "$name.trace" -o "$name" 2>messages
    bustap dcfg check --trace "$name.trace" "$name"
}

# the addresses at which several blocks begin
doubles() { # GRAPH
    bustap dcfg blocks --csv "$1" |
        awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } { print $(at["address"]) }' | sort | uniq -d
}

compile recursion
status=0
single_step --output recursion.byu.gz ./recursion >stepped || status=$?
if [ "$status" -eq 124 ]; then
    echo "single-stepping is not possible here"
    exit 77
fi
bustap convert recursion.byu.gz --to champsim -o recursion.champsim 2>/dev/null
build plain.json --from champsim recursion.champsim
[ -z "$(doubles plain.json)" ] || { doubles plain.json | head; exit 1; }

# with the program, the sizes are known: the graph is that of the captured program
build guessed.json --from champsim recursion.champsim --image recursion
build exact.json recursion.byu.gz --image recursion
bustap dcfg diff guessed.json exact.json

[ -z "$NO_EXEC" ] || { echo "$NO_EXEC"; exit 77; }
compile changed_code
status=0
bustap exec -q -o changed ./changed_code >sum || status=$?
if [ "$status" -eq 9 ]; then
    echo "programs cannot write their own code here"
    exit 77
fi
grep -qx 14 sum
build changed.json changed_*.byu.gz --image changed_code
[ "$(doubles changed.json | wc -l)" -eq 1 ]
bustap dcfg blocks --csv changed.json | grep "$(doubles changed.json)" | cut -d , -f 1 | sort | diff - <(printf '%s\n' 4 6)
