#!/bin/bash
# bustap capture and exec while standard error or standard output is not read: the capture continues, signals work, and
# the end does not wait; output that is read late is complete.
set -eu
. "$TOP/tests/host/daemon.sh" # fail, await, takes_signals, took_signals

# stall NAME: a pipe of one page; its reader starts reading at SIGUSR1.
stall() {
    rm -f "$1"
    mkfifo "$1"
    perl -e '
        $SIG{USR1} = sub { };
        open(my $pipe, "<", $ARGV[0]) or die;
        fcntl($pipe, 1031, 4096) or die "F_SETPIPE_SZ: $!";
        sleep 1000;
        while (sysread($pipe, my $text, 4096)) { syswrite(STDOUT, $text) }' "$1" >"$1.read" &
    reader=$!
}
trap 'kill $reader 2>/dev/null || true' EXIT

long=$(printf 'long%.0s' {1..40}) # a few such names fill a pipe
files() { [ "$(ls a/"$1"_*.byu.gz 2>/dev/null | wc -l)" -ge "$2" ]; }

# standard error: a status line for each SIGUSR1, more than the pipe holds
stall messages
bustap capture --board virtual:smp=2,rate=200000 -o a/err --rotate size=64K 2>messages &
capture=$!
await files err 1
for _ in $(seq 200); do
    kill -USR1 "$capture"
    sleep 0.005
done
count=$(ls a/err_*.byu.gz | wc -l)
await files err $((count + 2))
kill -HUP "$capture"
kill -TERM "$capture"
status=0
wait "$capture" || status=$?
[ "$status" -eq 0 ] || fail "standard error: $status"
bustap verify a/err_*.byu.gz >verdict || fail "standard error: $(tail -1 verdict)"
kill "$reader"

# standard output: names wait for their reader and are not dropped
stall names
bustap capture -q --board virtual:smp=2,requests=300000 -o "a/names$long" --rotate size=4K --print-names >names &
capture=$!
await files "names$long" 40
await sh -c 'ls a/names*.part >/dev/null 2>&1 && exit 1 || exit 0'
kill -0 "$capture" || fail "it did not wait for the reader of names"
kill -USR1 "$reader"
wait "$capture" || fail "names: $?"
wait "$reader"
ls a/names*.byu.gz | cmp - names.read || fail "names are missing"

# ... but a stop does not wait
stall names
bustap capture -q --board virtual:smp=2,rate=200000 -o "a/stop$long" --rotate size=4K --print-names >names 2>err &
capture=$!
await files "stop$long" 40
kill -TERM "$capture"
status=0
wait "$capture" || status=$?
[ "$status" -eq 3 ] || fail "unread names: $status"
grep -q '^bustap: standard output is not read: its text is incomplete$' err || fail "names: $(cat err)"
bustap verify a/stop*.byu.gz >verdict || fail "names: $(tail -1 verdict)"
kill "$reader"

# a second signal ends it immediately
stall messages
bustap capture -q --board virtual:smp=2,rate=200000 -o a/twice 2>messages &
capture=$!
await sh -c 'ls a/twice_*'
for _ in $(seq 200); do
    kill -USR1 "$capture"
    sleep 0.005
done
insist "$capture" INT
status=$ended
# it may have ended by the first
[ "$status" -eq 130 ] || [ "$status" -eq 0 ] || fail "twice: $status"
kill "$reader"

# a board whose opening blocks
mkfifo never
bustap capture -q --board virtual:replay=never -o a/never 2>err &
capture=$!
await takes_signals "$capture"
insist "$capture" INT
status=$ended
[ "$status" -eq 130 ] || fail "a board that never answers: $status"

# bustap exec passes signals on and ends with its program
[ -z "$NO_EXEC" ] || exit 0
stall messages
bustap exec -o a/exec --rotate size=64K -- sh -c 'trap "exit 7" TERM; echo >began; while :; do :; done' 2>messages &
run=$!
await test -s began
{ head -c 20000 /dev/zero >messages; } & # fills the pipe
filler=$!
sleep 0.2
kill -TERM "$run"
await sh -c "! kill -0 $run || ! pgrep -P $run >/dev/null"
insist "$run" # it waits for its summary to be read
status=$ended
[ "$status" -eq 7 ] || fail "exec: $status"
kill "$filler" "$reader" 2>/dev/null || true
