#!/bin/bash
# Dependences of all kinds of programs: threads, all ends of a program, jumps out of functions, code without symbols or
# files; options that restrict what is traced; outputs that fail.
set -eu -o pipefail
[ -z "$NO_EXEC" ] || { echo "$NO_EXEC"; exit 77; }
programs=$TOP/tests/e2e/programs

# rows FILE NAME: kind, count, lines of sink and source, carried, of the rows about a source file
rows() {
    python3 - "$1" "$2" <<'PY'
import csv, sys
for row in csv.DictReader(open(sys.argv[1], newline="")):
    if row["sink_file"].endswith(sys.argv[2]) and row["source_file"].endswith(sys.argv[2]):
        print(row["kind"], row["count"], row["sink_line"], row["source_line"], row["carried"])
PY
}

# --- threads: the same report each time, and dependences between threads ---
cat >threads.c <<'C'
#include <pthread.h>
#include <stdio.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int shared, own[3][64];
static void *work(void *at)
{
    int *cells = at;
    for (int turn = 0; turn < 50; turn++) {
        for (int i = 1; i < 64; i++)
            cells[i] += cells[i - 1] + turn;
        pthread_mutex_lock(&lock);
        shared += cells[63]; /* 12 */
        pthread_mutex_unlock(&lock);
    }
    return 0;
}
int main(void)
{
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], 0, work, own[i]);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], 0);
    printf("%d\n", shared);
    return 0;
}
C
gcc -g -O1 -pthread -o threads threads.c
./threads >native
for i in 1 2 3; do
    bustap depend --quantum 500 --csv --trace $i.trace -o $i.csv ./threads >out
    cmp native out
    cmp 1.csv $i.csv
    cmp 1.trace $i.trace
    bustap depend check $i.csv
    bustap depend check $i.trace
done
# 150 updates, all but the first of which depend on another; some are of another thread
rows 1.csv threads.c | awk '$1 == "RAW" && $3 == 12 && $4 == 12 { sum += $2 } END { exit sum != 149 }'
awk -F , '$1 == "RAW" && $12 == 12 && $9 != $10 { found = 1 } END { exit !found }' 1.csv

# --- ends of a program ---
cat >ends.c <<'C'
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static volatile int cells[4];
static void put(void) { cells[0] = 1; cells[1] = cells[0] + 1; /* 7 */ }
static void handle(int number) { cells[2] = cells[1] + number; /* 8 */ }
int main(int count, char **words)
{
    const char *what = words[count - 1];
    put();
    if (!strcmp(what, "fault")) *(volatile int *)0 = 1;
    if (!strcmp(what, "abort")) abort();
    if (!strcmp(what, "exit")) _exit(7);
    if (!strcmp(what, "terminated")) kill(getpid(), SIGTERM);
    if (!strcmp(what, "fork")) {
        int status;
        if (fork() == 0) { for (int i = 0; i < 9; i++) put(); _exit(3); }
        wait(&status);
        put();
        return WEXITSTATUS(status);
    }
    if (!strcmp(what, "execute")) execl("/bin/echo", "echo", "executed", NULL);
    if (!strcmp(what, "missing")) { execl("/none", "none", NULL); put(); }
    if (!strcmp(what, "handler")) { signal(SIGUSR1, handle); raise(SIGUSR1); }
    if (!strcmp(what, "forever")) { write(1, "here\n", 5); for (;;) put(); }
    return 0;
}
C
gcc -g -O0 -o ends ends.c 2>/dev/null
# status, what the report says of the end, and how often line 7 depends on itself
cat >expected <<'END'
fault 139 1 signal 11 (Segmentation fault)
abort 134 1 signal 6 (Aborted)
exit 7 1 exit status 7
terminated 143 1 signal 15 (Terminated)
fork 3 2 exit status 3
execute 0 1 executes /bin/echo, which is not traced
missing 0 2 exit status 0
handler 0 1 exit status 0
END
while read -r what _; do
    status=0
    { bustap depend --kinds raw --json -o ends.json ./ends "$what" >out; } 2>err || status=$?
    bustap depend check ends.json >/dev/null
    jq -r --arg begin "$what $status" '.places as $place | $begin + " " + ([.dependences[] |
        select($place[.sink].line == 7 and $place[.source].line == 7) | .count] | add | tostring) + " " + .ended' ends.json
    [ "$what" != execute ] || grep -q '^executed$' out
done <expected >found
diff expected found

# the handler reads what the program wrote
bustap depend --kinds raw --csv -o handler.csv ./ends handler
rows handler.csv ends.c >found
grep -q '^RAW 1 8 7 0$' found

# SIGKILL leaves no report, and check says so
status=0
# shellcheck disable=SC2016 # the shell's own number
{ bustap depend --json -o none.json sh -c 'kill -9 $$'; } 2>err || status=$?
[ "$status" -eq 137 ]
status=0
bustap depend check none.json >out || status=$?
[ "$status" -eq 1 ]
grep -q 'it is empty' out

# from outside: the report is complete
mkfifo here
bustap depend --kinds raw --json -o killed.json ./ends forever >here 2>err &
read -r line <here
[ "$line" = here ]
kill -TERM $!
wait $! || [ $? -eq 143 ]
bustap depend check killed.json
jq -e '.ended == "signal 15 (Terminated)" and .count_total > 3' killed.json >/dev/null

# --- longjmp() and exceptions: loops continue, and stay loops of their function ---
gcc -g -O1 -o long_jump "$programs/long_jump.c"
bustap depend --json -o jumps.json ./long_jump 50
jq -e '[.places as $place | .loops[] | select($place[.place].function == "main") | [.entries, .iterations]] |
    (map(.[0] == 1) | all) and ([.[][1]] | max >= 50)' jumps.json >/dev/null || { jq .loops jumps.json; exit 1; }
cat >thrown.cc <<'C'
static volatile int sum;
__attribute__((noinline)) static void fall(int turn) { if (turn % 3 == 0) throw turn; sum = sum + turn; }
int main()
{
    for (int turn = 0; turn < 60; turn++)
        try { fall(turn); } catch (int) { sum = sum - 1; }
    return 0;
}
C
if command -v g++ >/dev/null; then
    g++ -g -O1 -o thrown thrown.cc
    bustap depend --csv -o thrown.csv ./thrown
    rows thrown.csv thrown.cc | awk '$1 == "RAW" && $5 == 1 && ($3 == 2 || $3 == 6) && ($4 == 2 || $4 == 6) { sum += $2 } END { exit sum != 59 }'
fi

# --- a signal handler interrupts a loop, which continues ---
cat >ticks.c <<'C'
#include <signal.h>
#include <sys/time.h>
static volatile int ticks;
static volatile long count;
static void tick(int number) { (void)number; ticks++; }
__attribute__((noipa)) static void wait_for(int until) { while (ticks < until) count++; }
int main(void)
{
    struct itimerval every = {{0, 2000}, {0, 2000}};
    signal(SIGALRM, tick);
    setitimer(ITIMER_REAL, &every, 0);
    wait_for(10);
    return 0;
}
C
gcc -g -O1 -o ticks ticks.c
bustap depend --json -o ticks.json ./ticks
jq -e '[.places as $place | .loops[] | select($place[.place].function == "wait_for") | .entries] == [1]' ticks.json >/dev/null

# --- code without symbols, and without a file ---
strip -o stripped threads
bustap depend --json -o stripped.json ./stripped >/dev/null
bustap depend check stripped.json
jq -e '[.places[] | select((.module // "") | endswith("/stripped"))] | length > 3 and (map(.line == null) | all)' stripped.json >/dev/null
gcc -g -O1 -o generated "$programs/generated.c"
status=0
bustap depend --level access --by instruction --csv -o generated.csv ./generated >out || status=$?
[ "$status" -eq 5 ]
bustap depend check generated.csv
# the loop in code without a file: 20 entries of 3 iterations each
python3 - generated.csv <<'PY'
import csv, sys
rows = [row for row in csv.DictReader(open(sys.argv[1], newline=""))
        if row["loop_address"] and not row["loop_module"] and row["sink_function"] == "add"]
heads = {row["loop_address"] for row in rows}
carried = [int(row["count"]) for row in rows if row["carried"] == "1" and row["kind"] == "RAW"]
assert len(heads) == 1 and sum(carried) == 40, (heads, carried)
PY

# --- DETAIL functions ---
cat >detail.c <<'C'
static volatile int a, b;
__attribute__((noipa)) static void sketch(void) { a = 1; b = a; /* 2 */ }
__attribute__((noipa)) static void detail(void) { b = b + 1; /* 3 */ }
int main(void) { sketch(); detail(); sketch(); return 0; }
C
gcc -g -O1 -o detail detail.c
printf '# comment\n\n  detail # another\nnone_of_this_name\n' >list
bustap depend --detail list --kinds raw --csv -o detail.csv --trace detail.trace ./detail 2>err
grep -q 'none_of_this_name was not executed, or is missing' err
rows detail.csv detail.c >found
diff - found <<'END'
RAW 1 3 2 0
END
grep -E '^(enter|leave|dep [^ ]*detail.c)' detail.trace >own.trace
awk '{ print $1, $2 }' own.trace >found
diff - found <<END
enter $PWD/detail.c
dep $PWD/detail.c:3
leave detail
END
sed -n 's/^dep.* \([0-9]*\) \([0-9]*\) \([0-9]*\) \([0-9]*\)$/\1 \2 \3 \4/p' own.trace | awk '{ exit !($1 > $2 && $3 == 1 && $4 == 0) }'
cp list bop.detail
bustap depend --kinds raw --csv -o default.csv ./detail 2>/dev/null
cmp detail.csv default.csv
rm bop.detail
bustap depend --kinds raw --level access --csv -o access.csv ./detail
rows access.csv detail.c >found
grep -q '^RAW 2 2 2 0$' found
# lists of anything: few lines of messages, without control characters
head -c 30000 /dev/urandom >random
bustap depend --detail random --csv -o random.csv ./detail 2>err || [ $? -eq 1 ]
[ "$(wc -l <err)" -le 12 ]
! grep -q '[[:cntrl:]]' err || exit 1
: >list
bustap depend --detail list --csv -o empty.csv ./detail 2>err
grep -q 'list of DETAIL functions is empty' err
[ "$(wc -l <empty.csv)" = 1 ]

# --- limits: the program continues, and the report says what is missing ---
bustap depend --max-memory 1M --json -o limited.json ./threads >out 2>err
cmp native out
grep -q 'limit of memory' err
jq -e '.notes | length == 1' limited.json >/dev/null
bustap depend check limited.json
bustap depend --calls work --count 1000 --json -o part.json ./threads >/dev/null
jq -e '.instructions == 1000' part.json >/dev/null

# --- memory that moves keeps its last writers ---
gcc -g -O1 -o moved "$programs/moved.c"
bustap depend --csv --kinds raw -o moved.csv ./moved >/dev/null
line() { grep -n "/\* $1 \*/" "$programs/moved.c" | cut -d : -f 1; }
[ "$(rows moved.csv moved.c)" = "RAW 400000 $(line read) $(line written) 0" ]

# --- the counts of references are those of exec ---
for program in "./threads" "./ends handler" "./detail"; do
    rm -f capture_*
    # shellcheck disable=SC2086 # a list
    bustap exec --quiet -o capture $program >/dev/null
    # shellcheck disable=SC2086
    bustap depend --json -o counts.json $program >/dev/null
    bustap info --json capture_*.byu.gz >info.json
    jq -c '[.by_type.MEMREAD + .by_type.MEMWRITE, .by_type.MEMWRITE, .by_type.FETCH]' info.json >expected
    jq -c '[.references, .writes, .instructions]' counts.json | diff expected -
done

# --- outputs that fail: the program's status is kept, but for 0 ---
status=0
bustap depend -o /dev/full ./detail 2>err || status=$?
[ $status -eq 3 ]
status=0
bustap depend --trace /dev/full -o /dev/null ./ends exit >/dev/null 2>&1 || status=$?
[ $status -eq 7 ]
status=0
bustap depend ./none 2>err || status=$?
[ $status -eq 2 ]
status=0
(ulimit -f 1 && bustap depend --csv -o large.csv ./threads >/dev/null 2>&1) || status=$?
[ $status -eq 3 ]

# a reader of the trace that ends early, or a limit of files, does not end the program
mkfifo pipe
head -n 1 pipe >/dev/null &
status=0
bustap depend --trace pipe -o /dev/null ./threads >out 2>err || status=$?
cmp native out
[ "$status" -eq 3 ]
status=0
(ulimit -f 4 && exec bustap depend --trace limited.trace -o /dev/null ./threads >/dev/null 2>&1) || status=$?
[ "$status" -eq 3 ]
