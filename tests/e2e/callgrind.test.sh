#!/bin/bash
# The profile of `bustap dcfg callgrind` equals valgrind's of the same program: own instructions of each function of the
# program, executions of each instruction, jumps and calls.
set -eu -o pipefail

for tool in gcc valgrind python3; do
    command -v $tool >/dev/null || { echo "$tool is missing"; exit 77; }
done
[ -z "${NO_EXEC:-}" ] || { echo "$NO_EXEC"; exit 77; }

fail() {
    echo "$program $link: $*" >&2
    exit 1
}

# The program's own functions: "NAME FIRST-LAST". The linker chooses where the parts of a function are, not which.
own_functions() {
    nm "$program.o" | awk '$2 ~ /[tT]/ { print $3 }' | sort >names
    nm -S "$program" | awk 'NF == 4 { print $4, $1, $2 }' | sort | join names - |
        while read -r name address size; do
            printf '%s %x-%x\n' "$name" $((0x$address)) $((0x$address + 0x$size))
        done
}

# rows PROFILE: those of the program's own code. Recursive calls and stubs of the linker have names of valgrind's own.
# The executions of a conditional jump are left out: valgrind counts them apart for each way to the jump, and omits ways
# without a jump.
rows() {
    # shellcheck disable=SC2046
    python3 "$TOP/tests/tools/callgrind_rows.py" "$1" $(cut -d ' ' -f 2 own) |
        sed "s/'[0-9]* / /; s/ \[PLT\]//; s/ 0x0*/ 0x/g" |
        awk 'FILENAME == "own" { own[$1]; next }
            $1 == "function" && !($2 in own) { next }
            $1 ~ /^(function|instruction)$/ { sum[$1 " " $2] += $3; next }
            { sum[$1 " " $2 " " $3] += $4 }
            END { for (key in sum) print key, sum[key] }' own - | sort
}

compare() { # PROGRAM LINK
    program=$1 link=$2
    local source=$TOP/tests/e2e/programs/$program.c
    # without string instructions: valgrind also counts the test that ends their iterations
    gcc -std=c11 -D_XOPEN_SOURCE=700 -g -O1 -mstringop-strategy=loop -c -o "$program.o" "$source"
    # shellcheck disable=SC2086
    gcc -no-pie $link -o "$program" "$program.o"
    own_functions >own

    valgrind --tool=callgrind --dump-instr=yes --collect-jumps=yes --skip-plt=no --callgrind-out-file=theirs \
        "./$program" >wanted 2>complaints || [ $? -lt 100 ] || fail "valgrind: $(cat complaints)"
    rm -f run_*
    bustap exec -q --only-fetch -o run_ --modules modules "./$program" >got || true
    cmp wanted got
    # shellcheck disable=SC2046
    bustap dcfg build $(sed 's/^/--image /' modules) -o graph.json run_*.byu.gz 2>/dev/null
    bustap dcfg callgrind graph.json >ours 2>/dev/null

    rows theirs >theirs.rows
    rows ours >ours.rows
    diff theirs.rows ours.rows >differences || fail "$(head -20 differences)"
    for kind in function instruction jump jcnd call; do
        echo "$kind $(grep -c "^$kind " ours.rows)"
    done >"$program.kinds"
}

valgrind --tool=callgrind --callgrind-out-file=/dev/null true 2>/dev/null || { echo "valgrind does not run here"; exit 77; }
for link in -static ''; do
    for program in loops recursion tail_calls switches; do
        compare "$program" "$link"
    done
    # all kinds were compared
    awk '{ sum[$1] += $2 }
        END { exit !(sum["function"] >= 10 && sum["instruction"] >= 300 && sum["jump"] >= 20 && sum["jcnd"] >= 20 &&
            sum["call"] >= 10) }' ./*.kinds || fail "$(cat ./*.kinds)"
done
