#!/bin/bash
# Messages to the supervisor: ready, status, alive, stopping; priorities of journal lines.
set -eu
. "$TOP/tests/host/daemon.sh"

add_capture one 'board = virtual:smp=2,rate=100000'
add_capture none 'board = virtual:replay=none.byu'
perl -MSocket -e '
    socket(my $s, AF_UNIX, SOCK_DGRAM, 0) or die;
    bind($s, pack_sockaddr_un("notify")) or die;
    $| = 1;
    while (defined recv($s, my $text, 4096, 0)) { print "$text\n" }' >notices &
listener=$!
trap 'kill $listener' EXIT
await test -S notify

: >log
export NOTIFY_SOCKET="$PWD/notify" WATCHDOG_USEC=400000
JOURNAL_STREAM=$(stat -c '%d:%i' log)
export JOURNAL_STREAM
start_daemon
await grep -qx 'READY=1' notices
await grep -qx 'STATUS=2 captures: 1 running, 1 waiting' notices
# twice as often as required, unless the machine is busy
is_alive() {
    before=$(grep -c '^WATCHDOG=1' notices)
    sleep 1.2
    [ $(($(grep -c '^WATCHDOG=1' notices) - before)) -ge 4 ]
}
await is_alive
stop_daemon
await grep -qx 'STOPPING=1' notices
grep -q '^<6>ready: 2 captures' log
grep -q '^<4>capture none: .*none.byu' log
grep -q '^<6>capture one: wrote out/one_00001_' log
