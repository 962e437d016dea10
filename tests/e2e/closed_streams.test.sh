#!/bin/bash
# Without standard streams, output is discarded, and never written to a file that was opened with the
# descriptor of one.
set -eu
. "$TOP/tests/host/daemon.sh"

# in three of the four cases, another file may have the descriptor of standard error; a slow bus loses nothing on a
# busy machine, so that the status is 0
for closed in '<&- >&- 2>&-' '<&- 2>&-' '>&- 2>&-' '2>&-'; do
    rm -rf out
    eval "bustap capture --board virtual:smp=2,rate=1000 -o out/t $closed &"
    capture=$!
    await sh -c 'ls out/t_*.part'
    for _ in 1 2 3; do
        kill -USR1 $capture
        sleep 0.1
    done
    kill -INT $capture
    wait $capture || fail "capture $closed: exit status $?"
    bustap verify out/t_*.byu.gz >/dev/null || fail "capture $closed: the file is damaged"
done

# as before, a stream that is closed cannot be written
status=0
bustap --version >&- 2>messages || status=$?
[ $status -eq 3 ] && grep -q 'cannot write standard output: Bad file' messages || fail "$status, $(cat messages)"

cat >conf <<END
[capture one]
board = virtual:smp=2,rate=200000
output = daemon/one
END
bustapd -c conf --socket socket <&- >&- 2>&- &
daemon=$!
await has_records one 1000
grep -qx "bustap lock, process $daemon *" .socket.lock || fail "the lock says: $(cat .socket.lock)"
stop_daemon
bustap verify daemon/one_*.byu.gz >/dev/null
