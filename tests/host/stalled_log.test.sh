#!/bin/bash
# The log's reader stalls: the daemon still answers clients and obeys signals, and captures are complete. Dropped
# lines are counted in the status and, when the reader continues, in the log.
set -eu
. "$TOP/tests/host/daemon.sh"

cat >conf <<END
[capture one]
board = virtual:smp=2,rate=200000
output = out/one
# each new file writes a line
[capture noise]
board = virtual:smp=2,rate=200000
output = noise/n
rotate = size=4K
keep = 3
END
mkfifo fifo

# A reader that waits for a signal of the test, on a pipe of one page.
perl -e '
    open(my $pipe, "<", "fifo") or die;
    fcntl($pipe, 1031, 4096) or die "F_SETPIPE_SZ: $!";
    $SIG{USR1} = sub { };
    sleep 1000;
    open(my $log, ">", "log") or die;
    while (sysread($pipe, my $text, 4096)) { syswrite($log, $text) }' &
reader=$!
trap 'kill $reader 2>/dev/null || true' EXIT
log=fifo start_daemon
await has_records one 1000

dropped() { [ "$(status .log_lines_dropped)" -gt 0 ]; }
await dropped
ctl rotate one >/dev/null || fail "no answer while the log is stalled"
await sh -c 'ls out/one_00001_*.byu.gz'
ctl status | grep -qx '[0-9]* lines of the log were dropped: its reader stalled' || fail "the table does not report dropped lines"
ctl stop >/dev/null || fail "stop was not answered"
is_state one stopped

# the reader continues
kill -USR1 "$reader"
await grep -q '^bustapd: [0-9]* lines\? w[a-z]* dropped here: the reader stalled$' log
# later lines are complete
ctl start one
await has_records one 1000
count=$(status .log_lines_dropped)
stop_daemon
await grep -q '^bustapd: stopped$' log
reported=$(sed -n 's/^bustapd: \([0-9]*\) lines\? w.* dropped here: .*/\1/p' log | awk '{ n += $1 } END { print n }')
[ "$reported" -eq "$count" ] || fail "$count lines were dropped, the log says $reported"
wait "$reader"
verify_files out/one_*.byu.gz

# SIGTERM while the reader is stalled
rm -rf out
perl -e '
    open(my $pipe, "<", "fifo") or die;
    fcntl($pipe, 1031, 4096) or die "F_SETPIPE_SZ: $!";
    sleep 1000' &
reader=$!
log=fifo start_daemon
await has_records one 1000
await dropped
stop_daemon
verify_files out/one_*.byu.gz
