#!/bin/bash
# A capture as a stream on standard output: readers of every kind, windows of a trigger, a reader that
# closes the pipe or does not read.
set -eu
board=virtual:smp=2,requests=100000
bustap capture -q --board $board -o all/a
bustap dump --csv all/a_* >wanted

fail() {
    echo "$@"
    exit 1
}

# saved, it is a capture like any other
bustap capture -q --board $board -o - >saved.byu.gz
bustap capture -q --board $board -o - | cat >piped.byu.gz
for file in saved.byu.gz piped.byu.gz; do
    bustap verify "$file" >verdict || fail "$file: $(cat verdict)"
    bustap dump --csv "$file" | cmp wanted -
done
bustap capture -q --board $board -o - | bustap dump --csv - | cmp wanted -
zcat all/a_* | cksum >wanted_sum
bustap capture -q --board $board -o - | zcat | cksum | cmp wanted_sum -
bustap capture -q --board $board -o - | bustap top - >top
bustap top all/a_* | cmp top -

# the standard output of a file that exists is continued, not replaced
bustap capture -q --board $board -o - >>saved.byu.gz
bustap verify saved.byu.gz >verdict || fail "$(cat verdict)"
grep -c 'complete: 100000 records in 1 file' verdict | grep -qx 2 || fail "$(cat verdict)"

# windows: the same records, and the same files, as with a prefix
trigger=(--trigger type=IOREAD --pre 300 --post 300)
bustap capture -q --board $board "${trigger[@]}" -o files/t
bustap capture -q --board $board "${trigger[@]}" -o - | cat >windows.byu.gz
bustap verify windows.byu.gz >verdict || fail "$(cat verdict)"
bustap dump --csv files/t_* >expected
bustap dump --csv windows.byu.gz | cmp expected -
bustap info --json files/t_* | jq '[.windows[] | del(.path)]' >expected
bustap info --json windows.byu.gz | jq '[.windows[] | del(.path)]' | cmp expected -
[ "$(jq length expected)" -gt 10 ]

# reports are on standard error
bustap capture --json --board $board -o - 2>report >json.byu.gz
grep '^{' report | jq -es '.[0].complete' >/dev/null
cmp <(zcat json.byu.gz) <(zcat saved.byu.gz | head -c 1200000)

# a reader sees a record soon, long before a block is full
bustap capture -q --board virtual:smp=2 -f type=SHUTDOWN -o - | bustap dump --csv - 2>err | head -n 5 >first
[ "$(wc -l <first)" -eq 5 ] || fail "$(cat first err)"

# a reader that closes the pipe ends the capture, with records and without
bustap capture --board virtual:smp=2 -o - 2>err | head -c 100000 >/dev/null || fail "status of a closed pipe"
[ "${PIPESTATUS[0]}" -eq 0 ]
grep -q 'closed by its reader: the capture ends' err || fail "$(cat err)"
bustap capture --board virtual:smp=2 -f 'type=SHUTDOWN and address=1' -o - 2>err | sleep 0.5 || fail "status of a silent capture"
grep -q '^bustap: stopped: 0 records' err || fail "$(cat err)"

# a slow reader: what finds the queue full is lost and counted at its place
bustap capture -q --board virtual:smp=2 --queue 2M --when-full drop -s time=2s -o - 2>err |
    { sleep 1; cat; } >slow.byu.gz || true
bustap verify slow.byu.gz >verdict || fail "$(cat verdict)"
grep -q '^accounted for' verdict || fail "$(cat verdict)"
bustap info --json slow.byu.gz >info || true
jq -e '.lost_by_stage.queue > 0 and .lost_by_stage.disk == 0' info >/dev/null || fail "$(cat info)"

# one that never reads does not hold up the end: valid up to its last whole block
mkfifo pipe
sleep 60 <pipe &
reader=$!
status=0
bustap capture --board virtual:smp=2 -s time=0.2s -o - 2>err >pipe || status=$?
kill $reader
[ $status -eq 3 ] || fail "$status: $(cat err)"
grep -q 'standard output is not read' err || fail "$(cat err)"

# what a stream excludes
usage() { # MESSAGE OPTION...
    local status=0
    bustap capture --board $board -o - "${@:2}" 2>err | cat >out || status=${PIPESTATUS[0]}
    [ ! -s out ] || fail "$* wrote"
    grep -q -e "$1" err || fail "$*: $(cat err)"
}
usage 'is one stream' --rotate size=1M
usage 'is one stream' --rotate every=1h
usage 'is one stream' --keep 3
usage 'is one stream' --append
usage 'a stream has no names' --print-names
script -qec "bustap capture --board $board -o -" /dev/null </dev/null >terminal || true
grep -q 'not written to a terminal' terminal || fail "$(head -c 300 terminal)"
status=0
bustap exec -o - true 2>err || status=$?
[ $status -ne 0 ]
grep -q 'bustap follow PREFIX' err || fail "$(cat err)"
