#!/bin/bash
# kill -9 in the middle of a capture: complete files are good, the open file contains all written blocks,
# and the prefix is free at once.
set -eu

for delay in 0.3 0.45 0.7; do
    parts=0
    until [ "$parts" -ge 1 ]; do # a kill between two files leaves none
        rm -rf out
        bustap capture --board virtual:smp=2 -o out/k --rotate size=64K --flush 20ms --quiet &
        capture=$!
        until [ "$(ls out/k_*.byu.gz 2>/dev/null | wc -l)" -ge 3 ]; do sleep 0.02; done
        sleep "$delay"
        kill -9 $capture
        wait $capture 2>/dev/null || true
        parts=$(ls out/k_*.part 2>/dev/null | wc -l)
    done
    # the complete files form a capture without an end, and have no other errors
    status=0
    bustap verify out/k_*.byu.gz >verdict || status=$?
    [ "$status" -eq 1 ] || { echo "verify gave $status"; cat verdict; exit 1; }
    bustap dump --count 1 out/k_00001_*.byu.gz >first
    [ -s first ]
    # gzip reads the same data from the files as from the recovered set
    number=0
    for file in out/k_*.byu.gz out/k_*.part; do
        number=$((number + 1))
        # status 1 is a file without an end: the kill can come before its first block, or within one
        bustap recover "$file" -o "$(printf 'recovered_%05d.byu.gz' $number)" >said 2>&1 ||
            [ $? -eq 1 ] || { cat said; exit 1; }
    done
    for file in recovered_*.byu.gz; do gzip -t "$file"; done
    zcat out/k_*.byu.gz >whole
    zcat recovered_*.byu.gz >recovered
    [ "$(stat -c %s recovered)" -ge "$(stat -c %s whole)" ]
    cmp -n "$(stat -c %s whole)" whole recovered
    rm -f recovered*

    # a second capture to the prefix starts and keeps the part files of the killed one
    bustap capture --board virtual:smp=2,requests=1000 -o out/k --append --quiet
    [ "$(ls out/k_*.part | wc -l)" -eq "$parts" ]
    [ ! -e out/.k.lock ]
done
