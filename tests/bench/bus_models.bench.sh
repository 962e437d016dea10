#!/bin/bash
# Programs on simulated buses (tests/e2e/bus_models.c): the table of doc/benchmarks.md. Of each program the first 1.5 million instructions. Takes half
# an hour.
set -eu -o pipefail
case $BUILD in *sanitize*) echo "not with sanitizers"; exit 0 ;; esac

run() { # NAME COMMAND...
    local name=$1 modules
    shift
    bustap exec -q --only-fetch -n 1500000 --modules modules -o "$name" -- "$@" >output
    readarray -t modules <modules
    "$BUILD/tests/e2e/bus_models" "${modules[@]}" "$name"_*.byu.gz >"$name.table" || failed=1
    grep -B 1 FAILED "$name.table" | sed "s/^/$name: /" || : # there is none
}

failed=0
for i in 1 2 3 4 5 6 7; do sed "s/ / $i /7" "$TOP/LICENSE"; done >text
gcc -std=c11 -O1 -g -static -no-pie -o switches "$TOP/tests/e2e/programs/switches.c"
run switches ./switches 20 || : # the status is the program's
run gzip gzip -9 -c text
run sort sort text
run sed sed -E 's/([a-z]+) ([a-z]+)/\2 \1/g' text
run perl perl -ne '$c{$_}++ for split; END { print "$_ $c{$_}\n" for sort keys %c }' text
run awk awk '{ for (i = 1; i <= NF; i++) c[$i]++ } END { for (w in c) print c[w], w }' text

"$TOP/tests/bench/bus_models_table" ./*.table
exit $failed
