#!/bin/bash
# Parts of a run: regions that repeat, calls, markers and samples have the records that the whole run has there,
# and the capture reports its gaps.
set -eu -o pipefail
[ -z "$NO_EXEC" ] || { echo "$NO_EXEC"; exit 77; }
PATH="$BUILD/tests/e2e:$PATH"
cut="python3 $TOP/tests/e2e/exec_regions.py"
program=$BUILD/tests/e2e/exec_regions

# part NAME OPTIONS...: captures the program in $run
part() {
    local name=$1
    shift
    rm -f "$name"_*
    bustap exec -q -o "$name" --summary "$name.json" "$@" -- "${run[@]}" >/dev/null
    bustap verify "$name"_* >"$name.verdict" || { cat "$name.verdict"; exit 1; }
    python3 "$TOP/tests/support/second_verifier.py" "$name"_* >/dev/null
}

# gaps NAME N: verify, the summary and info report N gaps
gaps() {
    local word=gaps
    [ "$2" -ne 1 ] || word=gap
    grep -q ", $2 $word, chosen\$" "$1.verdict" || { echo "not $2 gaps"; cat "$1.verdict"; exit 1; }
    grep -q "\"chosen_gaps\":$2,.*\"gaps\":0\|\"gaps\":0,.*\"chosen_gaps\":$2," "$1.json" || { cat "$1.json"; exit 1; }
    bustap info "$1"_* | grep -q "^gaps  *$2, chosen" || { bustap info "$1"_*; exit 1; }
}

# a real program
head -c 2000 "$TOP/README.md" >input
run=(gzip -nc input)
part whole
part sample --sample 1000/7000
$cut whole_* sample 1000 7000 0 0 sample_*
part few --sample 100/300 --skip 5000 --count 5050
$cut whole_* sample 100 300 5000 5050 few_*
part one --sample 1/1 --count 300
$cut whole_* sample 1 1 0 300 one_*
read -r from until <<<"$($cut whole_* popular)"
part places --start-at "$from" --stop-at "$until" --repeat
$cut whole_* places "$from" "$until" places_*
part fetches --start-at "$from" --stop-at "$until" --repeat --only-fetch
[ "$(bustap info fetches_* | awk '$1 == "records" { print $2 }')" = \
    "$(bustap info places_* | awk '$2 == "FETCH" || $3 == "FETCH" { print $(NF - 2) }')" ]

# calls of a function that calls itself
run=("$program" 20)
function=0x$(nm "$program" | awk '$3 == "region_work" { print $1 }' | sed 's/^0*//')
part whole
part calls --calls region_work
entry=$(bustap dump --csv calls_* 2>/dev/null | awk -F, 'NR == 2 { print $3 }')
[ "${entry: -3}" = "${function: -3}" ] || { echo "$entry is no $function"; exit 1; }
$cut whole_* calls "$entry" calls_*
gaps calls 19
part some --calls region_work --skip 7 --count 500
[ "$(bustap info some_* | awk '$1 == "ticks" { print $4 }')" = 500 ]
# instructions by address: only the function's, and skipped ones count in the times
part code --only-code region_work
read -r last <<<"$(bustap dump --csv code_* | awk -F, '$4 == "FETCH" { if ($3 > last) last = $3 } END { print last }')"
$cut whole_* code "$entry" "$last" code_*
part range --only-code "$entry-$last"
cmp <(zcat code_*) <(zcat range_*)
bustap info range_* | grep -q "^filter  *code $entry-$last\$"
part module --only-code module:exec_regions --filter 'type=FETCH'
bustap dump --csv module_* | awk -F, 'NR > 1 && ($4 != "FETCH" || substr($3, 1, 5) != substr(entry, 1, 5)) { bad++ }
    END { exit NR < 1000 || bad }' entry="$entry"
part written --filter 'type=MEMWRITE'
[ "$(bustap info written_* | awk '$1 == "records" { print $2 }')" = \
    "$(bustap dump --csv whole_* | grep -c ,MEMWRITE,)" ]
# skipped records are counted for each capture
records=$(bustap info whole_* | awk '$1 == "records" { print $2 }')
for name in code module written; do
    [ "$(jq '.source.seen, .source.accepted + .source.filtered' "$name.json" | tr '\n' ' ')" = "$records $records " ] ||
        { jq .source "$name.json"; exit 1; }
done
# an empty capture is reported with --quiet, too, and is a failure
empty() { # REASON OPTION...: nothing is captured, and why
    local reason=$1 status=0
    shift
    bustap exec -q -o none --append "$@" 2>messages || status=$?
    [ "$status" = 1 ] && grep -q "$reason" messages && grep -q '^bustap: the capture is empty' messages ||
        { echo "$*: status $status"; cat messages; exit 1; }
}
empty 'loaded no file nonesuch' --only-code module:nonesuch -- "${run[@]}"
empty 'has a function nonesuch' --only-code nonesuch -- "${run[@]}"
cat >unused.c <<'END'
static volatile int sum;
static inline __attribute__((always_inline)) void apart(int x)
{
    for (int i = 0; i < x; i++)
        sum += 2 * i;
}
__attribute__((noinline)) int never(int x) { return x + sum; }
__attribute__((noinline)) void around(int x) { apart(x); sum++; }
int main(int count, char **words)
{
    (void)words;
    around(count);
    return count > 50 ? never(count) : 0;
}
END
gcc -g -O1 -o unused unused.c
empty 'empty: the program executed no instruction of never$' --only-code never ./unused
empty '^bustap: apart is inlined into around$' --only-code apart ./unused
empty '^bustap: apart is inlined into around$' --start-at apart+0x1 ./unused
empty 'never reached never$' --start-at never ./unused
empty 'never reached never$' --calls never ./unused
empty 'empty: no record matched the filter$' --filter address=1 ./unused
empty 'empty: the program executed no instruction of main that matches the filter$' --only-code main --filter address=1 ./unused
empty 'empty: no record matched the trigger$' --trigger address=1 --pre 10 --post 10 ./unused
empty 'ended before the instructions of --skip' --only-fetch --skip 1G ./unused
bustap exec -q -o snapshots --ring 1M ./unused # files are made on demand
status=0
bustap exec -q -o fails --only-code nonesuch sh -c 'exit 7' 2>messages || status=$?
[ "$status" = 7 ] && grep -q 'the capture is empty' messages || { echo "status $status"; cat messages; exit 1; }
# all code of a module, whenever it is mapped
cat >library.c <<'END'
__attribute__((section(".more,\"awx\",@progbits#"), noinline)) int apart(int x) { return x * 3; }
int library(int x) { return apart(x) + 1; }
END
printf '%s\n' 'int library(int);' 'int main(void) { return library(1) != 4; }' >uses.c
gcc -O1 -shared -fPIC -o library.so library.c 2>/dev/null # a warning of writable code
gcc -O1 -o uses uses.c ./library.so
bustap exec -q -o uses --only-code module:library.so --modules modules ./uses
apart=$(nm library.so | awk '$3 == "apart" { print $1 }')
base=$(sed -n 's/.*library.so@0x//p' modules)
bustap dump --csv uses_* | grep -q ",$(printf '0x%08x' $((16#$apart + 16#$base))),FETCH," ||
    { bustap dump --csv uses_* | tail; cat modules; exit 1; }
# no edge across skipped records
part jumps --only-code region_work --modules modules
# shellcheck disable=SC2046
bustap dcfg build $(sed 's/^/--image /' modules) -o jumps.dcfg jumps_* 2>messages
grep -q 'holes in the capture' messages || { cat messages; exit 1; }
# each region is from BUSTAP_BEGIN to BUSTAP_END
part marked --markers
gaps marked 19
# all of them in one block
bustap recover marked_* -o again.byu.gz 2>messages
grep -q ' in 1 block saved' messages || { cat messages; exit 1; }
bustap verify again.byu.gz | grep -q ', 19 gaps, chosen$'
bustap dump --csv marked_* 2>/dev/null | awk -F, '$4 == "FETCH" && $5 == 8 { n++ } END { exit n != 40 }'
# a call left by longjmp() ends at the next call from further up the stack
run=("$program" 20 longjmp)
part left --calls region_work

# ends of samples at faults, string instructions, system calls and signals
run=("$program" 12 signals)
part whole
for sample in 1/1 3/4 5/9; do
    part sample --sample $sample
    $cut whole_* sample ${sample%/*} ${sample#*/} 0 0 sample_*
done
part fetches --only-fetch
[ "$(bustap info fetches_* | awk '$1 == "records" { print $2 }')" = \
    "$(bustap info whole_* | awk '$2 == "FETCH" || $3 == "FETCH" { print $(NF - 2) }')" ]
# samples do not change the schedule of threads
run=("$program" 40 threads)
part whole --quantum 777
part sample --quantum 777 --sample 100/900
$cut whole_* sample 100 900 0 0 sample_*

# threads: each its own calls, all of them
run=("$program" 30 threads)
part threads --calls region_work
bustap dump --csv threads_* 2>/dev/null | awk -F, -v entry="$entry" '
    $4 == "FETCH" && $3 == entry { calls[$7]++ } END { exit calls[1] != 30 || calls[2] != 30 }'
rm -f each*
bustap exec -q -o each --split-threads --calls region_work -- "${run[@]}"
for thread in 1 2; do
    bustap verify each-t${thread}_* | grep -q 'nothing lost, 29 gaps, chosen$'
done
rm -f each*
bustap exec -q -o each --summary each.json --split-threads --filter 'type=MEMWRITE' -- "${run[@]}"
jq -se 'map(select(.source.seen != .source.accepted + .source.filtered or .source.filtered < 1000)) == []' each.json \
    >/dev/null || { cat each.json; exit 1; }
# a child continues at its parent's position; neither has a gap before its first record
run=("$program" 5 fork)
rm -f child*
bustap exec -q -o child --follow --calls region_work -- "${run[@]}"
bustap verify child-p1_* | grep -q 'nothing lost, 4 gaps, chosen$'
# its times start with the child, with or without skipped records
bustap exec -q -o whole --append --follow -- "${run[@]}"
bustap exec -q -o data --follow --only-data -- "${run[@]}"
cmp <(bustap dump --csv whole-p1_* | grep -v ,FETCH, | cut -d , -f 2-7) <(bustap dump --csv data-p1_* | cut -d , -f 2-7)

# regions do not change what the program does
for options in '--sample 500/500' '--calls malloc' '--calls free --count 1000 --exit' '--markers'; do
    # shellcheck disable=SC2086
    status=0
    bustap exec -q -o same --append $options -- gzip -nc input >got 2>messages || status=$?
    [ "$status" = 0 ] || grep -q 'the capture is empty' messages || { cat messages; exit 1; }
    [[ "$options" == *--exit* ]] || cmp got <(gzip -nc input)
done
