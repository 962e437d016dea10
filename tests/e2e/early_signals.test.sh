#!/bin/bash
# A signal at the start: from the first instruction of main(), it has the same effect as later. The programs end
# cleanly, with the documented status, and leave neither partial files nor locks.
set -eu

fail() {
    echo "$*" >&2
    exit 1
}

# Delivers the signal at the first system call of main(), which checks the standard streams.
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

# The same, but the signal is sent before the program is executed.
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
        $way "$number" bustap capture --board virtual:smp=2,rate=1000 -o c/one 2>messages ||
            fail "$way $number: capture ended with $?: $(cat messages)"
        grep -q '^bustap: stopped: ' messages || fail "$way $number: $(cat messages)"
        [ -z "$(ls -A c | grep -v '^one_00001_.*\.byu\.gz$')" ] || fail "$way $number: capture left $(ls -A c)"
        bustap verify c/one_*.byu.gz >verdict || fail "$way $number: $(cat verdict)"

        $way "$number" bustapd -c conf --socket socket 2>log || fail "$way $number: bustapd ended with $?"
        [ "$(cat log)" = 'bustapd: stopped' ] || fail "$way $number: bustapd said $(cat log)"
        [ ! -e d ] && [ -z "$(ls -A | grep '^\.\?socket')" ] || fail "$way $number: bustapd left $(ls -A)"

        # commands with nothing to complete die of the signal
        status=0
        early "$number" bustap --version >messages || status=$?
        [ "$status" -eq 0 ] || [ "$status" -eq $((128 + number)) ] || fail "version: $status"
        status=0
        early "$number" bustap info c/one_*.byu.gz >messages || status=$?
        [ "$status" -eq $((128 + number)) ] || fail "info: $status"
    done
done

# SIGHUP: a new file at once, no end
pending 1 bustap capture --board virtual:smp=2,rate=1000 --stop time=1s -o c/hup 2>messages
ls c/hup_00002_* >/dev/null || fail "SIGHUP made no new file"
early 1 bustap capture --board virtual:smp=2,rate=1000 --stop time=1s -o c/hup2 2>messages
ls c/hup2_00002_* >/dev/null || fail "SIGHUP made no new file"

# The program under bustap exec has not started: both end as the program would.
rm -rf c && mkdir c
for number in 1 2 15; do
    status=0
    early "$number" bustap exec -q -o c/one -- /bin/true 2>messages || status=$?
    [ "$status" -eq $((128 + number)) ] || fail "exec: $status"
    [ -z "$(ls -A c)" ] || fail "exec left $(ls -A c)"
done
