#!/bin/bash
# Dependence tracing of whole programs: processor time in times of what they take natively (least of three), beside all
# references delivered (exec_programs) and valgrind's cachegrind, which simulates caches for every reference; and memory.
#
#   all       all references delivered to a consumer that reads every record
#   raw       bustap depend --kinds raw
#   kinds     bustap depend, all three kinds, with loops and verdicts
#   memory    what raw and kinds need more than all, in bytes for each byte of the native program's memory
#   plug-in   the program instrumented by the plug-in of GCC, -O1: raw, and all kinds
set -eu
case $BUILD in *sanitize*) echo "not with sanitizers"; exit 0 ;; esac
# shellcheck source=tests/bench/traced_programs.sh
. "$TOP/tests/bench/traced_programs.sh"

program() { # NAME RUNS COMMAND...
    local name=$1 runs=$2 native all raw kinds peer=-
    shift 2
    native=$(measure 3 "$@")
    all=$(measure 3 "$BUILD/tests/bench/exec" --way all "$@")
    raw=$(measure "$runs" bustap depend --kinds raw -o report "$@")
    kinds=$(measure "$runs" bustap depend -o report "$@")
    if command -v valgrind >/dev/null; then
        peer=$(measure 1 valgrind --tool=cachegrind --cachegrind-out-file=out "$@")
    fi
    echo "$name $native $all $raw $kinds $peer" | awk '{
        printf "%-8s %6.3f %8.1f %8.1f %8.1f %9.1f %8.2f %8.2f %8.1f %8.1f\n", $1, $2, $4 / $2, $6 / $2, $8 / $2, $10 / $2,
            $6 / $4, $8 / $6, ($7 - $5) / $3, ($9 - $5) / $3 }'
}

make_programs
echo "processor time, times native (native: seconds); ratios; memory"
printf '%-8s %6s %8s %8s %8s %9s %8s %8s %8s %8s\n' '' native all raw kinds cachegr raw/all kinds/raw m.raw m.kinds
program compute 3 ./compute 3
program gzip 3 "$(command -v gzip)" -9 -c text
! command -v sqlite3 >/dev/null || program sqlite3 2 "$(command -v sqlite3)" :memory: '.read queries'
[ -z "${WITH_CC1:-}" ] || program cc1 1 "$(gcc -print-prog-name=cc1)" -quiet -O2 decode.i -o decode.s

if flags=$(bustap depend --cflags 2>/dev/null); then
    gcc -O1 -g -o plain "$TOP/tests/bench/programs/compute.c"
    # shellcheck disable=SC2046,SC2086 # lists
    gcc -O1 -g $flags -o instrumented "$TOP/tests/bench/programs/compute.c" $(bustap depend --libs)
    export BUSTAP_DEPEND_OUTPUT=report
    native=$(measure 3 ./plain 3)
    raw=$(BUSTAP_DEPEND_OPTIONS='--kinds raw' measure 3 ./instrumented 3)
    kinds=$(measure 3 ./instrumented 3)
    echo "plug-in, compute -O1: $native $raw $kinds" | awk '{
        printf "\n%s %s %s natively %.3f s; raw %.1f, all kinds %.1f times that\n", $1, $2, $3, $4, $6 / $4, $8 / $4 }'
fi
