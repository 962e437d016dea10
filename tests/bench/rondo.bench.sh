#!/bin/bash
# What it costs to run a program under predictors: compressing sources natively and under
# `bustap rondo`, with one predictor, with all the usual ones, and with wrong paths.
#
# usage: rondo.bench.sh [KILOBYTES]    (50)
set -eu

cat "$TOP"/tools/*/*.c "$TOP"/formats/*/*.c | head -c $((${1:-50} * 1000)) >input || true

TIMEFORMAT='%U %S'
processor() { # COMMAND...: microseconds of a processor, the best of two
    local best=999999999 took
    for run in 1 2; do
        took=$({ time "$@" >/dev/null 2>&1; } 2>&1 | awk '{ printf "%d", ($1 + $2) * 1e6 }')
        [ "$took" -ge "$best" ] || best=$took
    done
    echo "$best"
}

program=(gzip -9 -c input)
many() { # so that its own time can be seen
    for n in {1..20}; do "${program[@]}"; done
}
native=$(($(processor many) / 20))
echo "rondo: ${program[*]}, natively $((native / 1000)) ms of a processor"
compare() { # OPTION...
    local took
    took=$(processor bustap rondo -o report "$@" -- "${program[@]}")
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
