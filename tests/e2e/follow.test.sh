#!/bin/bash
# Follows a capture while it writes, across rotations: every record once, in order, to its end.
set -eu

# started before the first file, text: the same as dump of the files afterwards
mkdir run
bustap follow --csv run/t >live.csv &
follower=$!
bustap capture -q --board virtual:smp=2,requests=300000 -o run/t --rotate size=200K --flush 10ms
wait "$follower"
bustap dump --csv run/t_*.byu.gz >whole.csv
[ "$(ls run/t_*.byu.gz | wc -l)" -gt 3 ]
cmp live.csv whole.csv

# afterwards: as text, records and a capture file that verify accepts
bustap follow run/t >text
bustap dump run/t_* | cmp - text
bustap follow --raw run/t >raw.byu
bustap dump --raw raw.byu | cmp - text
bustap follow -o - run/t >copy.byu.gz
bustap follow -o file.byu.gz run/t && cmp <(bustap dump --csv file.byu.gz) whole.csv
! bustap follow -o file.byu.gz run/t 2>/dev/null || exit 1
bustap verify copy.byu.gz >verdict || { cat verdict; exit 1; }
bustap dump --csv copy.byu.gz | cmp - whole.csv
bustap follow --csv --skip 7 -n 1000 -f 'type=FETCH' run/t >some
bustap dump --csv --skip 7 -n 1000 -f 'type=FETCH' run/t_* | cmp - some
bustap follow --csv --time 1ms..5ms --skip 7 -f 'processor=1 and type=FETCH' run/t >some
bustap dump --csv --time 1ms..5ms --skip 7 -f 'processor=1 and type=FETCH' run/t_* | cmp - some
[ "$(wc -l <some)" -gt 10 ]

# a running capture: from a time on, and the end at another
bustap capture -q --board virtual:smp=1 -o run/timed --flush 10ms &
capture=$!
timeout 60 bustap follow --csv --time 2ms..4ms run/timed | tail -n +2 >some
kill "$capture"
wait "$capture" || true
[ -s some ]
awk -F, '$2 < 200000 || $2 > 400000 { exit 1 }' some # 100 MHz

# the newest capture to a prefix; a hole is reported; files that the ring removed are not
sleep 1
bustap capture -q --board virtual:smp=1,requests=120000 -o run/t --append --rotate size=100K 2>/dev/null
newest=$(ls -t run/t_00002_* | head -n 1)
rm "$newest"
status=0
bustap follow --csv run/t >newest.csv 2>err || status=$?
[ "$status" -eq 1 ] && grep -q 'removed before they could be read' err || { cat err; exit 1; }

# killed: what is complete is printed, then the reason
mkdir killed
bustap capture -q --board virtual:smp=1 -o killed/k --flush 10ms &
capture=$!
until ls killed/k_*.part >there 2>/dev/null && [ "$(stat -c %s "$(cat there)")" -gt 100000 ]; do sleep 0.05; done
bustap follow --raw killed/k >k.byu 2>err &
follower=$!
sleep 0.2
kill -9 "$capture"
wait "$capture" 2>/dev/null || true
status=0
wait "$follower" || status=$?
[ "$status" -eq 1 ] && grep -q 'has no closing block: its capture was killed' err || { cat err; exit 1; }
[ "$(stat -c %s k.byu)" -gt 12000 ]
# top says it in the same words, also later
for option in '' --follow; do
    status=0
    bustap top $option killed/k >out 2>top_err </dev/null || status=$?
    [ "$status" -eq 1 ] && cmp err top_err || { cat top_err; exit 1; }
done
# killed between two files
mkdir between
bustap capture -q --board virtual:smp=1 -o between/k --rotate size=20K --flush 10ms &
capture=$!
until ls between/k_00003_*.byu.gz >/dev/null 2>&1; do sleep 0.05; done
kill -9 "$capture"
wait "$capture" 2>/dev/null || true
rm -f between/*.part # between two files there may be none
status=0
bustap follow between/k >out 2>err || status=$?
[ "$status" -eq 1 ] && grep -q 'the file after k_.*.byu.gz is missing: its capture was killed' err || { cat err; exit 1; }

# interrupted before the first record, -o leaves nothing, and the next call begins anew
bustap follow -o none.byu.gz run/later 2>err &
follower=$!
sleep 0.3
kill "$follower"
wait "$follower" 2>/dev/null || true
[ ! -e none.byu.gz ]
bustap capture -q --board virtual:smp=1,requests=1000 -o run/later
bustap follow -o none.byu.gz run/later
bustap dump none.byu.gz | cmp - <(bustap dump run/later_*)
# interrupted later, the file is closed
bustap capture -q --board virtual:smp=1 -o run/long --flush 10ms &
capture=$!
bustap follow -o closed.byu.gz run/long &
follower=$!
until [ -s closed.byu.gz ]; do sleep 0.05; done
sleep 0.3
kill "$follower"
status=0
wait "$follower" 2>/dev/null || status=$?
[ "$status" -eq 143 ] || { echo "status $status"; exit 1; }
kill "$capture"
wait "$capture" || true
bustap verify closed.byu.gz >verdict || true
grep -q '^closed.byu.gz: [1-9][0-9]* records, 0 lost, stopped$' verdict || { cat verdict; exit 1; }
bustap dump closed.byu.gz >text
bustap dump run/long_* | head -n "$(wc -l <text)" | cmp - text
# of a capture without records it is one, too; a place where it cannot be made is reported at once
bustap capture -q --board virtual:smp=1,requests=1000 -f address=1 -o run/empty
bustap follow -o empty.byu.gz run/empty
bustap verify empty.byu.gz >verdict || { cat verdict; exit 1; }
status=0
bustap follow -o no/folder.byu.gz run/not_yet 2>err || status=$?
[ "$status" -eq 3 ] && grep -q 'cannot make no/folder.byu.gz: No such file' err || { cat err; exit 1; }

# an existing file stays, unless --force is given; then until the first record, and in other hands
echo precious >kept.byu.gz
status=0
bustap follow -o kept.byu.gz run/empty 2>err || status=$?
[ "$status" -eq 3 ] && grep -qx 'bustap: kept.byu.gz exists already; --force replaces it' err || { cat err; exit 1; }
[ "$(cat kept.byu.gz)" = precious ]
ln kept.byu.gz held
bustap follow --force -o kept.byu.gz run/empty
bustap verify kept.byu.gz >verdict || { cat verdict; exit 1; }
[ "$(cat held)" = precious ]
mkdir folder.byu.gz
status=0
bustap follow --force -o folder.byu.gz run/empty 2>err || status=$?
[ "$status" -eq 3 ] && grep -q 'folder.byu.gz is not a regular file and is not replaced' err || { cat err; exit 1; }

# a reader that closes early ends it, also while nothing is written
bustap capture -q --board virtual:smp=1 -o run/endless &
capture=$!
bustap follow run/endless | head -n 1 >first
[ -s first ]
bustap follow -o - run/endless 2>err | head -c 1000 >first
[ ! -s err ] || { cat err; exit 1; }
kill "$capture"
wait "$capture" || true

# nothing is there: it says what it waits for, once, and continues with the capture that comes
mkdir later
bustap follow --raw later/t >later.byu 2>err &
follower=$!
until [ -s err ]; do sleep 0.05; done
bustap capture -q --board virtual:smp=1,requests=1000 -o later/t
wait "$follower"
[ "$(cat err)" = 'bustap: waiting for the first file of a capture to later/t: there is none yet' ] || { cat err; exit 1; }
bustap dump --raw later.byu | cmp - <(bustap dump later/t_*.byu.gz)

# killed before its header was written: it ends, with the reason
: >later/killed_00001_20261120T224500Z.byu.gz.part
status=0
timeout 60 bustap follow later/killed >text 2>err || status=$?
[ "$status" -eq 1 ] && [ ! -s text ] && grep -q 'killed_00001_.*part has no readable header.*was killed' err || { cat err; exit 1; }

# usage
status=0
bustap follow 2>err || status=$?
[ "$status" -eq 2 ] && grep -q 'PREFIX is missing' err || exit 1
status=0
bustap follow run/ 2>err || status=$?
[ "$status" -eq 2 ] && grep -q 'is a folder' err || exit 1
