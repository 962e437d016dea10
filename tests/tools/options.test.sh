#!/bin/bash
# An option means the same in every command: a long option has the same short one and the same kind
# of argument everywhere, and a short option has one long option. Names that were unified do not
# return.
set -eu -o pipefail

# options that may differ, with the reason
# "LONG KIND": this kind of argument is an exception for LONG
different=(
    'output PREFIX' # capture and exec write several files, whose names begin with it
    'by WHAT'       # a report of depend has one kind of rows, profile and mrc print several tables
    'line SIZE'     # top counts by lines of one size, mrc has a list of them
    'level LEVEL'   # depend's are the specification's, not a compressor's
    'trace OUT'     # dcfg build writes the trace that check and expand read (FILE)
)

# rows of "LONG SHORT KIND COMMAND"; - for none
rows() {
    local command group=$1
    for command in $(bustap $group -h | sed -n 's/^  \([a-z]*\)  .*/\1/p'); do
        [ "$command" != dcfg ] || { rows dcfg; continue; }
        # shellcheck disable=SC2086
        bustap $group "$command" -h |
            sed -n 's/^  \(-\(.\),\|   \) --\([a-z0-9-]*\)\( \([^ a-z][^ ]*\)\)\{0,1\}.*/\3 -\2 -\5 '"$group$command"'/p'
    done
}
rows '' | sort >rows
[ "$(wc -l <rows)" -gt 150 ] && [ "$(cut -d " " -f 4 rows | sort -u | wc -l)" -ge 23 ] || exit 1

cp rows same
for pair in "${different[@]}"; do
    grep -q "^${pair% *} [^ ]* -${pair#* } " rows || { echo "$pair: no longer differs"; exit 1; }
    sed -i "/^${pair% *} [^ ]* -${pair#* } /d" same
done

# the same long option with another letter or argument; the same letter for another long option
twice=$(cut -d ' ' -f 1-3 same | sort -u | cut -d ' ' -f 1 | uniq -d)
[ -z "$twice" ] || { echo "one option, two meanings:"; grep -E "^($(echo "$twice" | paste -sd '|')) " rows; exit 1; }
twice=$(cut -d ' ' -f 1,2 rows | grep -v ' -$' | sort -u | cut -d ' ' -f 2 | sort | uniq -d)
[ -z "$twice" ] || { echo "one letter, two options:"; grep -E "^[^ ]* ($(echo "$twice" | paste -sd '|')) " rows; exit 1; }

# the agreed names
is() { [ -z "$(grep "^$1 " rows | grep -v "^$1 $2 ")" ] && grep -q "^$1 $2 " rows || { echo "--$1:"; grep "^$1 " rows; exit 1; }; }
is from '- -FORMAT'
is to '-t -FORMAT'
is skip '- -N'
is count '-n -N'
is start-at '- -PLACE'
is stop-at '- -PLACE'
is filter '-f -EXPR'
is threads '-j -N'
is split-threads '- -'
is top '- -N'
is max-memory '- -SIZE'
is interval '- -EXTENT'
if grep -E '^(first|until|limit|workers|rows|memory) ' rows; then
    echo "an old name is back"
    exit 1
fi

# each option with a letter too many is suggested, or one as near
while read -r long _ _ command; do
    command=${command/#dcfg/dcfg }
    # shellcheck disable=SC2086
    said=$(bustap $command "--${long}q" 2>&1 >/dev/null </dev/null) && { echo "$command --${long}q is accepted"; exit 1; }
    case $said in
        *"did you mean --"*) ;;
        *) echo "$command --${long}q: $said"; exit 1 ;;
    esac
done <rows

# each word of each option, misspelt, is suggested; words ending in a colon or = go on
: >a
: >b
candidates() { bustap completion words -- "$@" | sed 1d | cut -f 1; }
count=0
while read -r -a command; do
    program=()
    case ${command[*]} in
    "bustap rondo") more=() program=(true) ;;
    "bustap dcfg build") more=(-o x) program=(a) ;;
    "bustap dcfg "*) more=() program=(a) ;;
    "bustap convert") more=(-t din -o x) ;;
    "bustap plot") more=(-o x.svg) ;;
    "bustap merge") more=(-o x a b) ;;
    "bustap cache") more=(--plot x.svg --sweep size=4K) ;;
    "bustap mrc") more=(--plot x.svg) ;;
    *" capture" | *" cut") more=(-o x) ;;
    *) more=() ;;
    esac
    candidates "${command[@]}" '' >operands
    for option in $(candidates "${command[@]}" --); do
        while read -r word; do
            # an option without words is followed by the operands
            case $word in *[:=] | -* | ? | ??) continue ;; esac
            ! grep -qx -e "$word" operands || continue
            count=$((count + 1))
            [ "$option" != --follow-predictor ] || more=(-p "$word") # it must be simulated
            said=$("${command[@]}" "${more[@]}" "$option=${word}q" "${program[@]}" 2>&1 >/dev/null </dev/null | head -n 1) || true
            case $said in
            *"did you mean '$word'"*) ;;
            *) echo "${command[*]} $option=${word}q: $said"; exit 1 ;;
            esac
        done < <(candidates "${command[@]}" "$option" '')
    done
done < <(for group in '' 'dcfg '; do
    # shellcheck disable=SC2086
    bustap $group-h | sed -n "s/^  \([a-z0-9]*\)  .*/bustap $group\1/p"
done)
[ $count -gt 100 ] || { echo "only $count words"; exit 1; }
