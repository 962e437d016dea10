#!/bin/bash
# bustap mrc prints the same with any number of threads, and of processes under mpirun, for raw records
# and captures; damaged ones included.
set -eu -o pipefail
PATH="$BUILD/tests/e2e:$PATH"

make_trace --types all 60000 >trace.byu
make_capture files=3 file_records=9000 block_records=777 bus=3 capture

# same COMMAND...: the output is that of one thread
same() {
    "$@" >out
    cmp one out || { echo "$*: another result"; exit 1; }
}

check() {
    local files=$1 options
    while read -r options; do
        # shellcheck disable=SC2086
        bustap mrc $options --threads 1 $files >one
        # shellcheck disable=SC2086
        for threads in 2 3 8; do
            same bustap mrc $options --threads "$threads" $files
        done
        [ "$(wc -l <one)" -gt 4 ]
    done
}

check trace.byu <<END
--csv
--json --by processor,kind --split
--sets 16 --line 32,64 --points 2
--csv --window 7777
--csv --window 100000ticks --by kind
--json --working-set 3333 --line 16
--working-set 50000ticks
--json --reuse-time references
--csv --reuse-time ticks --window 10000
--csv --sample-rate 20%
END
check 'capture_3.byu.gz capture_1.byu.gz capture_2.byu.gz' <<END
--csv --line 16,256
--window 1ms
--csv --working-set 5ms --by processor
END

# damaged captures: the same records, and the same reports
mkdir damaged
cp capture_*.byu.gz damaged
head -c 200 /dev/zero | dd of=damaged/capture_1.byu.gz bs=1 seek=9000 conv=notrunc status=none
dd if=capture_3.byu.gz of=damaged/capture_3.byu.gz bs=1000 count=5 status=none
for options in '--csv --line 16,256' '--csv --window 777' '--json --window 100us' '--csv --reuse-time ticks'; do
    status=0
    # shellcheck disable=SC2086
    bustap mrc $options --threads 1 damaged/* >one 2>one.err || status=$?
    [ $status -eq 1 ]
    for threads in 2 5; do
        status=0
        # shellcheck disable=SC2086
        bustap mrc $options --threads "$threads" damaged/* >out 2>err || status=$?
        cmp one out || { echo "$options of damaged files, $threads threads: another result"; exit 1; }
        cmp one.err err
        [ $status -eq 1 ]
    done
done

# the first trace determines the clock
bustap mrc --json --threads 1 --concatenate capture_1.byu.gz trace.byu >one
grep -q clock_hz one
same bustap mrc --json --threads 3 --concatenate capture_1.byu.gz trace.byu
bustap mrc --json --threads 1 --concatenate trace.byu capture_1.byu.gz >one
same bustap mrc --json --threads 3 --concatenate trace.byu capture_1.byu.gz

# standard input, which is not divided
bustap mrc --csv trace.byu >one
same bustap mrc --csv --threads 4 <trace.byu
same bustap mrc --csv - <trace.byu

# --- JSON and CSV have the same content ---

while read -r options; do
    # shellcheck disable=SC2086
    bustap mrc --csv $options trace.byu | sed 1d | cut -d, -f 5,7-11 >csv
    # shellcheck disable=SC2086
    bustap mrc --json $options trace.byu | jq -r '.curves[] | (.windows // [.])[] |
        .from as $from | .references as $references | .compulsory as $compulsory | .points[] |
        "\($from // ""),\(.lines // .ways),\(.bytes),\($references),\($compulsory),\(.misses)"' >json
    [ "$(wc -l <csv)" -gt 3 ]
    cmp csv json
done <<END
--by processor,kind
--window 7k --line 16,64
--window 50000ticks --split
--sets 16
END

# --- pictures ---

if gnuplot --version >/dev/null 2>&1; then
    for options in '--split --by processor' '--window 5k' '--working-set 10k' '--reuse-time ticks' '--sets 4'; do
        # shellcheck disable=SC2086
        bustap mrc $options --plot picture.svg trace.byu >/dev/null
        grep -q '</svg>' picture.svg
        rm picture.svg
    done
    cp trace.byu picture.png
    ! bustap mrc picture.png --plot picture.png >/dev/null 2>&1 || { echo "the trace is overwritten"; exit 1; }
    cmp trace.byu picture.png
fi

# --- processes ---

if [ -x "$BUILD/mpi/bustap" ] && mpirun --version >/dev/null 2>&1; then
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    run() {
        same mpirun --oversubscribe -n "$1" "$BUILD/mpi/bustap" mrc "${@:2}"
    }
    run 3 --csv trace.byu
    bustap mrc --csv --by processor --window 100us --threads 1 capture_*.byu.gz >one
    run 2 --csv --by processor --window 100us --threads 2 capture_*.byu.gz
    bustap mrc --json --threads 1 --concatenate capture_1.byu.gz trace.byu >one
    run 3 --json --concatenate capture_1.byu.gz trace.byu
    # several processes refuse several traces, too
    for command in mrc 'cache --l1 4K,ways=1' 'cache --sweep size=1K..2K'; do
        status=0
        timeout 300 mpirun --oversubscribe -n 2 "$BUILD/mpi/bustap" $command capture_1.byu.gz trace.byu >out 2>err || status=$?
        [ $status -ne 0 ] && [ $status -ne 124 ] && [ ! -s out ] && grep -q '^bustap: 2 traces are given' err || exit 1
    done
    bustap mrc --csv damaged/* >one 2>one.err || [ $? -eq 1 ]
    mpirun --oversubscribe -n 2 "$BUILD/mpi/bustap" mrc --csv damaged/* >out 2>err || [ $? -eq 1 ]
    cmp one out
    [ "$(grep -c '^bustap:' err)" -eq "$(grep -c '^bustap:' one.err)" ]
    ! mpirun --oversubscribe -n 2 "$BUILD/mpi/bustap" mrc missing.byu >out 2>err || exit 1
    grep -q 'cannot open missing.byu: No such file' err
fi
