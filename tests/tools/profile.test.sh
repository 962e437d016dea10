#!/bin/bash
# bustap profile: counts of a known program, also against callgrind; the program's output is unchanged.
set -eu -o pipefail
[ -z "$NO_EXEC" ] || { echo "$NO_EXEC"; exit 77; }

cc -O2 -g -o profiled "$TOP/tests/tools/programs/profiled.c"
wanted=0
./profiled >native || wanted=$?

# field FUNCTION COLUMN: a field of the CSV of functions, for a function of the program
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
# run OPTIONS...: runs the program; its output and status do not change
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
# each call of leaf executes the same instructions; inclusive counts add them to the callers
leaf=$(field leaf instructions)
[ $((leaf % 1213)) = 0 ]
expect leaf inclusive "$leaf"
[ "$(field loop inclusive)" = $(($(field loop instructions) + leaf / 1213 * 1158)) ]
[ "$(field recursive inclusive)" = $(($(field recursive instructions) + leaf / 1213 * 51)) ]

# all tables have the same sum
total=
for by in function line block module; do
    run --by $by --csv -o table
    sum=$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
                   { sum += $(at["instructions"]) } END { print sum }' table)
    [ "${total:-$sum}" = "$sum" ]
    total=$sum
done

# on standard error, and as JSON
run --top 3
grep -q "^bustap profile: ./profiled: exit status 5, $total instructions, " complaints
grep -q '^3 of [0-9]* functions:$' complaints
run --json
if command -v jq >/dev/null; then
    [ "$(jq .instructions complaints)" = "$total" ]
    [ "$(jq '[.functions[].instructions] | add' complaints)" = "$total" ]
    [ "$(jq '.functions[] | select(.function == "catcher").calls' complaints)" = 3 ]
fi

# reads and writes: leaf adds to a variable and returns
run --by function --csv --data -o functions
expect leaf writes 1213
expect leaf reads 2426

# a program that closes its standard error, one that a signal ends, one whose reader closes
printf '#!/bin/sh\nexec 2>&-\necho output\n' >closes
chmod +x closes
[ "$(bustap profile --top 1 ./closes 2>report)" = output ]
grep -q '^bustap profile: ./closes: exit status 0, ' report
status=0
bustap profile --top 1 sh -c 'kill -TERM $$' 2>report || status=$?
[ "$status" = 143 ]
grep -q 'signal 15 (Terminated), ' report
status=0
bustap profile --by module sh -c 'while echo; do :; done' 2>report | head -1 >/dev/null || status=$?
[ "$status" = 141 ]
grep -q 'signal 13 (Broken pipe), ' report

# children are not counted, nor a program that replaces this one, which is reported
bustap profile -o report --callgrind profile2 sh -c 'exec ./profiled' >output || status=$?
cmp native output
[ "$status" = "$wanted" ]
grep -q '^bustap profile: sh: executes ./profiled, which is not counted, ' report
[ "$(grep -c '^bustap profile: ' report)" = 1 ]
bustap profile --by module --csv -o report sh -c './profiled; exit 0' >output
cmp native output
[ "$(grep -c profiled report)" = 0 ]

# names of C++: demangled if the library for it is installed, else raw
cat >names.c <<'END'
void named(int) __asm__("_Z5namedi");
__attribute__((noinline)) void named(int number) { __asm__ volatile("" : : "r"(number)); }
int main(void) { named(1); return 0; }
END
cc -O1 -o names names.c
bustap profile --by function --csv -o named ./names
grep -q 'names,\("\?named(int)"\?\|_Z5namedi\),' named
bustap profile --by function --csv --raw-names -o named ./names
grep -q 'names,_Z5namedi,' named
# no source lines at all, not even a library's
printf '.globl _start\n_start: xor %%edi, %%edi\nmov $60, %%eax\nsyscall\n' >bare.s
cc -nostdlib -static -o bare bare.s
bustap profile ./bare 2>report
[ "$(grep -c 'source lines:$' report)" = 0 ]

# each thread has separate counts, if threads can be run
cat >threads.c <<'END'
#include <pthread.h>
#include <stdio.h>
static pthread_barrier_t all; /* keeps thread ids distinct */
static void *work(void *times)
{
    pthread_barrier_wait(&all);
    for (volatile long i = 0; i < (long)times; i++)
        continue;
    return NULL;
}
int main(void)
{
    pthread_t threads[3];
    pthread_barrier_init(&all, NULL, 3);
    for (long i = 0; i < 3; i++)
        if (pthread_create(&threads[i], NULL, work, (void *)((i + 1) * 1000)) != 0)
            return 1;
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
END
cc -O1 -pthread -o threads threads.c
if bustap profile --by function --csv --split-threads -o table ./threads; then
    awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        $(at["function"]) == "work" { rows++; calls += $(at["calls"]); sum += $(at["instructions"]) }
        END { exit !(rows == 3 && calls == 3 && sum > 6000 * 3) }' table
fi

# counts equal those of a graph of a capture, for functions without stubs
bustap exec -q --only-fetch --modules modules -o capture ./profiled >output || true
cmp native output
bustap dcfg build $(sed 's/^/--image /' modules) -o graph.json capture_*.byu.gz 2>/dev/null
bustap dcfg blocks --csv graph.json >blocks
for name in leaf loop recursive even odd; do
    sum=$(awk -F, -v name=$name 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        $(at["symbol"]) == name && $(at["image"]) ~ /profiled$/ { sum += $(at["instructions"]) }
        END { print sum }' blocks)
    expect $name instructions "$sum"
done
# so are the functions' own and inclusive instructions and calls
bustap dcfg functions --csv graph.json >graph_functions
for name in leaf loop recursive even odd; do
    while read -r self inclusive entered; do
        expect $name instructions "$self"
        expect $name calls "$entered"
        case $name in leaf | loop | recursive) expect $name inclusive "$inclusive" ;; esac
    done < <(awk -F, -v name=$name 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        $(at["symbol"]) == name && $(at["image"]) ~ /profiled$/ {
            print $(at["self"]), $(at["inclusive"]), $(at["calls"]); found = 1 }
        END { if (!found) print 0, 0, 0 }' graph_functions)
done

command -v callgrind_annotate >/dev/null || exit 0
# callgrind_annotate reads the profile without a warning
callgrind_annotate --auto=no --threshold=100 profile >annotated 2>annotate_complaints
[ ! -s annotate_complaints ]
grep 'PROGRAM TOTALS' annotated | tr -d ' ,' | grep -q "^$total("
# own FILE NAME: the annotated count; recursion has further names: even'2
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

# callgrind's own counts are the same
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

# a truncated program is a usage error
head -c 1000 profiled >cut
chmod +x cut
for command in profile rondo; do
    status=0
    bustap $command ./cut 2>complaints || status=$?
    [ "$status" = 2 ] || { echo "$command: status $status"; exit 1; }
    grep -q '^bustap: ./cut: is truncated: ' complaints
done
