#!/bin/bash
# What `bustap wet` records of programs that end in all ways, and what it does about bad options, a full disk and kill -9.
set -eu -o pipefail
[ -z "$NO_EXEC" ] || { echo "$NO_EXEC"; exit 77; }

fail() {
    echo "$*"
    exit 1
}

# status N COMMAND...: the exit status of a command
status() {
    local expected=$1 got=0
    shift
    "$@" >out 2>messages || got=$?
    [ "$got" = "$expected" ] || fail "$*: status $got, not $expected: $(cat messages)"
}

# read_file FILE: what read_wet says; every label, outcome and edge fits
read_file() {
    "$BUILD/tests/e2e/read_wet" "$1"
}

# --- options ---
status 2 bustap wet -- /bin/true
grep -q -- '-o is missing' messages
status 2 bustap wet -o a.wet
status 2 bustap wet -o - -- /bin/true
status 2 bustap wet -o a.wet -- ./missing
status 3 bustap wet -o missing/a.wet -- /bin/true

# --- ends: exit status, signal with its instruction, limit, another program ---
cat >ends.c <<'C'
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>
int main(int count, char **arguments)
{
    volatile int sum = 0;
    for (int i = 0; i < 20000; i++)
        sum += i;
    if (count > 1 && *arguments[1] == 's')
        *(volatile int *)16 = 1; /* 10 */
    if (count > 1 && *arguments[1] == 'e')
        execl("/bin/true", "true", (char *)0);
    if (count > 1 && *arguments[1] == 'f' && fork() == 0)
        _exit(9);
    return 7;
}
C
gcc -g -O1 -o ends ends.c
for values in "" --no-values; do
    status 7 bustap wet $values -o a.wet ./ends
    [[ $(read_file a.wet) == "exited 7 "* ]]
    status 7 bustap wet $values --chunk 100 -o a.wet ./ends f
    [[ $(read_file a.wet) == "exited 7 "* ]]
    status 139 bustap wet $values -o a.wet ./ends s
    [[ $(read_file a.wet) == "killed 11 "*" main "*/ends.c:10 ]] || fail "$(read_file a.wet)"
    status 0 bustap wet $values -o a.wet ./ends e
    [[ $(read_file a.wet) == "executed 0 "* ]]
    status 0 bustap wet $values --start-at main -n 1000 --exit -o a.wet ./ends
    [[ $(read_file a.wet) == "limited 0 1000 "* ]]
    status 7 bustap wet $values --sample 100/1000 --chunk 50 -o a.wet ./ends
    read_file a.wet >/dev/null
done

# --- a disk that is full, and kill -9: whole chunks remain ---
status 3 bash -c 'ulimit -f 8; exec bustap wet --chunk 1000 -o a.wet sh -c "exit 0"'
grep -q 'recording has stopped after [1-9][0-9]* instructions: cannot write the WET file' messages
[[ $(read_file a.wet 2>/dev/null) == "open "* ]]
bustap wet --chunk 1000 -o b.wet -- sh -c 'while :; do :; done' >/dev/null 2>&1 &
for ((i = 0; i < 600; i++)); do
    [ "$(stat -c %s b.wet 2>/dev/null || echo 0)" -lt 50000 ] || break
    sleep 0.1
done
kill -9 $!
wait $! || true
[[ $(read_file b.wet 2>/dev/null) == "open "* ]]

# --- threads ---
cat >threads.c <<'C'
#include <pthread.h>
static void *work(void *at)
{
    for (volatile int i = 0; i < 3000; i++)
        *(volatile int *)at += i;
    return 0;
}
int main(void)
{
    static int cells[4];
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], 0, work, &cells[i]);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], 0);
    return 0;
}
C
gcc -g -O1 -pthread -o threads threads.c
bustap wet --chunk 500 --quantum 300 -o a.wet ./threads 2>/dev/null
read -r _ _ _ _ threads _ _ _ _ clones _ < <(read_file a.wet)
[ "$threads $clones" = "5 4" ] || fail "$threads threads, $clones clones"

# --- faults in blocks that were never executed as a whole, or have no instructions; blocks that change themselves ---
cat >faults.c <<'C'
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
int main(int count, char **arguments)
{
    volatile int zero = count - 2, sum = 1;
    /* add $7,1(%rip) changes the next instruction; mov $5,%eax; ret */
    static const unsigned char changing[] = {0x83, 5, 1, 0, 0, 0, 7, 0xb8, 5, 0, 0, 0, 0xc3};
    if (*arguments[1] == 'd')
        sum = sum / zero + 2 * sum; /* 10 */
    if (*arguments[1] == 'u')
        __builtin_trap(); /* 12 */
    void *code = mmap(0, 4096, 7, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memcpy(code, changing, sizeof changing);
    for (int i = 0; i < 50; i++)
        sum += ((int (*)(void))code)();
    printf("%d\n", sum);
    return 0;
}
C
gcc -g -O1 -o faults faults.c
for way in "d 136" "u 132" "c 0"; do
    read -r kind expected <<<"$way"
    for values in "" --no-values; do
        status "$expected" bustap wet $values -o a.wet ./faults "$kind"
        [ "$kind" != c ] || grep -qx 9176 out || fail "changing code: $(cat out)"
        status 0 bustap wet check a.wet
        [ "$kind" = c ] || bustap slice a.wet end | grep -q 'faults\.c' || fail "$kind: no slice"
    done
    status "$expected" bustap wet --history 1000 -o a.history ./faults "$kind"
    status 0 bustap wet check a.history
done

# --- code that is loaded again has new ids ---
gcc -O1 -o reloaded "$TOP/tests/e2e/programs/reloaded.c"
bustap wet --no-values -o a.wet ./reloaded 2>/dev/null
[ "$(bustap wet print a.wet | grep -cE '^[0-9]+ [0-9]+ 20000000 ')" = 2 ] || fail "reloaded code has no new id"

# --- parts of blocks that were not executed whole ---
gcc -O1 -o interrupted "$TOP/tests/e2e/programs/interrupted.c"
bustap wet --chunk 50 -o a.wet ./interrupted >/dev/null 2>&1 || true
bustap wet check a.wet >/dev/null || fail "a block without instructions"
