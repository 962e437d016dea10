#!/bin/bash
# judge.sh: prints what `bustap depend` says of all kernels, and what it should. Leaves its files in the current folder:
# the table of all verdicts is verdicts.tsv.
set -eu -o pipefail
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../../.." && pwd)
compilers=()
for compiler in gcc clang; do
    if command -v "$compiler" >/dev/null; then compilers+=("$compiler"); else echo "$compiler: not here, skipped"; fi
done
first=${compilers[0]}
sources=("$here"/*.c)
for source in "${sources[@]}"; do "$first" -O1 -I"$top" -w -DORACLE -c -o "oracle_$(basename "$source" .c).o" "$source"; done
"$first" -o oracle oracle_*.o
./oracle >truth
compile() { # COMPILER LEVEL
    local program=kernels_$1$2 source
    for source in "${sources[@]}"; do
        local level=$2
        [ "$(basename "$source")" != driver.c ] || level=-O1
        "$1" -I"$top" -g "$level" -w -c -o "$program.$(basename "$source" .c).o" "$source"
    done
    "$1" -static -o "$program" "$program".*.o
    rm "$program".*.o
    python3 "$here/verdicts.py" "$1" "$2" "./$program" truth "$program.tsv"
}
jobs=()
for compiler in "${compilers[@]}"; do
    for level in -O0 -O1 -O2 -O3; do jobs+=("$compiler $level"); done
done
export -f compile
export here top
half() { # EVERY SECOND FROM
    local i
    for ((i = $1; i < ${#jobs[@]}; i += 2)); do
        # shellcheck disable=SC2086 # two words
        compile ${jobs[i]}
    done
}
half 0 &
half 1
wait $!
cat kernels_*.tsv >verdicts.tsv
./kernels_"$first"-O0 >kernels.list
python3 "$here/summary.py" verdicts.tsv kernels.list truth "${@}"
