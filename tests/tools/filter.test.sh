#!/bin/bash
# Filters in commands: the board does a part, the host the rest, and the records are those of dump -f.
set -eu -o pipefail
PATH="$BUILD/tests/e2e:$PATH"

make_trace --types all --first-time-max 30000 >t.byu
bustap capture -q --board virtual:replay=t.byu -o all
bustap capture -q --board virtual:smp=4,requests=30000 -o clock # its board has a clock
trace=t.byu

# Captures $trace, whose unfiltered capture is all_*, with the filter $1, of which the board applies $2; $3: whether
# something is left to the host.
compare() {
    rm -f part_*
    bustap capture --json --board "virtual:replay=$trace" -o part -f "$1" >json 2>summary
    bustap verify part_* >verdict || exit 1
    grep -q '^complete: ' verdict
    # ticks stay, only indices and times between records change
    bustap dump --csv all_* -f "$1" | cut -d, -f2-7 >expected
    bustap dump --csv part_* | cut -d, -f2-7 | cmp - expected
    bustap dump --csv part_* | awk -F, 'NR > 2 && ($1 != index_ + 1 || $2 - tick != $8) { exit 1 }
        { index_ = $1; tick = $2 }'
    kept=$(($(wc -l <expected) - 1))
    [ "$kept" -gt 0 ]
    [ "$(jq .records json)" = "$kept" ]
    [ "$(jq .source.accepted json)" = "$kept" ]
    [ "$(jq .source.filtered json)" = "$((30000 - kept))" ]
    [ "$(jq -r .filter.expression json)" = "$1" ]
    [ "$(jq -r .filter.board json)" = "$2" ]
    [ "$(jq -r .filter.host json)" = "$3" ]
    bustap info part_* | grep -qF "filter        $1"
}

compare 'type=FETCH and processor=1' 'type=FETCH and processor=1' false
grep -q '^bustap: filter: the board applied it, and excluded [0-9]* requests$' summary
[ "$(jq .source.removed json)" = 0 ]
compare 'type=read and not (size=8 or processor=2)' 'type=MEMREAD|MEMREADINV and processor!=2' true
grep -q '^bustap: filter: the board applied type=MEMREAD|MEMREADINV and processor!=2, and excluded' summary
grep -q "; the host applied the rest, and removed $(jq .source.removed json)\$" summary
[ "$(jq .source.removed json)" -gt 0 ]
compare 'size=8 or attribute=WB' '' true
grep -q '^bustap: filter: no part of it is for a board; the host removed [0-9]* requests$' summary
compare 'time=4294967295..4300000000ticks and address&0x8=0' '' true
compare 'type!=special and attribute!=0' 'type!=SHUTDOWN|FLUSH|HALT|SYNC|FLUSHACK|STOPCLKACK|SMIACK' true
compare 'index=1000-2000 and type=FETCH' '' true # the board must pass what is counted

rm all_*
trace=$(ls clock_*)
bustap capture -q --board "virtual:replay=$trace" -o all
compare 'time>=100us and time<700us and address&0x20=0' '' true
trace=t.byu

# limits count the records that are left
rm -f part_*
bustap capture -q --board virtual:replay=t.byu -o part -f 'size=8 and type=FETCH' -s records=100
[ "$(bustap dump part_* | wc -l)" = 100 ]

# the daemon reports the same, and what looks like a mistake
cat >conf <<'C'
[capture part]
board = virtual:replay=t.byu
output = daemon
filter = type=read and not (size=8 or address=4000)
C
bustapd -c conf --check >checked 2>errors
grep -q '^bustapd: capture part: filter, column 38: the address 4000 is decimal' errors
bustapd -c conf --socket socket 2>log &
daemon=$!
for _ in $(seq 600); do
    grep -q 'capture part: filter: ' log && break
    sleep 0.1
done
kill $daemon
wait $daemon
grep -q 'capture part: filter, column 38: the address 4000 is decimal, that is 0xfa0' log
grep -q 'capture part: filter: the board applied .*, and excluded [0-9]* requests; the host applied the rest, and removed' log

# triggers, too
bustap capture -q --board virtual:replay=t.byu -o doubt --trigger address=4000 --stop-on addr=00401000 2>errors
[ "$(grep -c 'is decimal' errors)" = 2 ]

# every command that has -f points at such a number, once
for command in dump info 'cache --l1 4K' mrc 'mrc -j 2' 'top --by line' 'plot --csv' 'convert --to csv -o -' doctor \
    'dcfg fetches' 'dcfg build --bus chunk=32 -o -' 'cut -o -'; do
    # shellcheck disable=SC2086 # the words of a command
    bustap $command -f addr=4000 t.byu >/dev/null 2>errors || true
    [ "$(grep -c 'the address 4000 is decimal' errors)" = 1 ] || { echo "$command"; cat errors; exit 1; }
done
bustap follow -f addr=4000 all >/dev/null 2>errors
[ "$(grep -c 'the address 4000 is decimal' errors)" = 1 ]

# a filter that excludes everything is a mistake
status=0
bustap capture --board virtual:replay=t.byu -o none -f 'processor=8' 2>errors || status=$?
[ "$status" = 2 ]
grep -q 'excludes every request' errors

# exec: the same language, without a clock
[ -z "$NO_EXEC" ] || exit 0
bustap exec -q -o whole -- /bin/true
bustap exec -o some -f 'type=write and size>=8 or index<10' -- /bin/true 2>summary
grep -q "^bustap: filter: applied while the program was executed; it left out [0-9]* records$" summary
bustap dump --csv whole_* -f 'type=write and size>=8 or index<10' | cut -d, -f3-6 >expected
bustap dump --csv some_* | cut -d, -f3-6 | cmp - expected
# symbols of a program
cat >work.c <<'C'
int cells[64];
int work(int n);
__attribute__((noinline)) int work(int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += cells[i % 64]++;
    return sum;
}
int main(void)
{
    return work(1000) & 1;
}
C
gcc -g -O1 -o work work.c
bustap exec -q -o symbols --modules modules -- ./work
load=$(sed -n 's/.*work@//p' modules)
for symbol in cells work; do
    read -r start size < <(nm -S work | awk -v name=$symbol '$4 == name { print $1, $2 }')
    bustap dump symbols_* -f "addr=$((load + 0x$start))+$((0x$size))" >expected
    [ "$(wc -l <expected)" -ge 1000 ]
    bustap dump symbols_* --modules modules -f "symbol=$symbol" | cmp - expected
    bustap dump symbols_* -f "symbol=$symbol" --image "work@$load" | cmp - expected
done
bustap dump symbols_* --modules modules -f 'symbol="wor*"' | cmp - expected
status=0
bustap dump symbols_* --modules modules -f 'symbol=wrk' 2>errors || status=$?
[ "$status" = 2 ]
grep -q "did you mean 'work'?" errors

status=0
bustap exec -q -o late -f 'time<1ms' -- /bin/true 2>errors || status=$?
[ "$status" = 2 ]
grep -q 'give them in ticks' errors
