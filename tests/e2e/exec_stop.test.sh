#!/bin/bash
# A program under `bustap exec` that is stopped, and continued: as natively, whoever does it.
set -eu
[ -z "$NO_EXEC" ] || { echo "$NO_EXEC"; exit 77; }

# both SCRIPT: bash does it; $run stands for "bustap exec" or nothing
both() {
    local wanted=0 got=0
    run='' setsid -w timeout -k 5 100 bash -c "$1" >wanted 2>wanted.err || wanted=$?
    run='bustap exec -q -o stopped' setsid -w timeout -k 5 100 bash -c "$1" >got 2>got.err || got=$?
    [ "$wanted" != 124 ] || { echo "$1: does not end"; cat wanted wanted.err; exit 1; }
    [ "$wanted" = "$got" ] || { echo "$1: status $got, wanted $wanted"; cat got got.err; exit 1; }
    cmp wanted got || { echo "$1"; cat got got.err; exit 1; }
    bustap verify stopped_*.byu.gz >verdict || { cat verdict; exit 1; }
    rm -f stopped_* number
}

# says its number, stops itself, and goes on when somebody continues it
export program='echo $$ >number; kill -STOP $$; echo continued; exit 6'
# continues it as soon as it is stopped
export continue='until [ -s number ] && grep -q "^State:.T" "/proc/$(cat number)/status"; do sleep 0.02; done; kill -CONT "$(cat number)"'

# nobody has jobs: the program alone is continued, by a child, by another, by way of bustap
both '$run sh -c "($continue) & $program"'
both '(eval "$continue") & $run sh -c "$program"; status=$?; wait; exit $status'
both '$run sh -c "trap \"echo trapped\" CONT; ($continue) & $program"'

# a shell that has sees it stop, and continues all of it, bustap alone, or the program alone
job="python3 '$TOP/tests/e2e/exec_job.py'"
export twice='trap "echo trapped" CONT; kill -TSTP $$; kill -STOP $$; echo continued; exit 6'
both "$job group \$run sh -c \"\$twice\""
both "$job alone \$run sh -c \"\$twice\""
both "$job number \$run sh -c \"\$program\""
