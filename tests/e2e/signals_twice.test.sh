#!/bin/bash
# timeout(1), sudo and containers deliver one request to end as two signals within microseconds. It ends all commands
# as one signal does, with everything written; a second request, half a second later, writes what is in memory.
set -eu
. "$TOP/tests/host/daemon.sh"

# Sends process $1 the signal $2 (TERM) twice, 50 microseconds apart.
twice() {
    perl -e 'kill $ARGV[1], $ARGV[0]; select(undef, undef, undef, 5e-5); kill $ARGV[1], $ARGV[0]' "$1" "${2:-TERM}"
}

# Waits for process $1, sets $ended to its exit status.
end_of() {
    ended=0
    wait "$1" 2>/dev/null || ended=$?
}

for round in 1 2 3 4; do
    bustap capture -q --board virtual:smp=2,rate=100k -o "a/$round" 2>err &
    capture=$!
    await sh -c "ls a/${round}_*"
    twice $capture
    end_of $capture
    [ "$ended" -eq 0 ] || fail "capture $round: status $ended, $(cat err)"
done
[ -z "$(ls a | grep 'part$')" ] || fail "a capture was not ended: $(ls a)"
verify_files a/*

# a second request does not wait for a board that has stopped; the records in memory are written
board=$BUILD/tests/e2e/firmware_board
bustap capture -q --flush 1h --board "program:$board virtual:smp=2,rate=100k" -o b/b 2>err &
capture=$!
await sh -c 'ls b/*.part'
has_read() { [ "$(sed -n 's/^rchar: //p' "/proc/$capture/io")" -gt 400000 ]; }
await has_read
kill -STOP "$(pgrep -P $capture firmware_board)"
twice $capture
insist $capture
ls b/*.byu.gz >/dev/null || fail "the records in memory were not written: $(ls -l b) $(cat err)"
[ "$(bustap info --json b/*.byu.gz | jq .records)" -gt 10000 ] || fail "records are missing: $(cat err)"
[ "$ended" -ne 143 ] || grep -q '^bustap: stopped immediately; what was in memory is written' err || fail "$(cat err)"

# the daemon
add_capture one
for round in 1 2 3; do
    start_daemon
    await is_state one running
    await has_records one 100
    twice "$daemon"
    end_of "$daemon"
    [ "$ended" -eq 0 ] || fail "bustapd $round: status $ended"
done
verify_files out/one_*
cat >conf <<END
[capture one]
board = program:$board virtual:smp=2,rate=100k
output = flushed/one
END
start_daemon
await is_state one running
capture=$daemon
await has_read
kill -STOP "$(pgrep -P "$daemon" firmware_board)"
twice "$daemon"
insist "$daemon"
[ "$ended" -eq 143 ] || fail "bustapd, a second request: status $ended"
[ "$(bustap info --json flushed/*.byu.gz | jq .records)" -gt 1000 ] || fail "records are missing: $(ls -l flushed)"
grep -q 'ended at once by a second signal; all files are complete; ' log

# followers of a capture
bustap capture -q --board virtual:smp=2,rate=10k -o c/c 2>err &
capture=$!
await sh -c 'ls c/c_*'
bustap follow c/c -o followed.byu.gz &
follow=$!
await test -s followed.byu.gz
twice $follow
end_of $follow
[ "$ended" -eq 143 ] || fail "follow: status $ended"
[ "$(bustap info --json followed.byu.gz | jq .records)" -gt 0 ] || fail "follow: no records"
for _ in 1 2 3 4; do
    bustap top --follow c/c --csv --delay 100ms >top.csv &
    top=$!
    await test -s top.csv
    twice $top INT
    end_of $top
    [ "$ended" -eq 0 ] || [ "$ended" -eq 1 ] || fail "top: status $ended"
done
kill $capture
end_of $capture

# executed programs
[ -z "$NO_EXEC" ] || exit 0
cat >work.sh <<'END'
echo began >began
while :; do :; done
END
# Runs a command with a program, which two signals end.
runs() {
    rm -f began
    bustap "$@" sh work.sh 2>err &
    program=$!
    await test -s began
    twice $program
    end_of $program
    [ "$ended" -eq 143 ] || fail "$*: status $ended, $(cat err)"
}
for round in 1 2 3 4 5; do
    for command in depend profile rondo wet; do
        runs $command -o "$command.out"
        [ -s "$command.out" ] || fail "$command $round: no report"
    done
    runs exec -q -o "e/$round"
done
verify_files e/*.byu.gz
bustap wet check wet.out >/dev/null
