#!/bin/bash
# Commands that read for more than a second show their progress on a terminal, and clear it before they print anything.
set -eu -o pipefail
PATH="$BUILD/tests/e2e:$PATH"

fail() {
    echo "$*"
    exit 1
}

make_trace --types all 400000 >trace.byu

# slow FILE: half of it, the rest after the second in which nothing is shown: it begins before the half is read, which
# does not fit in a pipe
slow() {
    local half=$(($(stat -c %s "$1") / 2))
    [ $half -ge 200000 ]
    head -c $half "$1"
    sleep 1.3
    tail -c +$((half + 1)) "$1"
}

# shows FILE COMMAND...: the command, with the file on standard input, shows its progress on a terminal
shows() {
    local file=$1
    shift
    slow "$file" >pipe &
    # script(1) makes the terminal; the file comes through a named pipe
    script -qec "{ $*; } <pipe >printed" /dev/null </dev/null >terminal 2>&1 || fail "$*: $(cat terminal)"
    wait $!
    grep -qE $'\r\033\\[K[^\r]*: +[0-9]+ (%|MiB)' terminal || fail "$*: no progress: $(cat -v terminal)"
    # the last line is cleared
    tr '\r' '\n' <terminal | grep $'^\033\\[K' | tail -n 1 | grep -qv ': *[0-9]* \(%\|MiB\)' || fail "$*: not cleared"
    if grep -q $'\033' printed; then fail "$*: progress in the output"; fi
}
mkfifo pipe

shows trace.byu bustap info --raw -
shows trace.byu bustap dump --raw -
shows trace.byu bustap cache --raw -
shows trace.byu bustap mrc --raw -
shows trace.byu bustap plot --csv --raw -
shows trace.byu bustap convert --raw --to csv -o - -
shows trace.byu bustap recover --raw -o recovered.byu.gz -
shows trace.byu bustap doctor --raw - "|| true"
shows trace.byu bustap top --raw -
shows trace.byu bustap cut --raw -q -o cut.byu.gz -
shows trace.byu bustap dcfg fetches --raw -

make_dcfg --outer 200 graph
{ printf '%500000s' '' && cat graph; } >graph.json
shows graph.json bustap dcfg functions -
shows graph.json bustap dcfg check -
# a failure of the check, and not of the reading
seq -f "no dependence %.0f" 30000 >dependences.txt
shows dependences.txt bustap depend check - "|| true"

# nothing in files
slow trace.byu | bustap info --raw - 2>errors >/dev/null
[ ! -s errors ] || fail "in a file: $(cat errors)"
