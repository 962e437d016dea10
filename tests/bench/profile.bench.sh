#!/bin/bash
# Profiles of whole programs: bustap profile, without and with reads and writes, beside valgrind's callgrind, in
# processor seconds; and what both count.
#
# usage: profile.bench.sh [TIMES]    how much there is to do for each program (1)
set -eu

times=${1:-1}
cc -O2 -g -o compute "$TOP/tests/bench/programs/compute.c"
for _ in $(seq $((20 * times))); do cat "$TOP/CHANGELOG.md" "$TOP/README.md" "$TOP"/doc/*.md; done >text
{
    echo 'create table t(a integer, b text);'
    echo "with recursive n(i) as (select 1 union all select i + 1 from n where i < $((60000 * times)))
          insert into t select (i * 7919) % 10007, 'row ' || i from n;"
    echo 'create index i on t(a); select count(*), sum(length(b)) from t where a between 100 and 5000;'
    echo 'select a % 17, count(*), max(b) from t group by 1 order by 2, 1;'
} >queries

# seconds COMMAND...: user and system, of one run; the fastest of three where it is short
seconds() {
    local best=999999999 used runs=3
    while [ "$runs" -gt 0 ]; do
        used=$({ TIMEFORMAT='%U %S'; time "$@" <"$input" >/dev/null 2>&1; } 2>&1 | tail -n 1 |
            awk '{ printf "%d", ($1 + $2) * 1000 }')
        [ "$used" -ge "$best" ] || best=$used
        [ "$used" -lt 3000 ] || break
        runs=$((runs - 1))
    done
    echo "$best"
}
ratio() {
    awk -v part="$1" -v whole="$2" 'BEGIN { if (whole > 0) printf "%.1f", part / whole; else printf "-" }'
}

echo "profile: processor seconds natively, and times as long under each; millions of instructions"
printf '%-12s %8s %8s %8s %10s %12s %12s\n' program native profile --data callgrind profile callgrind
compare() { # NAME INPUT COMMAND...
    local name=$1 native ours data theirs=0 counted other=-
    input=$2
    shift 2
    native=$(seconds "$@")
    ours=$(seconds bustap profile --by module -o report -- "$@")
    counted=$(sed -n 's/.*, \([0-9]*\) instructions, .*/\1/p' report)
    data=$(seconds bustap profile --by module --data -o report -- "$@")
    if command -v valgrind >/dev/null; then
        theirs=$(seconds valgrind --tool=callgrind --callgrind-out-file=profile "$@")
        other=$(sed -n 's/^totals: //p' profile)
        other=$(ratio "$other" 1000000)
    fi
    printf '%-12s %8s %8s %8s %10s %12s %12s\n' "$name" "$(ratio "$native" 1000)" "$(ratio "$ours" "$native")" \
        "$(ratio "$data" "$native")" "$(ratio "$theirs" "$native")" "$(ratio "$counted" 1000000)" "$other"
}
compare compute /dev/null ./compute "$((3 * times))"
compare 'gzip -9' /dev/null gzip -9 -c text
command -v sqlite3 >/dev/null && compare sqlite3 queries sqlite3 :memory:
compare 'gcc (cc1)' /dev/null "$(gcc -print-prog-name=cc1)" -quiet -O2 -o /dev/null \
    -I"$TOP" -imultiarch x86_64-linux-gnu -D_GNU_SOURCE "$TOP/formats/text/table.c"
