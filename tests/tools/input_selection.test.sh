#!/bin/bash
# Studies of a part of a trace, by time and by filter, see the records that dump prints; what lies before the time is
# not read.
set -eu -o pipefail

bustap capture -q --board virtual:smp=4 -o t --stop records=200000 --block 5000
bustap dump --csv t_* >all.csv

# records that a simulation reads with these options
read_with() {
    bustap cache --l1 4K --json "$@" t_* | jq .records
}
# records of all.csv with this condition; columns: index,tick,address,type,size,attribute,processor,time
count() {
    awk -F, "NR > 1 && ($1)" all.csv | wc -l
}
same() {
    [ "$1" = "$2" ] || { echo "line ${BASH_LINENO[0]}: $1 is not $2"; exit 1; }
}

same "$(read_with -f type=FETCH)" "$(count '$4 == "FETCH"')"
same "$(read_with -f 'not (processor=0 or type=MEMREAD)')" "$(count '$7 != 0 && $4 != "MEMREAD"')"
same "$(read_with --time 200kticks..500kticks)" "$(count '$2 >= 200000 && $2 <= 500000')"
same "$(read_with --time 2ms..5ms)" "$(count '$2 >= 200000 && $2 <= 500000')" # 100 MHz
same "$(read_with --time ..1ms -f type=FETCH)" "$(count '$2 <= 100000 && $4 == "FETCH"')"
same "$(read_with --time 1ms.. --skip 10 -n 1000)" 1000
same "$(read_with --skip 100 -n 1000 -f processor=2)" "$(count '$1 >= 100 && $1 < 1100 && $7 == 2')"
same "$(read_with -f type=FETCH --time 1000s..)" 0

# ticks of what remains
bustap convert --to csv -f 'type=FETCH and processor!=1' --time 1ms..3ms t_* -o - 2>/dev/null | cut -d, -f2-7 >converted
awk -F, 'NR == 1 || ($4 == "FETCH" && $7 != 1 && $2 >= 100000 && $2 <= 300000)' all.csv | cut -d, -f2-7 >expected
cmp converted expected

# dump: the lines themselves, with their indices and ticks
bustap dump --csv --time 200kticks..5ms t_* | tail -n +2 >part
awk -F, 'NR > 1 && $2 >= 200000 && $2 <= 500000' all.csv | cmp - part
bustap dump --csv --time 2ms.. --skip 100 -n 50 -f processor=1 t_* | tail -n +2 >part
awk -F, 'NR > 1 && $2 >= 200000 && ++n > 100 && n <= 150 && $7 == 1' all.csv | cmp - part
[ -s part ]

# several threads, each with a part of the trace
bustap mrc -j 1 -f type=FETCH --csv t_* >one
bustap mrc -j 3 -f type=FETCH --csv t_* >three
cmp one three
bustap mrc -j 3 --time 2ms..5ms --json t_* | jq -e ".requests == $(count '$2 >= 200000 && $2 <= 500000')" >/dev/null

# a corrupt block is not noticed unless it is wanted: the header's first block is 5000 records
cp t_* corrupt.byu.gz
size=$(stat -c %s corrupt.byu.gz)
printf '\377\377\377\377\377\377\377\377' | dd of=corrupt.byu.gz bs=1 seek=$((size / 20)) conv=notrunc 2>/dev/null
status=0
bustap cache --l1 4K corrupt.byu.gz >/dev/null 2>messages || status=$?
same $status 1
bustap cache --l1 4K --json --time 5ms..6ms corrupt.byu.gz 2>messages |
    jq -e ".records == $(count '$2 >= 500000 && $2 <= 600000')" >/dev/null
[ ! -s messages ] || { cat messages; exit 1; }
# nor is one behind the time wanted
cp t_* late.byu.gz
printf '\377\377\377\377\377\377\377\377' | dd of=late.byu.gz bs=1 seek=$((size / 2)) conv=notrunc 2>/dev/null
bustap cache --l1 4K --time ..1ms late.byu.gz >/dev/null 2>messages
[ ! -s messages ] || { cat messages; exit 1; }

# reports say what they left out
bustap cache --l1 4K -f type=FETCH --time ..1ms t_* | grep -q 'records, only ..1ms, only type=FETCH'
bustap cache --l1 4K --sweep size=4K -f type=FETCH --json t_* | jq -e '.filter == "type=FETCH"' >/dev/null
bustap mrc -f type=FETCH t_* | grep -q 'requests, only type=FETCH'

# raw records have no clock
zcat t_* >raw.byu
status=0
bustap cache --l1 4K --time 1ms.. raw.byu 2>messages || status=$?
[ $status -eq 2 ] && grep -q 'give --time in ticks' messages || exit 1
