#!/bin/bash
# Started without standard streams: what is printed goes nowhere, least of all into a file that was
# opened in the place of one.
set -eu
. "$TOP/tests/host/daemon.sh"

# three of the four leave the descriptor of standard error to something else; a bus that is slow enough loses nothing
# where the machine has no time for it, so that the status is 0
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
bustap --version >&- 2>told || status=$?
[ $status -eq 3 ] && grep -q 'cannot write standard output: Bad file' told || fail "$status, $(cat told)"

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
