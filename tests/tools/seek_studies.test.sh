#!/bin/bash
# What --time and --skip leave out of a capture is not read, in any command that reads records: corruption there is not
# noticed, before what is wanted and after it.
set -eu -o pipefail

bustap capture -q --board virtual:smp=2 -o t --stop records=100000 --block 4000
mkdir good early late
mv t_*.byu.gz good/t.byu.gz
cp good/t.byu.gz early/
cp good/t.byu.gz late/
size=$(stat -c %s good/t.byu.gz)
for place in early:20 late:2; do
    printf '\377\377\377\377\377\377\377\377' |
        dd of="${place%:*}/t.byu.gz" bs=1 seek=$((size / ${place#*:})) conv=notrunc 2>/dev/null
    ! bustap verify "${place%:*}/t.byu.gz" >/dev/null 2>&1 || exit 1
done

# same_without FOLDER COMMAND...: in that folder the command prints what it prints in good
same_without() {
    local place=$1
    shift
    for folder in good "$place"; do
        (cd $folder && timeout 300 bustap "$@" t.byu.gz >../$folder.out 2>../$folder.err </dev/null) ||
            { echo "$folder: bustap $*" && cat $folder.err && exit 1; }
    done
    cmp good.out "$place.out" && cmp good.err "$place.err" || { echo "bustap $*" && exit 1; }
}

ends=$(bustap info --json good/t.byu.gz | jq .last_tick)
commands=(dump 'dump --csv' 'info --json' 'cache --l1 4K,line=32' 'cache --l1 4K -j 2' 'cache --l1 4K --interval 1ms'
    'cache --l1 4K --sweep size=1K..4K' mrc 'mrc -j 3' 'mrc --window 100us' 'top --by line' 'plot --csv' 'plot --of mix --csv'
    'plot --of sharing --csv' 'convert --to csv -q -o -' 'dcfg build --bus chunk=32 -o -' 'dcfg fetches'
    'doctor --json')
for command in "${commands[@]}"; do
    # shellcheck disable=SC2086 # the words of a command
    same_without early $command --time "$((ends / 2))ticks..$((ends / 3 * 2))ticks"
    # shellcheck disable=SC2086
    same_without late $command --time ..$((ends / 20))ticks
    # shellcheck disable=SC2086
    same_without early $command --time "$((ends / 2))ticks.." -f 'type=FETCH|read'
done
for command in dump 'dump --json' 'cache --l1 4K,line=32' 'cache --l1 4K -j 2' 'cache --l1 4K --sweep size=1K..4K'; do
    # shellcheck disable=SC2086
    same_without early $command --skip 50000 -n 9000
    # shellcheck disable=SC2086
    same_without late $command --skip 100 -n 900 -f processor=0
done
