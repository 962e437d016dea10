#!/bin/bash
# A program under `bustap exec` that is stopped and continued by any process behaves as natively.
set -eu
[ -z "$NO_EXEC" ] || { echo "$NO_EXEC"; exit 77; }

# both SCRIPT: runs it with bash twice; $run is "bustap exec" or empty
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

# prints its process ID, stops itself, and ends after it is continued
export program='echo $$ >number; kill -STOP $$; echo continued; exit 6'
# continues it as soon as it is stopped
export continue='until [ -s number ] && grep -q "^State:.T" "/proc/$(cat number)/status"; do sleep 0.02; done; kill -CONT "$(cat number)"'

# without job control: the program alone is continued, by a child, by another process, or through bustap
both '$run sh -c "($continue) & $program"'
both '(eval "$continue") & $run sh -c "$program"; status=$?; wait; exit $status'
both '$run sh -c "trap \"echo trapped\" CONT; ($continue) & $program"'

# a shell with job control sees the stop, and continues the job, bustap, or the program
job="python3 '$TOP/tests/e2e/exec_job.py'"
export twice='trap "echo trapped" CONT; kill -TSTP $$; kill -STOP $$; echo continued; exit 6'
both "$job group \$run sh -c \"\$twice\""
both "$job alone \$run sh -c \"\$twice\""
both "$job number \$run sh -c \"\$program\""
