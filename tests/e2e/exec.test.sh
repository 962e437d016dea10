#!/bin/bash
# `bustap exec`: options, outputs and errors. Real programs are in exec_list.
set -eu -o pipefail

[ -z "$NO_EXEC" ] || { echo "$NO_EXEC"; exit 77; }

. "$TOP/tests/e2e/exec_same.sh"
seq 1000 >input
seq 1000 | sort -R --random-source=<(yes) >lines
mkdir listed
touch listed/{a..z}
same ls listed
same cat
same sh -c 'kill -SEGV $$'
same sh -c 'kill -KILL $$'
same bash -c 'exec true'
same sh -c 'read name </proc/$$/comm; echo "$name"'

# programs that cannot run are reported before any file is created
printf '#!/nonexistent/shell\n' >orphan
chmod +x orphan
for program in ./orphan ./input; do
    got=0
    bustap exec -o none "$program" 2>messages || got=$?
    [ "$got" = 2 ] || { echo "$program: status $got"; cat messages; exit 1; }
done
if ls none* 2>/dev/null; then exit 1; fi

# a limit on file sizes is an error of the capture
got=0
(ulimit -f 10; bustap exec -o short ls >/dev/null 2>messages) || got=$?
[ "$got" = 3 ] || { echo "ulimit -f: status $got"; cat messages; exit 1; }
grep -q 'cannot write short_.*: File too large' messages
rm -f short_*

got=0
bustap exec -q -o short --modules /dev/full true 2>messages || got=$?
[ "$got" = 3 ] || { echo "--modules: status $got"; cat messages; exit 1; }
grep -q '^bustap: cannot write /dev/full: No space' messages
rm -f short_*

# a capture, its summary and its header
bustap exec -o out/gz -- gzip -9 -c lines 2>messages | cmp - <(gzip -9 -c lines)
grep -q '^bustap: .* records' messages
bustap info out/gz_*.byu.gz >info
grep -q '^ticks  *1 to [0-9]* instructions$' info
grep -q '^program  *gzip -9 -c lines$' info

# --- parts of a run ---

cat >part.c <<'END'
#include <stdio.h>
#include <stdlib.h>
__attribute__((noinline)) int work(int n)
{
    volatile int sum = 0;
    for (int i = 0; i < n; i++)
        sum += i;
    return sum;
}
int main(int count, char **arguments)
{
    (void)arguments;
    for (int i = 0; i < 3; i++)
        printf("%d\n", work(100 * count));
    return 5;
}
END
gcc -O1 -o part part.c

# capture OPTION... : captures ./part, whose output and status must not change, and counts fetches and data
capture() {
    local status=0
    rm -f part[_-]*
    bustap exec "$@" ./part >got 2>messages || status=$?
    [ "$status" = 5 ] || { echo "$*: status $status"; cat messages; exit 1; }
    printf '4950\n4950\n4950\n' | cmp - got
    bustap verify part[_-]*.byu.gz >verdict || { cat verdict; exit 1; }
    bustap info --json part[_-]*.byu.gz >info.json
    fetches=$(sed -n 's/^ *"FETCH": \([0-9]*\),*$/\1/p' info.json)
    records=$(jq .records info.json)
}

first() {
    bustap dump part[_-]*.byu.gz | head -n 1 | cut -d ' ' -f 1
}

capture
whole=$fetches
[ "$records" -gt "$fetches" ]
capture --only-fetch
[ "$fetches $records" = "$whole $whole" ]
capture --split-threads --summary summary
[ "$fetches" = "$whole" ]
ls part-t0_*.byu.gz >/dev/null
[ "$(wc -l <summary)" = 1 ]
grep -q '"complete":true' summary
gcc -O1 -w -pthread -o threads "$TOP/tests/capture/programs/threads.c"
./threads c >wanted
bustap exec -q -o each --split-threads ./threads c | cmp - wanted # four threads that wait for each other
for thread in 0 1 2 3 4; do
    bustap verify each-t${thread}_*.byu.gz >/dev/null
    bustap info --json each-t${thread}_*.byu.gz | # only its own records
        jq -e --arg number $thread '.complete and .records > 100 and (.by_processor | keys) == [$number]' >/dev/null ||
        { echo "thread $thread"; exit 1; }
done
[ "$(ls each-*.byu.gz | wc -l)" = 5 ]
# one after the other
cat >turns.c <<'END'
#include <pthread.h>
static void *work(void *argument)
{
    return argument;
}
int main(void)
{
    for (int i = 0; i < 3; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, work, NULL) != 0 || pthread_join(thread, NULL) != 0)
            return 1;
    }
    return 0;
}
END
gcc -pthread -o turns turns.c
bustap exec -q -o turns --split-threads ./turns
[ "$(ls turns-*.byu.gz | cut -d _ -f 1 | tr '\n' ' ')" = "turns-t0 turns-t1 turns-t2 turns-t3 " ]
bustap profile --by function --csv --split-threads -o turns.csv ./turns
[ "$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } { print $(at["thread"]) }' turns.csv |
    sort -u | tr '\n' ' ')" = "0 1 2 3 " ]
capture --only-data
[ -z "$fetches" ]
[ "$records" -gt 1000 ]
for limit in 1 2 1000 12345; do
    capture --count "$limit"
    [ "$fetches" = "$limit" ]
    capture --skip "$limit" --count 3
    [ "$fetches" = 3 ]
done
capture --skip 1000
[ "$fetches" = $((whole - 1000)) ]
capture --skip 1G
[ "$records" = 0 ]
grep -q 'ended before the instructions of --skip' messages

# skipped and captured records add up to the whole
bustap dump part[_-]*.byu.gz >rest
capture
bustap dump part[_-]*.byu.gz >all
capture --skip 777
bustap dump part[_-]*.byu.gz >rest
tail -n "$(wc -l <rest)" all | cmp - rest
# an empty capture is reported with --quiet, too
capture --quiet --start-at 0x1
grep -q 'never reached 0x1$' messages
capture --count 777
bustap dump part[_-]*.byu.gz >begin
cat begin rest | cmp - all

at=$(nm part | sed -n 's/^0*\([0-9a-f]*\) T work$/\1/p')
capture --start-at work --count 7 --modules modules
[ "$fetches" = 7 ]
base=$(sed -n "s|^$PWD/part@0x||p" modules)
[ "$(first)" = "$(printf %08x $((0x$base + 0x$at)))" ]
one=$(first)
capture --start-at "0x$one" --stop-at work # the second call is the end
loop=$fetches
[ "$loop" -gt 400 ]
[ "$(first)" = "$one" ]
capture --start-at work --skip "$loop" --count 5 # which starts with the call
[ "$(first)" = "$one" ]
capture --start-at work+0x4 --count 1
capture --stop-at work
before=$fetches
capture --start-at work
[ $((before + fetches)) = "$whole" ]
capture --modules modules
bustap dcfg build $(sed 's/^/--image /' modules) -o part.json --trace trace.json part[_-]*.byu.gz 2>messages
bustap dcfg check --trace trace.json part.json
bustap dcfg blocks part.json | grep -q ' work+'
capture --start-at printf --count 2 # in a library that is loaded later
[ "$fetches" = 2 ]
capture --start-at no_such_function
[ "$records" = 0 ]
grep -q 'no file that the program loaded has a function no_such_function' messages
capture --stop-at no_such_function
[ "$fetches" = "$whole" ]
grep -q 'no file that the program loaded has a function no_such_function' messages
capture --start-at work --stop-at printf
[ "$(grep -c function messages)" = 0 ]
status=0
bustap exec -q --start-at work --count 10 --exit -o ended ./part >got || status=$?
[ "$status" = 0 ]
[ ! -s got ]
bustap info --json ended_*.byu.gz | grep -q '"FETCH": 10'

# --- through a board ---

instructions() {
    bustap dump part[_-]*.byu.gz | awk '$NF == 1 { print $1, $2 }'
}
capture
instructions >wanted
capture --virtual-board
instructions | cmp wanted -
[ "$records" -gt "$whole" ]
capture --virtual-board --packing plain --count 5000
[ "$(instructions | wc -l)" = 5000 ]

# --- what can go wrong ---

# the reader of the output ends
status=0
bustap exec -q -o pipe sh -c 'while echo x; do :; done' 2>messages | head -n 1 >got || status=$?
[ "$status" = 141 ] # the program has died of it
[ ! -s messages ]
bustap verify pipe_*.byu.gz >/dev/null
status=0
(trap '' PIPE; exec bustap exec -q -o ignored sh -c 'while echo x; do :; done') 2>messages | head -n 1 >got || status=$?
[ "$status" = 0 ] # it ignores the signal, and reports the error
[ -s messages ]

# the file system fails: the program runs to its end, and the status reports the error
status=0
(
    ulimit -f 100
    trap '' XFSZ
    bustap exec -q -o small/f gzip -9 -c input >got 2>messages
) || status=$?
[ "$status" = 3 ] || { echo "status $status"; cat messages; exit 1; }
gzip -9 -c input | cmp - got
[ "$(grep -c 'correct that or choose another place' messages)" = 1 ]
[ "$(ls small/*.byu.gz | wc -l)" = 1 ]
# at any moment of the program: several run at a time, so that some signals arrive late
for run in 1 2 3 4 5 6 7 8 9 10 11 12; do
    (
        ulimit -f 100
        trap '' XFSZ
        mkdir "small$run"
        status=0
        bustap exec -q -o "small$run/f" gzip -9 -c input >"got$run" 2>"messages$run" || status=$?
        [ "$status" = 3 ]
        gzip -9 -c input | cmp - "got$run"
        [ "$(grep -c 'correct that or choose another place' "messages$run")" = 1 ]
    ) &
    runs="${runs:-} $!"
done
for run in $runs; do
    wait "$run"
done
status=0
bustap exec -q -o /proc/nowhere/f true 2>messages || status=$?
[ "$status" = 3 ]
grep -q '^bustap: .*/proc/nowhere' messages

# until_there COMMAND...: waits until it succeeds, or bustap ends
until_there() {
    until "$@" >/dev/null 2>&1; do
        kill -0 "$bustap" 2>/dev/null || { echo "ended before: $*"; cat got messages; exit 1; }
        sleep 0.05
    done
}
# bustap forwards signals to the program
bustap exec -q -o sent bash -c 'trap "echo terminated; exit 9" TERM; echo ready; while :; do :; done' >got &
bustap=$!
until_there grep -q ready got
kill -TERM $bustap
status=0
wait $bustap || status=$?
[ "$status" = 9 ]
grep -q terminated got
bustap verify sent_*.byu.gz >/dev/null
# killed NUMBER TARGET: a program in the background, where shells ignore INT and QUIT, dies of the signal
# that is sent to bustap or its group, and so does bustap
killed() {
    local status=0
    rm -f killed_*
    setsid env --default-signal bustap exec -q -o killed sleep 1000 2>messages &
    bustap=$!
    until_there eval 'ls killed_*.part'
    kill "-$1" -- "$2$bustap"
    wait $bustap 2>/dev/null || status=$?
    [ "$status" = $((128 + $1)) ] || { echo "signal $1 to $2: status $status"; cat messages; exit 1; }
    bustap verify killed_*.byu.gz >verdict || { cat verdict; exit 1; }
}
for signal in 1 2 3 15; do
    killed $signal ''
    killed $signal -
done

# programs that cannot run, before one has run
refused() {
    local status=0 words=$1
    shift
    bustap exec -o refused "$@" 2>messages || status=$?
    [ "$status" = 2 ] || { echo "$*: status $status"; cat messages; exit 1; }
    [ "$(wc -l <messages)" = 1 ]
    grep -q "$words" messages || { cat messages; exit 1; }
    ! ls refused* >/dev/null 2>&1 || exit 1
}
refused 'no such program' no-such-program
refused 'is a folder' /
echo 'no script' >text
refused 'may not be executed' ./text
chmod +x text
refused 'is neither an ELF program nor a script' ./text
printf '#!/nonexistent/interpreter\n' >script
chmod +x script
refused '/nonexistent/interpreter' ./script
echo 'void _start(void) { __asm__("mov $60, %eax; xor %edi, %edi; syscall"); }' >high.c
gcc -nostdlib -static -Wl,-Ttext-segment=0x200000000 -o high high.c
refused '4 GiB' ./high
head -c 1000 part >cut
chmod +x cut
refused 'is truncated' ./cut
printf '\177ELF\001\001\001\0\0\0\0\0\0\0\0\0\002\0\003\0\001\0\0\0' >old && head -c 100 /dev/zero >>old
chmod +x old
refused '32-bit' ./old
gcc -O1 -static -o alone part.c
refused 'no function nowhere' --start-at nowhere ./alone
if [ "$(id -u)" != 0 ] && [ -u /bin/su ]; then
    refused 'rights of another user' /bin/su
fi
printf '#!/bin/sh\necho "$0 $1"\n' >script
bustap exec -q -o script ./script x | grep -qx './script x'
