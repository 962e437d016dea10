#!/bin/bash
# Captures with --engine columns: the same records as with gzip, complete, readable after a kill, and refused by gzip.
set -eu -o pipefail

fail() {
    echo "$*"
    exit 1
}

board=virtual:smp=4,requests=300000
bustap capture -q --board $board -o plain
bustap capture -q --board $board -o coded --engine columns --rotate size=150K --block 10000
ls coded_*.byb >files
[ "$(wc -l <files)" -gt 2 ] || fail "$(cat files)"
bustap verify coded_*.byb >verdict || fail "$(cat verdict)"
bustap dump --csv coded_*.byb | cmp - <(bustap dump --csv plain_*.byu.gz)
bustap convert --to byu -o - coded_*.byb 2>/dev/null | cmp - <(zcat plain_*.byu.gz)
[ "$(cat coded_*.byb | wc -c)" -lt "$(cat plain_*.byu.gz | wc -c)" ]
[ "$(cat coded_*.byb | bustap info --json - 2>/dev/null | jq .records)" = 300000 ]
! zcat coded_00001_*.byb >out 2>message || fail 'zcat reads version 2'
[ ! -s out ] || fail 'zcat writes something'
grep -q 'unknown method' message || fail "$(cat message)"

# every level, and none
for level in 0 1 2 3 4; do
    bustap capture -q --board virtual:smp=2,requests=20000 -o level$level --engine columns --level $level
    bustap verify level${level}_*.byb >verdict || fail "level $level: $(cat verdict)"
    bustap dump level${level}_*.byb | cmp - <(bustap dump level0_*.byb)
done
! bustap capture -q --board $board -o wrong --engine columns --level 10 2>message || fail 'level 10 exists'
grep -q "columns 0 to 7" message || fail "$(cat message)"

# copies: whole blocks stay as they are; names decide
bustap cut -q -o part.byb --skip 30000 -n 100000 coded_*.byb
bustap cut -q -o part.byu.gz --skip 30000 -n 100000 coded_*.byb
bustap verify part.byb part.byu.gz >verdict || [ $? -eq 1 ] # one capture twice
bustap dump --csv part.byb | cmp - <(bustap dump --csv part.byu.gz)
bustap merge -q -o both.byb --by-start plain_*.byu.gz level1_*.byb
bustap verify both.byb >verdict || fail "$(cat verdict)"
[ "$(bustap info --json both.byb | jq .records)" = 320000 ]

# a mixture on a stream
cat coded_00001_*.byb plain_*.byu.gz | bustap dump --csv - 2>/dev/null | wc -l >lines
[ "$(cat lines)" -gt 300000 ]

# an executed program, whose records differ between runs in nothing that matters here
if [ -z "$NO_EXEC" ]; then
    bustap exec --count 20000 -o program --engine columns -- /bin/true 2>/dev/null
    bustap exec --count 20000 -o program_plain -- /bin/true 2>/dev/null
    bustap verify program_0*.byb >verdict || fail "$(cat verdict)"
    [ "$(bustap info --json program_0*.byb | jq .records)" = "$(bustap info --json program_plain_*.byu.gz | jq .records)" ]
    [ "$(cat program_0*.byb | wc -c)" -lt "$(cat program_plain_*.byu.gz | wc -c)" ]
fi

# killed in the middle: whole blocks stay readable, and recover closes the file
bustap capture -q --board virtual:smp=4,rate=200K -o killed --engine columns --block 1000 --flush 100ms &
until { bustap dump killed_*.byb.part 2>/dev/null || true; } | wc -l >lines; [ "$(cat lines)" -gt 100 ]; do sleep 0.05; done
kill -9 $!
wait $! 2>/dev/null || true
bustap dump killed_*.part 2>/dev/null | wc -l >lines || true
[ "$(cat lines)" -gt 100 ] || fail "$(cat lines) records before the kill"
bustap recover killed_*.part -o saved.byb 2>message || [ $? -eq 1 ] # the last block may be cut off
[ "$(bustap dump saved.byb | wc -l)" = "$(cat lines)" ] || fail "$(cat message)"
bustap dump saved.byb | cmp - <(bustap dump killed_*.part 2>/dev/null)
