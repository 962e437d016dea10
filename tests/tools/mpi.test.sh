#!/bin/bash
# Studies by several processes print the same as by one process, byte for byte.
set -eu

mpi=$BUILD/mpi/bustap
if [ ! -x "$mpi" ] || ! command -v mpirun >/dev/null; then
    echo "Open MPI is missing, or the program for it is not built"
    exit 77
fi
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
run() { mpirun --oversubscribe -n "$@"; }

# the command in the README, as a user, or as root with the option that it names
bustap capture --quiet --board virtual:smp=2,requests=3000 -o trace
command=$(sed -n 's/^    \(mpirun .*\)/\1/p' "$TOP/README.md")
[ -n "$command" ]
[ "$(id -u)" -ne 0 ] || command="mpirun $(grep -o -e '--allow-run-as-root' "$TOP/README.md") ${command#mpirun}"
command=$(echo "$command --threads 1" | sed "s,build/mpi/bustap,$mpi,; s,--bind-to none,& --oversubscribe,")
env -u OMPI_ALLOW_RUN_AS_ROOT -u OMPI_ALLOW_RUN_AS_ROOT_CONFIRM sh -c "$command" >printed
bustap mrc trace_*.byu.gz | cmp - printed
rm trace_*.byu.gz

bustap capture --board virtual:smp=4,seed=2,requests=40000 -o smp --rotate size=100K --quiet

counts='1 2 3 5'
same() { # COMMAND...: the same output with each number of processes
    bustap "$@" >alone
    [ -s alone ]
    for processes in $counts; do
        run $processes "$mpi" "$@" >divided
        cmp alone divided || { echo "$processes processes: bustap $*"; exit 1; }
    done
}
same cache smp_*.byu.gz
same mrc smp_*.byu.gz
counts='2 3'
same cache --coherence mesi --l1 8K,ways=2 --lines 1000 --json smp_*.byu.gz
same cache --l1 1K,ways=1,line=512 --csv --threads 2 smp_*.byu.gz
same cache --sweep size=1K..16K,ways=1,2,full,line=32,64 --l1 split smp_*.byu.gz
same cache --sweep size=1K..4K --l1 ways=2,replacement=random --json --threads 2 smp_*.byu.gz
same cache --sweep size=1K..256K,ways=1,2,4 smp_*.byu.gz
same cache --l1 1K,replacement=fifo --sweep size=1K..16K,line=32,64 --json smp_*.byu.gz
same mrc --line 32,64,128 --by processor,kind --csv smp_*.byu.gz
same mrc --window 3000 --json smp_*.byu.gz
same mrc --working-set 1000 --csv smp_*.byu.gz
same mrc --reuse-time ticks --csv smp_*.byu.gz
same mrc --sets 64 smp_*.byu.gz
same mrc --sample-rate 1/4 --json smp_*.byu.gz
# a study that cannot be divided
same cache --l1 4K,ways=full --classify smp_*.byu.gz

# corruption is reported once, and the status is the worst of all
printf xx >>smp_00001_*.byu.gz
status=0
run 2 "$mpi" cache smp_*.byu.gz >divided 2>divided.err || status=$?
bustap cache smp_*.byu.gz >alone 2>alone.err || [ $? -eq $status ]
cmp alone divided
[ "$(grep -c '^bustap:' divided.err)" -eq "$(grep -c '^bustap:' alone.err)" ]

# a process that fails ends all of them
status=0
timeout 300 mpirun --oversubscribe -n 2 "$mpi" cache missing.byu >out 2>err || status=$?
if [ $status -eq 0 ] || [ $status -eq 124 ]; then exit 1; fi
[ ! -s out ]

# the program without MPI refuses to run under mpirun
status=0
run 2 bustap cache smp_*.byu.gz >out 2>err || status=$?
[ $status -ne 0 ]
grep -q 'make MPI=1' err
