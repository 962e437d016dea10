#!/bin/bash
# What it costs to run a program under predictors: compressing sources natively and under
# `bustap rondo`, with one predictor, with all the usual ones, and with wrong paths.
#
# usage: rondo.bench.sh [KILOBYTES]    (100)
set -eu

cat "$TOP"/tools/*.c "$TOP"/formats/*.c | head -c $((${1:-100} * 1000)) >input || true

seconds() { # COMMAND...: wall-clock seconds, the best of two
    local best=999999999 start end
    for run in 1 2; do
        start=$(date +%s%N)
        "$@" >/dev/null
        end=$(date +%s%N)
        [ $((end - start)) -ge $((best * 1000)) ] || best=$(((end - start) / 1000))
    done
    echo "$best"
}

program=(gzip -9 -c input)
native=$(seconds "${program[@]}")
echo "rondo: ${program[*]}, natively $((native / 1000)) ms"
compare() { # OPTION...
    local took
    took=$(seconds bustap rondo -o report "$@" -- "${program[@]}")
    awk -v what="$*" -v took="$took" -v native="$native" '
        NR == 1 { gsub(",", ""); instructions = $1; branches = $3 }
        END { printf "  %-40s %7.2f s, %6.1f times native, %6.1f ns a branch (%.1f million)\n",
                     what, took / 1e6, took / native, took * 1000 / branches, branches / 1e6 }' report
    sed -n 's/^.*On them: \([0-9,]*\) instructions.*/      \1 instructions on wrong paths/p' report
}
compare -p backward --depth 0
compare -p tage --depth 0
compare --depth 0
compare -p tage
compare
compare -p tage --wrong-path wrong.byu.gz
