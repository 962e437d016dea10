#!/bin/bash
# What it costs to capture a program's references into files: seconds of processor time, natively and under
# `bustap exec` with its compression threads, and from start to end.
#
# usage: exec_files.bench.sh [KILOBYTES_FOR_GZIP]    (100)
set -eu

head -c $((${1:-100} * 1000)) "$BUILD/bustap" >file
echo 'int f(int x) { int s = 0; for (int i = 0; i < x; i++) s += i * i; return s; }' >f.c
TIMEFORMAT='%R %U %S'

# PROGRAM ARGUMENT...: "elapsed processor" of the fastest of three
seconds() {
    local run
    for run in 1 2 3; do
        { time "$@" >/dev/null 2>&1; } 2>&1 | awk '{ print $1, $2 + $3 }'
    done | sort -n | head -n 1
}

# compare NAME COMMAND...: both engines
compare() {
    local native captured records bytes engine
    native=$(seconds "${@:2}")
    for engine in programs blocks; do
        captured=$(seconds bustap exec -q --append --engine $engine -o run/x "${@:2}")
        rm -rf run
        bustap exec -q --engine $engine -o run/x --summary summary "${@:2}" >/dev/null 2>&1
        records=$(sed 's/.*"records":\([0-9]*\).*/\1/' summary)
        bytes=$(cat run/x* | wc -c)
        rm -rf run
        awk -v name="$1, $engine" -v native="$native" -v captured="$captured" -v records="$records" -v bytes="$bytes" 'BEGIN {
            split(native, n); split(captured, c)
            printf "  %-18s native %.3f s; captured %.2f s, %.0f times; processor time %.2f s, %.0f times; %.1f ns and %.3f bytes a record of %.0f million\n",
                name, n[1], c[1], c[1] / n[1], c[2], c[2] / n[2], c[2] / records * 1e9, bytes / records, records / 1e6 }'
    done
}

echo "exec_files: references of programs, compressed, in files"
compare gzip gzip -9 -c file
if command -v sqlite3 >/dev/null; then
    compare sqlite3 sqlite3 :memory: \
        'create table t(a,b); with recursive n(i) as (select 1 union all select i+1 from n where i<30000)
         insert into t select i, i*i%97 from n; select b, count(*), sum(a) from t group by b order by b limit 9;'
fi
compare cc1 "$(gcc -print-prog-name=cc1)" -quiet -O2 f.c -o -
