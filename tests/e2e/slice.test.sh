#!/bin/bash
# Slices of real programs equal a search over the text of their traces; where a program crashed; closed pipes.
set -eu -o pipefail
[ -z "$NO_EXEC" ] || { echo "$NO_EXEC"; exit 77; }
programs=$TOP/tests/e2e/programs

# searched NAME SLICES: random slices of NAME.wet
searched() {
    bustap wet print "$1.wet" >"$1.txt"
    "$BUILD/tests/e2e/name_ports" "$1.wet" >"$1.ports"
    python3 "$TOP/tests/support/slice_search.py" "$1.txt" "$1.ports" 1 "$2" bustap "$1.wet"
}

# --- the example of the specification ---
gcc -w -g -O0 -o foo1 "$programs/foo1.c"
bustap wet --no-values -o foo1.wet -- ./foo1 2 7 >answer 2>messages
bustap slice foo1.wet foo1.c:8 --data --depth 1 >lines
grep -q ' foo1\.c:6' lines || exit 1
bustap slice foo1.wet foo1.c:8 --why foo1.c:4 >why
diff <(sed 's/ of [0-9a-f]* / /; s/ *$//' why) - <<'TEXT' || exit 1
foo1.c:8 depends on foo1.c:4 by 1 dependence
          #0 main foo1.c:8
control   #0 main foo1.c:4
TEXT
bustap slice foo1.wet foo1.c:4 --why foo1.c:8 | cmp - why
searched foo1 15

# --- threads, signals, nested handlers, jumps out of them, x87, rep, conditional moves; many chunks ---
cat >mixed.c <<'C'
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static long double total;
static volatile int hits;
static double squares[64];
static sigjmp_buf back;
static void second(int number) { hits += 10 * (number == SIGUSR2); }
static void first(int number)
{
    hits++;
    squares[hits & 63] += sqrt((double)hits);
    if (hits == 3)
        siglongjmp(back, number);
    if (hits == 5)
        raise(SIGUSR2);
}
static void *work(void *argument)
{
    long number = (long)argument;
    double sum = 0;
    char text[300];
    for (int i = 1; i < 40; i++)
        sum += i % 3 == number ? sin(i) : 1.0 / i;
    total += (long double)sum * 1.5L;
    memset(text, (int)number, sizeof text);
    memmove(text + 10, text, 200);
    return (void *)(long)text[20];
}
int main(void)
{
    pthread_t threads[3];
    void *one;
    long all = 0;
    signal(SIGUSR1, first);
    signal(SIGUSR2, second);
    for (long i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    for (volatile int i = 0; i < 6; i++)
        if (!sigsetjmp(back, 1))
            raise(SIGUSR1);
    for (int i = 0; i < 3; i++) {
        pthread_join(threads[i], &one);
        all += (long)one;
    }
    printf("%ld %d %Lf\n", all, hits, total);
    return 0;
}
C
gcc -g -O1 -static -pthread -o mixed mixed.c -lm
bustap wet --no-values --chunk 700 -o mixed.wet -- ./mixed >answer 2>messages
[ "$(cut -d ' ' -f 1-2 answer)" = "3 16" ] || { cat answer; exit 1; }
searched mixed 25

# --- where a program crashed ---
cat >crash.c <<'C'
#include <stddef.h>
struct cell { struct cell *next; int value; };
static struct cell cells[3];
static void link_cells(int count)
{
    for (int i = 0; i + 1 < count; i++)
        cells[i].next = &cells[i + 1];
    cells[count - 1].next = NULL;
}
int main(void)
{
    struct cell *at = cells;
    link_cells(2);
    at = at->next;
    at = at->next;
    return at->value;
}
C
gcc -g -O0 -static -o crash crash.c
bustap wet --no-values -o crash.wet -- ./crash 2>messages && exit 1 || [ $? = 139 ]
bustap slice crash.wet end --data --depth 5 >lines
for line in 8 15 16; do
    grep -q " crash\.c:$line " lines || { cat lines; exit 1; }
done
bustap slice crash.wet end --why crash.c:8 | grep -q '^memory .* crash\.c:8$' || exit 1
[ "$(bustap slice crash.wet end --depth 0 | head -n 1)" = "end: it depends on 0 instances of 0 instructions, at most 0 dependences away" ] || exit 1

# --- a reader that leaves; a file that is cut off ---
bustap slice foo1.wet end | head -n 1 >first
head -c 60000 mixed.wet >cut.wet
status=0
bustap slice cut.wet end >lines 2>messages || status=$?
[ "$status" = 1 ] && grep -q 'only what is before it was searched' messages || { cat messages; exit 1; }
[ "$(wc -l <lines)" -gt 10 ] || exit 1
