#!/bin/bash
# A signal in the first moments: as soon as main() runs it is obeyed as at any other time. The programs end cleanly, with
# the status that their pages give, and leave neither half files nor locks.
set -eu

fail() {
    echo "$*" >&2
    exit 1
}

# The first system call of main(), which looks at the standard streams, brings the signal with it.
cat >early.c <<END
#define _GNU_SOURCE
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>
int fcntl64(int descriptor, int command, ...)
{
    va_list arguments;
    va_start(arguments, command);
    long argument = va_arg(arguments, long);
    va_end(arguments);
    const char *number = getenv("EARLY");
    unsetenv("EARLY");
    if (number)
        kill(getpid(), atoi(number));
    return (int)syscall(SYS_fcntl, descriptor, command, argument);
}
int fcntl(int descriptor, int command, ...) __attribute__((alias("fcntl64")));
END
gcc -shared -fPIC -w -o early.so early.c
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0"
early() {
    local number=$1
    shift
    env "EARLY=$number" "LD_PRELOAD=$PWD/early.so" "$@"
}

# The same, sent before the program is executed at all.
pending() {
    perl -e 'use POSIX; my $number = shift;
        sigprocmask(SIG_BLOCK, POSIX::SigSet->new($number)); kill $number, $$; exec @ARGV' "$@"
}

cat >conf <<END
[capture one]
board = virtual:smp=2,rate=1000
output = d/one
END
for way in early pending; do
    for number in 2 15; do
        rm -rf c d && mkdir c
        $way "$number" bustap capture --board virtual:smp=2,rate=1000 -o c/one 2>told ||
            fail "$way $number: capture ended with $?: $(cat told)"
        grep -q '^bustap: stopped: ' told || fail "$way $number: $(cat told)"
        [ -z "$(ls -A c | grep -v '^one_00001_.*\.byu\.gz$')" ] || fail "$way $number: capture left $(ls -A c)"
        bustap verify c/one_*.byu.gz >verdict || fail "$way $number: $(cat verdict)"

        $way "$number" bustapd -c conf --socket socket 2>log || fail "$way $number: bustapd ended with $?"
        [ "$(cat log)" = 'bustapd: stopped' ] || fail "$way $number: bustapd said $(cat log)"
        [ ! -e d ] && [ -z "$(ls -A | grep '^\.\?socket')" ] || fail "$way $number: bustapd left $(ls -A)"

        # commands that have nothing to complete die of it
        status=0
        early "$number" bustap --version >told || status=$?
        [ "$status" -eq 0 ] || [ "$status" -eq $((128 + number)) ] || fail "version: $status"
        status=0
        early "$number" bustap info c/one_*.byu.gz >told || status=$?
        [ "$status" -eq $((128 + number)) ] || fail "info: $status"
    done
done

# SIGHUP: a new file at once, no end
pending 1 bustap capture --board virtual:smp=2,rate=1000 --stop time=1s -o c/hup 2>told
ls c/hup_00002_* >/dev/null || fail "SIGHUP made no new file"
early 1 bustap capture --board virtual:smp=2,rate=1000 --stop time=1s -o c/hup2 2>told
ls c/hup2_00002_* >/dev/null || fail "SIGHUP made no new file"

# A program under bustap exec has not begun: both end as the program would.
rm -rf c && mkdir c
for number in 1 2 15; do
    status=0
    early "$number" bustap exec -q -o c/one -- /bin/true 2>told || status=$?
    [ "$status" -eq $((128 + number)) ] || fail "exec: $status"
    [ -z "$(ls -A c)" ] || fail "exec left $(ls -A c)"
done
