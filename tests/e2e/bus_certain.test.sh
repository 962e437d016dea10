#!/bin/bash
# No certain count of a graph exceeds the truth: executed programs on simulated buses, through the commands that a user
# runs, compared with the instructions as they were executed.
set -eu -o pipefail
[ -z "$NO_EXEC" ] || { echo "$NO_EXEC"; exit 77; }
PATH="$BUILD/tests/e2e:$PATH"

# compare MODEL NOISE LEAST OPTIONS...: build with these options; at least LEAST percent of the executions are certain
compare() {
    local model=$1 noise=$2 least=$3 executions certain excess branches=
    shift 3
    bustap dcfg build -o graph.json "$@" fetches.byu 2>messages || { cat messages; exit 1; }
    bustap dcfg check graph.json >checked || { head checked; exit 1; }
    bustap dcfg blocks --json graph.json >blocks.json
    case $model in *refetch*) ;; *) branches=branches ;; esac
    python3 "$TOP/tests/support/certain_counts.py" "$program.csv" blocks.json $branches >compared || {
        echo "$program, $model, noise $noise, $*"
        cat messages
        exit 1
    }
    read -r executions certain excess <compared
    if [ "$excess" != 0 ] || [ $((100 * certain)) -lt $((least * executions)) ]; then
        echo "$program, $model, noise $noise, $*: of $executions executions $certain are certain"
        exit 1
    fi
    printf '%s %s %s %s: %s of %s\n' "$program" "$model" "$noise" "$*" "$certain" "$executions"
}

for program in switches recursion; do
    "${CC:-gcc}" -std=c11 -O1 -g -static -no-pie -o "$program" "$TOP/tests/e2e/programs/$program.c"
    bustap exec -q --only-fetch -o "$program" "./$program" 20 >/dev/null || : # the status is the program's
    bustap dump --csv --filter type=FETCH "${program}"_*.byu.gz >"$program.csv"
done

while read -r program model without with visits; do # percent of certain executions without and with noise, of visits
    bus_models --write "$model" 0 0 "$program" "${program}"_*.byu.gz >fetches.byu
    compare "$model" 0 "$without" --image "$program"
    compare "$model" 0 "$visits" --bus "$model"
    [ "${model%%,*}" = chunk=4 ] || compare "$model" 0 0
    bus_models --write "$model" 0 5 "$program" "${program}"_*.byu.gz >fetches.byu
    compare "$model" 5 "$with" --image "$program"
    compare "$model" 5 0 --bus "$model,noise"
    compare "$model" 5 0 --image "$program" --keep-noise
    compare "$model" 5 0 --bus "$model,noise" --keep-noise
done <<'END'
switches chunk=4 90 50 99
recursion chunk=4,refetch=each,ahead=1 90 0 0
switches chunk=8 90 0 99
recursion chunk=8,refetch=each 90 50 99
switches chunk=8,refetch=some 90 0 99
recursion chunk=8,ahead=1 75 0 0
switches chunk=8,refetch=some,ahead=2 25 0 0
recursion chunk=16 75 0 99
switches chunk=16,refetch=each,ahead=2 90 0 0
recursion chunk=16,refetch=some,ahead=1 25 0 0
switches chunk=32 50 0 99
recursion chunk=32,refetch=each,ahead=1 90 0 0
END
