#!/bin/bash
# The man pages have exactly the commands and options of the programs; the examples of bustap(1) run
# unchanged.
set -eu -o pipefail
PATH="$BUILD/tests/e2e:$PATH"
manual=$TOP/doc/bustap.1

# the section of a page about one command
part() {
    awk -v name="$2" '/^\.S[sh]/ { on = $1 == ".Ss" && $2 == name } on' "$1"
}

# Names of options, of -h and of a page.
options_of_help() {
    sed -n 's/^  \(-., \|    \)--\([a-z0-9-]*\).*/\2/p' | grep -v '^help$' | sort || true
}
options_of_page() {
    sed -n 's/^\.It Fl \([a-z] , \)*-\([a-z][a-z0-9-]*\).*/\2/p' | sort
}

# check_page PAGE PROGRAM...: the page against the program's help
check_page() {
    local page=$1 command commands options
    shift
    commands=$("$@" -h | sed -n 's/^  \([a-z]*\)  .*/\1/p')
    [ "$commands" = "$(sed -n 's/^\.Ss //p' "$page" | tr '\n' ' ' | xargs -n 1)" ] ||
        { echo "commands of $page"; exit 1; }
    for command in $commands; do
        in_page=$page
        options=$("$@" "$command" -h | options_of_help)
        # a command with a separate page has its options there
        [ -z "$options" ] || [ ! -f "$TOP/doc/bustap-$command.1" ] || in_page=$TOP/doc/bustap-$command.1
        # sections in small letters are of subcommands
        { [ "$in_page" = "$page" ] && part "$page" "$command" || sed '/^\.Ss [a-z]*$/,$d' "$in_page"; } | options_of_page |
            diff - <([ -z "$options" ] || echo "$options") || { echo "options of $command"; exit 1; }
    done
}

# Subcommands beside the options of the command itself: check_subcommands PAGE PROGRAM COMMAND.
check_subcommands() {
    local page=$1 command
    shift
    for command in $(sed -n 's/^\.Ss \([a-z]*\)$/\1/p' "$page"); do
        "$@" "$command" -h | options_of_help | diff - <(part "$page" "$command" | options_of_page) ||
            { echo "options of $command"; exit 1; }
    done
}

check_page "$manual" bustap
check_page "$TOP/doc/bustap-dcfg.1" bustap dcfg
check_subcommands "$TOP/doc/bustap-wet.1" bustap wet

# --- the examples ---

examples() {
    awk '/^\.Sh/ { on = $2 == "EXAMPLES" } on && /^\.Bd/ { in_it = 1; next } /^\.Ed/ { in_it = 0 }
         on && in_it' "$manual" | sed 's/^\$ //; s/\\e$/\\/'
}

# the files that they name
make_trace --types all 3000 >trace.byu
make_capture unclosed=1 killed
mv killed_1.byu.gz killed_00001_20261120T224500Z.byu.gz.part
cat >conf <<END
[capture example]
board = virtual:smp=2,rate=100k
output = ./daemon/example
END
bustapd -c conf --socket ./control 2>log &
daemon=$!
# it may answer before its captures run
until bustap ctl --socket ./control status 2>/dev/null | grep -q running; do sleep 0.05; done

examples >script
[ "$(grep -c 'bustap\|b2a' script)" -ge 9 ]
# head ends early: SIGPIPE may end zcat
set +o pipefail
# shellcheck disable=SC1091
. ./script >out 2>err
set -o pipefail
kill $daemon
wait $daemon

grep -q '^complete: [0-9]* records in [0-9]* files, nothing lost$' out
grep -q '"running"' out
[ "$(grep -c '^1000[0-9],' out)" -ge 10 ]
[ "$(ls ring_*.byu.gz | wc -l)" = 3 ]
bustap verify p0_*.byu.gz saved.byu.gz >verdict || true
grep -q '^complete' verdict
