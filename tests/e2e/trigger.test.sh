#!/bin/bash
# Windows around matches, compared with windows that awk cuts out of the whole capture; stops at a
# match; snapshots.
set -eu
. "$TOP/tests/e2e/windows_twin.sh"
board=virtual:smp=2,requests=100000
bustap capture -q --board $board -o all/a
bustap dump --csv all/a_* | tail -n +2 >all.csv

n=0
for form in 'SHUTDOWN 100 50' 'STOPCLKACK 0 0' 'IOREAD 300 300' 'SMIACK 70000 5' 'MEMREADINV 40 40'; do
    read -r type pre post <<<"$form"
    n=$((n + 1))
    bustap capture -q --board $board -o "t$n/t" --trigger "type=$type" --pre "$pre" --post "$post"
    twin "$type" "$pre" "$post" >wanted
    saved "t$n/t" >got
    [ -s wanted ]
    cmp wanted got || { echo "$form"; exit 1; }
    bustap verify "t$n"/t_* >verdict || { echo "$form"; cat verdict; exit 1; }
done
bustap info t1/t_* | grep -q 'trigger type=SHUTDOWN'

# each file names its matches, with the indices of the whole capture
awk -F, '$4 == "IOREAD" { print $1 "," $2 }' all.csv >wanted
for file in t3/t_*; do
    bustap info --json "$file" >window || true # the file alone is not a whole capture
    [ "$(jq '.windows | length' window)" -gt 0 ] || continue
    jq -r '.windows[0] | "\(.omitted) \(.matches) \(.first_match_index),\(.first_match_tick) \(.last_match_index),\(.last_match_tick)"' window >line
    read -r omitted matches first last <line
    bustap dump --csv "$file" | tail -n +2 |
        awk -F, -v omitted="$omitted" '$4 == "IOREAD" { print $1 + omitted "," $2 }' >found
    [ "$(wc -l <found)" -eq "$matches" ]
    [ "$(head -n 1 found)" = "$first" ]
    [ "$(tail -n 1 found)" = "$last" ]
    cat found >>got_matches
    { bustap info "$file" || true; } | grep -q "^windows  *file .*record ${first%,*} at tick ${first#*,}"
done
cmp wanted got_matches

# by time: no record is further from a match than wanted, and all that are near are there
bustap capture -q --board $board -o time/t --trigger type=SHUTDOWN --pre 10us --post 5us
awk -F, '{ tick[NR] = $2; if ($4 == "SHUTDOWN") at[++n] = $2 }
    END { for (i = 1; i <= NR; i++) for (k = 1; k <= n; k++)
              if (tick[i] + 1000 >= at[k] && tick[i] <= at[k] + 500) { print tick[i]; break } }' all.csv >wanted
bustap dump --csv time/t_* | tail -n +2 | cut -d, -f 2 >got
cmp wanted got
bustap verify time/t_* >verdict || { cat verdict; exit 1; }
# in ticks of the board's clock of 100 MHz
bustap capture -q --board $board -o ticks/t --trigger type=SHUTDOWN --pre 1kticks --post 500ticks
bustap dump --csv ticks/t_* | tail -n +2 | cut -d, -f 2 | cmp wanted -

# a stop: all records up to the match and after it, and the same with a buffer
bustap capture --board $board -o stop/s --stop-on type=SHUTDOWN --post 10 2>err
grep -q 'stopped by a match: record' err || { cat err; exit 1; }
last=$(awk -F, '$4 == "SHUTDOWN" { print NR + 10; exit }' all.csv)
head -n "$last" all.csv >wanted
bustap dump --csv stop/s_* | tail -n +2 | cmp wanted -
bustap verify stop/s_* >verdict || { cat verdict; exit 1; }
bustap capture --json -q --board $board -o ring/s --ring 12000 --stop-on type=SHUTDOWN >json
grep -q '"stopped":true' json
head -n "$((last - 10))" all.csv | tail -n 1001 | cut -d, -f 2-7 >wanted
bustap dump --csv ring/s_* | tail -n +2 | cut -d, -f 2-7 | cmp wanted -

# a snapshot of a running capture, at a signal
bustap capture -q --board virtual:smp=2 -o snap/s --ring 120K --print-names >names &
capture=$!
until ls snap/*.part >/dev/null 2>&1; do sleep 0.05; done
snapshots=0 count=0
until [ "$count" -eq 10240 ]; do # the first may come before the ring is full
    [ $snapshots -lt 100 ] || { echo "$count records"; exit 1; }
    snapshots=$((snapshots + 1))
    kill -USR2 $capture
    until [ "$(wc -l <names)" -eq $snapshots ]; do sleep 0.05; done
    count=$(bustap dump "$(tail -n 1 names)" | wc -l)
done
kill $capture
wait $capture
bustap verify snap/s_* >verdict || { cat verdict; exit 1; }

# a kill within a window leaves its whole blocks
bustap capture -q --board virtual:smp=2 -o kill/k --trigger type=FETCH --post 1000000000 --flush 10ms &
capture=$!
until ls kill/*.part >/dev/null 2>&1 && [ "$(cat kill/*.part | wc -c)" -gt 20000 ]; do sleep 0.05; done
kill -9 $capture
wait $capture 2>/dev/null || true
bustap recover kill/*.part -o recovered.byu.gz || [ $? = 1 ] # the last block may be cut off
[ "$(bustap dump recovered.byu.gz 2>/dev/null | wc -l)" -gt 100 ]

# what excludes what
usage() {
    local status=0
    bustap capture --board $board -o none/n "${@:2}" 2>err || status=$?
    [ "$status" -eq 2 ] && grep -q -e "$1" err || { cat err; exit 1; }
}
usage 'neither a time (10ms), nor a number of requests' --trigger type=FETCH --pre many
usage 'expected a request type' --trigger type=NONSENSE
usage '--ring: at least 4K' --ring 1
usage 'each window is a file' --trigger type=FETCH --rotate time=1s
