#!/bin/bash
# bustap profile counts what is known of a program, as callgrind does, and leaves the program as it is.
set -eu -o pipefail

cc -O2 -g -o profiled "$TOP/tests/tools/programs/profiled.c"
wanted=0
./profiled >native || wanted=$?

# field FUNCTION COLUMN: from the CSV of functions, of one of the program's own
field() {
    awk -F, -v name="$1" -v column="$2" '
        NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        $(at["function"]) == name && $(at["module"]) ~ /profiled$/ { print $(at[column]) }' functions
}
expect() {
    local got
    got=$(field "$1" "$2")
    [ "$got" = "$3" ] || { echo "$1: $2 is '$got' instead of $3"; exit 1; }
}
# run OPTIONS...: the program, which does as without
run() {
    local status=0
    bustap profile "$@" ./profiled >output 2>complaints || status=$?
    [ "$status" = "$wanted" ]
    cmp native output
}

run --by function --csv -o functions --callgrind profile
[ ! -s complaints ]
calls='main 1 loop 9 leaf 1213 recursive 51 even 21 odd 20 thrower 18 catcher 3 handler 4 raiser 4'
set -- $calls
while [ $# -gt 0 ]; do
    expect "$1" calls "$2"
    shift 2
done
# leaf is 4 instructions, and all of loop() but what it is called from
leaf=$(field leaf instructions)
[ $((leaf % 1213)) = 0 ]
expect leaf inclusive "$leaf"
[ "$(field loop inclusive)" = $(($(field loop instructions) + leaf / 1213 * 1158)) ]
[ "$(field recursive inclusive)" = $(($(field recursive instructions) + leaf / 1213 * 51)) ]

# nothing is counted twice, or lost: all tables have the same sum
total=
for by in function line block module; do
    run --by $by --csv -o table
    sum=$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
                   { sum += $(at["instructions"]) } END { print sum }' table)
    [ "${total:-$sum}" = "$sum" ]
    total=$sum
done

# what goes to standard error, and as JSON
run --top 3
grep -q "^bustap profile: ./profiled: exit status 5, $total instructions, " complaints
grep -q '^3 of [0-9]* functions:$' complaints
run --json
if command -v jq >/dev/null; then
    [ "$(jq .instructions complaints)" = "$total" ]
    [ "$(jq '[.functions[].instructions] | add' complaints)" = "$total" ]
    [ "$(jq '.functions[] | select(.function == "catcher").calls' complaints)" = 3 ]
fi

command -v callgrind_annotate >/dev/null || exit 0
# callgrind_annotate reads the profile without a word
callgrind_annotate --auto=no --threshold=100 profile >annotated 2>annotate_complaints
[ ! -s annotate_complaints ]
grep 'PROGRAM TOTALS' annotated | tr -d ' ,' | grep -q "^$total("
# own NAME: what an annotation says of it; recursion has further names: even'2
own() {
    sed -n "s/^ *\([0-9,]*\) .*profiled\.c:$2\('[0-9]*\)\? .*/\1/p" "$1" | tr -d , |
        awk '{ sum += $1 } END { print sum + 0 }'
}
for name in $(echo "$calls" | tr ' ' '\n' | grep '[a-z]'); do
    [ "$(own annotated $name)" = "$(field $name instructions)" ]
done
callgrind_annotate --auto=no --threshold=100 --inclusive=yes profile >inclusive
for name in leaf loop catcher raiser; do
    [ "$(own inclusive $name)" = "$(field $name inclusive)" ]
done

# callgrind itself counts the same
valgrind --tool=callgrind --callgrind-out-file=other ./profiled >/dev/null 2>&1 || true
callgrind_annotate --auto=no --threshold=100 other >annotated
for name in $(echo "$calls" | tr ' ' '\n' | grep '[a-z]'); do
    [ "$(own annotated $name)" = "$(field $name instructions)" ] ||
        { echo "$name: callgrind has $(own annotated $name)"; field $name instructions; exit 1; }
done
callgrind_annotate --auto=no --threshold=100 --inclusive=yes other >inclusive
for name in leaf loop; do
    [ "$(own inclusive $name)" = "$(field $name inclusive)" ]
done
