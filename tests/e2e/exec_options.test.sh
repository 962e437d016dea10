#!/bin/bash
# exec, profile and rondo: arguments that they refuse before the program starts, and their exit status if
# standard error cannot be written.
set -eu
[ -z "$NO_EXEC" ] || { echo "$NO_EXEC"; exit 77; }

# refused WORDS COMMAND...: refused with status 2 and one line that contains WORDS, perhaps after the place of a mistake
refused() {
    local status=0 words=$1
    shift
    bustap "$@" /bin/echo ran >got 2>messages || status=$?
    [ "$status" = 2 ] || { echo "$*: status $status"; cat messages; exit 1; }
    [ "$(grep -vc '^  ' messages)" = 1 ] && grep -q -- "$words" messages || { echo "$*"; cat messages; exit 1; }
    [ ! -s got ] || { echo "$*: the program ran"; exit 1; }
    ! ls ./*.byu.gz folder/* 2>/dev/null || { echo "$*: wrote a capture"; exit 1; }
}
mkdir folder
for program in exec rondo; do
    refused '--count: "0" should be above 0' $program --count 0
done
for program in exec profile rondo; do
    refused "the program's name is empty" $program ''
done
refused 'is a folder' exec -o /
refused 'is a folder' exec -o folder/
refused 'prefix is empty' exec -o ''
refused '--packing needs --virtual-board' exec --packing plain
refused '--keep needs --rotate or --append' exec --keep 3
refused '--exit needs --count or --stop-at' exec --exit
refused '--exit needs --count or --stop-at' exec --exit --skip 5 --start-at main
refused '--repeat needs --start-at and --stop-at' exec --repeat
refused '--repeat needs --start-at and --stop-at' exec --repeat --start-at main
for regions in '--calls f --start-at f' '--calls f --markers' '--markers --stop-at f'; do
    # shellcheck disable=SC2086
    refused 'exclude each other' exec $regions
done
for regions in '--calls f' --markers '--sample 5/5' '--start-at f --stop-at g --repeat'; do
    # shellcheck disable=SC2086
    refused '--virtual-board excludes --repeat' exec --virtual-board $regions
done
refused 'names no file' exec --only-code module:
refused 'should be 0xLOW-0xHIGH' exec --only-code 0x5
refused 'not a range of addresses' exec --only-code 0x5-0x4
refused 'column' exec --filter 'type=NOTHING'
for sample in 5 5/ /5 0/5 5/0; do
    refused 'should be ON/OFF\|each at least 1\|"" ' exec --sample $sample
done
refused '--top needs --by-branch' rondo --top 5
refused '--top needs --by-branch' rondo --top 20 --csv
refused 'no parameter follows the colon' rondo -p bimodal:
refused 'no parameter follows the colon' rondo -p taken:
for numbers in 0:0 0:4 64:0; do
    refused "'$numbers' has a number that is not above 0" rondo --target-buffer $numbers
    refused "'$numbers' has a number that is not above 0" rondo --target-cache $numbers
done
for place in main+0x main+ main+1 +0x5 0x 0xg ''; do
    refused 'should be FUNCTION\|is not an address' exec --start-at "$place"
done
refused '--modules: the name of a file is empty' exec --modules ''
refused '--summary: the name of a file is empty' exec --summary ''
refused '--output: the name of a file is empty' profile -o ''
refused '--callgrind: the name of a file is empty' profile --callgrind ''
refused '--output: the name of a file is empty' rondo -o ''
refused '--wrong-path: the name of a file is empty' rondo --wrong-path ''
for options in 'exec --modules' 'exec --summary' 'profile -o' 'profile --callgrind' 'rondo -o' 'rondo --wrong-path'; do
    # shellcheck disable=SC2086 # split into words
    refused "cannot go to -: standard output is the program's" $options -
done
[ ! -e - ]
ln -s same other
for there in 'rm -f same' 'echo kept >same'; do
    eval "$there"
    refused 'cannot both go to other' exec --modules same --summary other
    eval "$there"
    refused 'cannot both go to other' profile -o same --callgrind other
    eval "$there"
    refused 'cannot both go to other' rondo --wrong-path other -o same
done
[ "$(cat same)" = kept ] || { echo "the old contents are lost"; exit 1; }
status=0
bustap rondo --wrong-path same /bin/echo ran 2>same >got || status=$?
[ "$status" = 2 ] && [ ! -s got ] && grep -q 'cannot both go to same' same || { cat same; exit 1; }

# nor the program's own file
cp /bin/true program
for options in 'exec --modules' 'exec --summary' 'profile -o' 'profile --callgrind' 'rondo -o' 'rondo --wrong-path'; do
    status=0
    # shellcheck disable=SC2086 # split into words
    bustap $options program ./program 2>messages || status=$?
    [ "$status" = 2 ] && grep -q 'cannot go to program, which is the program$' messages || { cat messages; exit 1; }
    cmp program /bin/true || { echo "$options: the program is overwritten"; exit 1; }
done
# existing contents are kept if another file cannot be written
echo kept >same
for options in 'profile -o same --callgrind' 'rondo -o same --wrong-path' 'exec --modules same --summary'; do
    status=0
    # shellcheck disable=SC2086 # split into words
    bustap $options nonesuch/file ./program 2>messages || status=$?
    [ "$status" = 3 ] && grep -q '^bustap: cannot write nonesuch/file: ' messages || { cat messages; exit 1; }
    [ "$(cat same)" = kept ] || { echo "$options: the old contents are lost"; exit 1; }
done
# or if the program cannot be executed or captured
printf 'main: _start: mov $60, %%eax\nxor %%edi, %%edi\nsyscall\n.globl _start, main\n' >alone.s
gcc -nostdlib -static -o alone alone.s
head -c 1000 /dev/zero >none
chmod +x none
for options in 'exec --modules' 'exec --summary' 'profile -o' 'profile --callgrind' 'rondo -o' 'rondo --wrong-path'; do
    status=0
    # shellcheck disable=SC2086 # split into words
    bustap $options same ./none 2>messages || status=$?
    [ "$status" = 2 ] && grep -q 'neither an ELF program' messages || { echo "$options: status $status"; cat messages; exit 1; }
    [ "$(cat same)" = kept ] || { echo "$options: the old contents are lost"; exit 1; }
done
for options in --modules --summary; do
    for cause in '--start-at nonesuch' '-o /proc/nonesuch/prefix'; do
        # shellcheck disable=SC2086 # split into words
        ! bustap exec $cause $options same ./alone 2>messages || { echo "$cause: it ran"; exit 1; }
        grep -q 'nonesuch' messages && [ "$(cat same)" = kept ] ||
            { echo "$options $cause: the old contents are lost"; cat messages; exit 1; }
    done
done
# existing contents are replaced if the program runs
for output in 'exec -q --append --modules' 'exec -q --append --summary' 'profile -o' 'profile --callgrind' 'rondo -o' \
    'rondo --wrong-path'; do
    seq 10000 >long
    # shellcheck disable=SC2086 # split into words
    bustap $output long ./alone 2>messages
    ! grep -aq '^9999$' long || { echo "$output: the old contents remain"; exit 1; }
done
rm -f alone_*
bustap profile -o /dev/null --callgrind /dev/null true # where nothing is overwritten

# with the same message
for output in 'exec -q --append --summary' 'exec -q --append --modules' 'profile -o' 'profile --callgrind' 'rondo -o' 'rondo -o there --wrong-path'; do
    status=0
    # shellcheck disable=SC2086 # split into words
    bustap $output /dev/full ./program 2>messages || status=$?
    [ "$status" = 3 ] && grep -q '^bustap: cannot write /dev/full: No space left on device$' messages ||
        { echo "$output: status $status"; cat messages; exit 1; }
done

# also where the program has closed its standard error
for output in 'exec -q --append --modules' 'profile -o' 'profile --callgrind' 'rondo -o'; do
    status=0
    # shellcheck disable=SC2086 # split into words
    bustap $output /dev/full sh -c 'exec 2>&-' 2>messages || status=$?
    [ "$status" = 3 ] && grep -q '^bustap: cannot write /dev/full: No space left on device$' messages ||
        { echo "$output: without standard error: status $status"; cat messages; exit 1; }
done
bustap exec -q --append --stop-at nonesuch sh -c 'exec 2>&-' 2>messages
grep -q '^bustap: no file that the program loaded has a function nonesuch$' messages || { cat messages; exit 1; }
rm -f program_*

# a failed output does not affect the other
for lost in '-o /dev/full --callgrind there' '--callgrind /dev/full -o there' '-o /dev/full --callgrind /dev/full'; do
    rm -f there
    status=0
    # shellcheck disable=SC2086 # split into words
    bustap profile $lost ./program 2>messages || status=$?
    [ "$status" = 3 ] && ! grep -v '^bustap: cannot write /dev/full: No space left on device$' messages ||
        { echo "profile $lost: status $status"; cat messages; exit 1; }
    case $lost in
    *there*) [ -s there ] && [ "$(wc -l <messages)" = 1 ] || { echo "profile $lost: the other is lost"; exit 1; } ;;
    *) [ "$(wc -l <messages)" = 2 ] || { cat messages; exit 1; } ;;
    esac
done

# their summaries and reports are lost
for program in exec profile rondo; do
    append=()
    [ $program != exec ] || append=(--append)
    for stream in '2>/dev/full' '2>&-'; do
        status=0
        eval "bustap $program ${append[*]} true $stream" || status=$?
        [ "$status" = 3 ] || { echo "$program $stream: status $status"; exit 1; }
    done
    status=0
    bustap $program "${append[@]}" sh -c 'exit 7' 2>/dev/full || status=$?
    [ "$status" = 7 ] || { echo "$program: status $status, wanted the program's"; exit 1; }
done
bustap exec -q --append true 2>/dev/full

# options without effect
bustap exec -q -o zero --threads 0 --queue 0 --keep 0 true
bustap verify zero_*.byu.gz >/dev/null
[ "$(bustap profile --by block --top 3 true 2>&1 >/dev/null | grep -c 0x)" = 3 ]
[ "$(bustap profile --by block --top 0 true 2>&1 >/dev/null | grep -c 0x)" -gt 100 ]
