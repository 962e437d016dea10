#!/bin/bash
# A board, the configuration, the supervisor or the file system blocks forever. SIGTERM still ends the daemon within
# the time limit, a second one at once; other captures are complete, and written data is kept.
set -eu
. "$TOP/tests/host/daemon.sh"

# a board that blocks when it is opened: a pipe without a writer
mkfifo never
cat >conf <<END
[daemon]
stop-timeout = 2s
[capture stuck]
board = virtual:replay=never
output = out/stuck
[capture good]
board = virtual:smp=2,rate=200000
output = out/good
rotate = size=20K
END
start_daemon
await has_records good 1000
await is_state stuck starting
end_daemon
[ "$ended" -eq 3 ] || fail "a board that never answers: exit status $ended"
grep -q '^bustapd: did not stop in time; ending; all files are complete; ' log
[ -z "$(ls out | grep 'good.*part$')" ] || fail "the good capture was not completed: $(ls out)"
verify_files out/good_*.byu.gz

# a second signal does not wait
sed -i 's/^stop-timeout.*/stop-timeout = 1h/' conf
start_daemon
await is_state stuck starting
kill -TERM "$daemon"
await is_state stuck stopping
insist "$daemon"
[ "$ended" -eq 143 ] || fail "the second signal: exit status $ended"
grep -q '^bustapd: ended at once by a second signal; ' log

# the configuration
bustapd -c never 2>>log &
daemon=$!
await takes_signals "$daemon"
kill -TERM "$daemon"
await took_signals "$daemon"
insist "$daemon"
[ "$ended" -eq 143 ] || fail "the configuration: exit status $ended"

# a supervisor that does not read its messages
perl -MSocket -e '
    socket(my $s, AF_UNIX, SOCK_DGRAM, 0) or die;
    bind($s, pack_sockaddr_un("notify")) or die;
    sleep 1000' &
supervisor=$!
trap 'kill $supervisor' EXIT
await test -S notify
rm conf
add_capture good
export NOTIFY_SOCKET="$PWD/notify" WATCHDOG_USEC=4000
start_daemon
sleep 1 # the socket holds a few hundred messages
ctl status >/dev/null || fail "no answer while the supervisor does not read"
stop_daemon
unset NOTIFY_SOCKET WATCHDOG_USEC

# a file system: written parts of files can be recovered
cat >stuck.c <<END
int pause(void);
int fsync(int descriptor)
{
    for (;;)
        pause();
    return descriptor;
}
END
gcc -shared -fPIC -o stuck.so stuck.c
sed -i '1i [daemon]\nstop-timeout = 2s' conf
rm -rf out
start_daemon env ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0" LD_PRELOAD="$PWD/stuck.so"
await has_records good 1000
end_daemon
[ "$ended" -eq 3 ] || fail "a file system: exit status $ended"
for part in out/*.part; do
    bustap recover "$part" -o recovered.byu.gz || fail "$part cannot be recovered"
    [ "$(bustap info --json recovered.byu.gz | jq .records)" -ge 1000 ] || fail "records are missing"
done
