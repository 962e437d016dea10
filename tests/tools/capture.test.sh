#!/bin/bash
# bustap capture: options, signals, messages.
set -eu -o pipefail
PATH="$BUILD/tests/e2e:$PATH"

make_trace --types all --first-time-max 30000 >t.byu

# one file, many files, a ring: the same records
bustap capture --board virtual:replay=t.byu -o a/one 2>summary
zcat a/one_*.byu.gz | cmp - t.byu
grep -q '^bustap: source ended: 30000 records in 1 file, 0 lost$' summary
bustap capture -q --board virtual:replay=t.byu -o a/many --rotate size=20K --print-names >names
[ "$(wc -l <names)" -gt 5 ]
ls a/many_*.byu.gz | cmp - names
# shellcheck disable=SC2046
zcat $(cat names) | cmp - t.byu
bustap verify a/many_*.byu.gz | grep -q '^complete: 30000 records in [0-9]* files, nothing lost$'
bustap capture -q --board virtual:replay=t.byu -o a/ring --rotate size=20K --keep 3
[ "$(ls a/ring_*.byu.gz | wc -l)" = 3 ]
bustap verify a/ring_*.byu.gz >verdict
grep -q 'were removed by the ring of 3$' verdict
# shellcheck disable=SC2046
zcat $(ls a/ring_*.byu.gz) | cmp - <(tail -c "$(zcat $(ls a/ring_*.byu.gz) | wc -c)" t.byu)

# compression, and encodings of the link
for option in '--engine zlib --level 6' '--packing plain' '--packing delta --threads 1' \
    '--block 100 --queue 4M --flush 10ms'; do
    rm -rf b
    # shellcheck disable=SC2086
    bustap capture -q --board virtual:replay=t.byu -o b/p $option
    zcat b/p_*.byu.gz | cmp - t.byu
done

# a filter
bustap capture --json --board virtual:replay=t.byu -o a/filtered --filter 'type=FETCH and processor=1' \
    >json 2>summary
zcat a/filtered_*.byu.gz | b2a | awk '$2 != "FETCH" || $5 != 1 { exit 1 }'
wanted=$(b2a t.byu | awk '$2 == "FETCH" && $5 == 1' | wc -l)
[ "$(jq .records json)" = "$wanted" ]
[ "$(jq .source.filtered json)" = "$((30000 - wanted))" ]
bustap info a/filtered_*.byu.gz | grep -q '^filter *type=FETCH and processor=1$'

# an exact number of records
bustap capture --json --board virtual:smp=2 -o a/some --stop records=12345 >json 2>summary
[ "$(jq -c '[.records, .lost.total, .end, .complete]' json)" = '[12345,0,"limit reached",true]' ]
bustap verify a/some_*.byu.gz >verdict

# signals: status, a new file, stop; the bus is slow, so that a busy machine loses nothing
bustap capture --board virtual:smp=2,rate=1k --flush 10ms -o a/signals 2>err &
capture=$!
# has_record NUMBER: the file with this number has one, while it is written
has_record() { [ -n "$(bustap dump -n 1 a/signals_0000"$1"_*.part 2>/dev/null)" ]; }
until has_record 1; do sleep 0.05; done
kill -USR1 $capture
until grep -q records err; do sleep 0.05; done
kill -HUP $capture
until has_record 2; do sleep 0.05; done
kill -TERM $capture
wait $capture
grep -q '^bustap: [0-9]* records, .* lost 0$' err
grep -q '^bustap: stopped: [0-9]* records in 2 files, 0 lost$' err
bustap verify a/signals_*.byu.gz >verdict

# an impossible record is reported with its number; those before it are captured
{ head -c 1200 t.byu; printf '\0\0\0\0\177\0\0\0\0\0\0\0'; } >bad.byu
status=0
bustap capture -q --board virtual:replay=bad.byu -o a/bad 2>err || status=$?
[ "$status" -ne 0 ]
[ "$status" -ne 2 ]
grep -q 'record 100' err
zcat a/bad_*.byu.gz | cmp - <(head -c 1200 t.byu)

# a real trace
trace=${SHARED:+$SHARED/data/pentium2.byu}
if [ -n "$trace" ] && [ -f "$trace" ]; then
    bustap capture -q --board "virtual:replay=$trace" -o c/p2
    zcat c/p2_*.byu.gz | cmp - <(head -c 280020 "$trace")
    bustap capture -q --board "virtual:replay=$trace" -o c/many --rotate size=20K
    zcat c/many_*.byu.gz | cmp - <(head -c 280020 "$trace")
    bustap verify c/many_*.byu.gz >verdict
fi
