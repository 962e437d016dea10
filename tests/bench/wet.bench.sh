#!/bin/bash
# WET traces of whole programs: processor time in times of what they take natively (least of the runs), beside all
# references delivered (exec_programs); bytes an executed instruction; memory; then slices, text and replay of traces.
#
#   all       all references delivered to a consumer that reads every record
#   deps      bustap wet --no-values
#   values    bustap wet
#   history   bustap wet --history
#   B/deps    bytes of the file for each executed instruction, without values; B/val with them
#   memory    what deps and values need more than native, in bytes for each byte of the native program's memory
#   slice     seconds for a backward slice of the part of a run with 100 million instructions, the first and the tenth
#   print     MB of text a second
set -eu
case $BUILD in *sanitize*) echo "not with sanitizers"; exit 0 ;; esac
# shellcheck source=tests/bench/traced_programs.sh
. "$TOP/tests/bench/traced_programs.sh"

# bytes_each: bytes of the file for each instruction, as the latest recording said
bytes_each() {
    sed -n 's/.* bytes, \([0-9.]*\) bytes an instruction$/\1/p' messages
}

program() { # NAME RUNS COMMAND...
    local name=$1 runs=$2 native all deps values history small large
    shift 2
    native=$(measure 3 "$@")
    : >messages
    all=$(measure "$runs" "$BUILD/tests/bench/exec" --way all "$@")
    deps=$(measure "$runs" bustap wet --no-values -o trace.wet -- "$@")
    small=$(bytes_each)
    values=$(measure "$runs" bustap wet -o trace.wet -- "$@")
    large=$(bytes_each)
    history=$(measure "$runs" bustap wet --history -o history -- "$@")
    echo "$name $native $all $deps $values $history $small $large" | awk '{
        printf "%-8s %6.3f %7.1f %7.1f %7.1f %7.1f %7.3f %7.3f %7.1f %7.1f\n", $1, $2, $4 / $2, $6 / $2, $8 / $2, $10 / $2,
            $12, $13, ($7 - $3) / $3, ($9 - $3) / $3 }'
}

make_programs
echo "processor time, times native (native: seconds); bytes an instruction; memory"
printf '%-8s %6s %7s %7s %7s %7s %7s %7s %7s %7s\n' '' native all deps values history B/deps B/val m.deps m.val
program compute 2 ./compute 3
program gzip 2 "$(command -v gzip)" -9 -c text
! command -v sqlite3 >/dev/null || program sqlite3 2 "$(command -v sqlite3)" :memory: '.read queries'
[ -z "${WITH_CC1:-}" ] || program cc1 1 "$(gcc -print-prog-name=cc1)" -quiet -O2 decode.i -o decode.s

part() { # NAME COMMAND...
    local name=$1 first tenth text printed
    shift
    bustap wet --no-values -n 100M -o trace.wet -- "$@" >output 2>messages </dev/null || true
    first=$(measure 1 bustap slice trace.wet end)
    tenth=$(measure 10 bustap slice trace.wet end)
    bustap wet -n 5M -o part.wet -- "$@" >output 2>messages </dev/null || true
    printed=$(measure 3 bustap wet print -o part.txt part.wet)
    text=$(stat -c %s part.txt)
    echo "$name $first $tenth $printed $text" | awk '{
        printf "%-8s %7.2f %7.2f %7.0f %7.0f\n", $1, $2, $4, $3 / 1024, $8 / $6 / 1e6 }'
    rm -f part.txt
}

printf '\n%-8s %7s %7s %7s %7s\n' '' slice tenth MiB print
part compute ./compute 3
part gzip "$(command -v gzip)" -9 -c text
! command -v sqlite3 >/dev/null || part sqlite3 "$(command -v sqlite3)" :memory: '.read queries'
