#!/bin/bash
# Studies divided among processes of one machine: bustap cache, a sweep, and bustap mrc with one and two processes
# under mpirun, each with one thread, beside the program without MPI. Records are in a raw file.
#
# usage: mpi.bench.sh [MILLION_RECORDS]    (20)
set -eu

mpi=$BUILD/mpi/bustap
if [ ! -x "$mpi" ] || ! command -v mpirun >/dev/null; then
    echo "mpi: mpirun is not here, or the program for it is not built (make MPI=1)"
    exit 0
fi
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
records=${1:-20}000000
"$BUILD/tests/e2e/make_trace" "$records" >trace.byu

seconds() { # COMMAND...: wall-clock seconds, the best of three
    local best=999999 start end run
    for run in 1 2 3; do
        start=$(date +%s%N)
        "$@" >/dev/null
        end=$(date +%s%N)
        [ $((end - start)) -ge $((best * 1000000)) ] || best=$(((end - start) / 1000000))
    done
    printf '%d.%02d' $((best / 1000)) $((best % 1000 / 10))
}

echo "mpi: $records records; seconds from start to end"
printf '%-44s %9s %9s %9s\n' '' alone '1 process' 2
compare() {
    printf '%-44s %9s %9s %9s\n' "$*" "$(seconds bustap "$@" trace.byu)" \
        "$(seconds mpirun --bind-to none -n 1 "$mpi" "$@" trace.byu)" "$(seconds mpirun --bind-to none -n 2 "$mpi" "$@" trace.byu)"
}
compare cache --l1 32K,ways=8 --l2 1M,ways=16 --threads 1
compare cache --l1 32K,ways=8 --coherence mesi --threads 1
compare cache --sweep size=1K..1M,ways=1,2,4,8 --threads 1
compare mrc --threads 1
