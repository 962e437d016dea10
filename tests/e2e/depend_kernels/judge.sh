#!/bin/bash
# judge.sh [OPTION]: prints what `bustap depend` says of all kernels, and what it should, by summary.py [OPTION]. Leaves its
# files in the current folder: the table of all verdicts is verdicts.tsv.
set -eu -o pipefail
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../../.." && pwd)
compilers=()
for compiler in gcc clang; do
    if command -v "$compiler" >/dev/null; then compilers+=("$compiler"); else echo "$compiler: not here, skipped"; fi
done
compile() { # COMPILER LEVEL FILE OPTION...
    local compiler=$1 level=$2 language=${3##*.}
    if [ "$language" = cc ]; then
        compiler=${compiler/gcc/g++}
        compiler=${compiler/clang/clang++}
    fi
    [ "$(basename "$3")" != driver.c ] || level=-O1
    "$compiler" "$level" -I"$top" -w -c "${@:3}"
}
judge() { # COMPILER LEVEL
    local source language linker
    for language in c cc; do
        local program=kernels_$1$2_$language
        linker=$1
        [ "$language" = c ] || { linker=${1/gcc/g++} && linker=${linker/%clang/clang++}; }
        command -v "$linker" >/dev/null || { echo "$linker: not here, skipped" && continue; }
        for source in "$here"/*."$language" "$here/driver.c"; do
            compile "$1" "$2" "$source" -g -o "$program.$(basename "$source").o"
        done
        "$linker" -static -o "$program" "$program".*.o
        rm "$program".*.o
        python3 "$here/verdicts.py" "$1" "$2" "./$program" truth "$program.tsv"
    done
}
first=${compilers[0]}
for source in "$here"/*.c; do compile "$first" -O1 "$source" -DORACLE -o "oracle_$(basename "$source").o"; done
"$first" -o oracle oracle_*.o
./oracle >truth
jobs=()
for compiler in "${compilers[@]}"; do
    for level in -O0 -O1 -O2 -O3; do jobs+=("$compiler $level"); done
done
each_second() { # FROM
    local i
    for ((i = $1; i < ${#jobs[@]}; i += 2)); do
        # shellcheck disable=SC2086 # two words
        judge ${jobs[i]}
    done
}
each_second 0 &
each_second 1
wait $!
cat kernels_*.tsv >verdicts.tsv
for program in kernels_"$first"-O0_*[c]; do "./$program"; done >kernels
python3 "$here/summary.py" verdicts.tsv kernels truth "${@}"
