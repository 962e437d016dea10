#!/bin/bash
# Programs under exec, profile and rondo where children's ends are ignored, as whoever started bustap left it: they
# end as natively, and find it ignored, too.
set -eu
case $BUILD in *sanitize*) echo "AddressSanitizer lies where programs go"; exit 77 ;; esac

# same COMMAND...: natively and under bustap
ignoring() {
    timeout -k 5 100 env --ignore-signal=CHLD "$@"
}
same() {
    local wanted=0 got=0 way
    ignoring "$@" >wanted || wanted=$?
    for way in exec 'exec --follow' 'exec --board' 'exec --threads each' profile rondo; do
        got=0
        # shellcheck disable=SC2086 # words are what is wanted
        ignoring bustap $way -o out -- "$@" >got 2>told || got=$?
        [ "$wanted" = "$got" ] || { echo "$way $*: status $got, wanted $wanted"; cat told; exit 1; }
        cmp wanted got || { echo "$way $*"; cat got; exit 1; }
    done
}
same true
same sh -c 'exit 7'
same grep SigIgn /proc/self/status
same sh -c 'grep SigIgn /proc/self/status; (exit 3); echo $?'
for file in out*.byu.gz; do
    bustap verify "$file" >verdict || { cat verdict; exit 1; }
done
