#!/bin/bash
# Dependences of programs that are instrumented when they are compiled: hooks called by hand, the plug-in of GCC 12 in
# C and C++, -fsanitize=thread, hooks of the user's own; and all ends of a program.
set -eu
library=$BUILD/libbustap-depend.a plugin=$BUILD/depend_plugin.so
read -ra libraries <<<"$(bustap depend --libs)"
[ "${libraries[*]}" = "$library -ldw -lelf -pthread" ]
unset BUSTAP_DEPEND_OPTIONS BUSTAP_DEPEND_OUTPUT
[ -e "$library" ] || { echo "$library is missing"; exit 1; }

# rows FILE: kind, lines of sink and source, count, carried, least distance
rows() {
    awk -F , 'NR > 1 { print $1, $12, $18, $2, $3 ($4 == "" ? "" : " " $4) }' "$1" | sort
}

# expect FILE: standard input is what the file has
expect() {
    diff - "$1" || { echo "$1 differs"; exit 1; }
}

# traced NAME PROGRAM...: runs it twice, the report is NAME.csv; both reports are equal
traced() {
    local name=$1
    shift
    BUSTAP_DEPEND_OUTPUT=$name.csv "$@" >"$name.out"
    BUSTAP_DEPEND_OUTPUT=$name.again.csv "$@" >/dev/null
    cmp "$name.csv" "$name.again.csv"
}

# --- the specification's hooks, called by hand ---
# f is a DETAIL function, whose lines are 10 and 11; g is a SKETCH one. The references of lines 21, 22 and 25 have the
# frozen time of their writers.
cat >by_hand.c <<'END'
#include "capture/instrument/depend_hooks.h"
static char a[8], b[8];
#define AT(what) ((unsigned long)(what))
static void g(int line, int is_write, char *what)
{
    (is_write ? _bop_prof_rec_write : _bop_prof_rec_read)(AT(what), 1, "by_hand.c", line);
}
int main(void)
{
    bop_instm_func_entry("by_hand.c", "f");
    _bop_prof_rec_write(AT(a), 0, "by_hand.c", 10); /* pseudo time 1, frozen time 1 */
    g(20, 1, b);                                    /* 2, 1 */
    g(21, 0, b);                                    /* 3, 1: ignored */
    g(22, 0, a);                                    /* 4, 1: ignored */
    _bop_prof_rec_read(AT(b), 0, "by_hand.c", 11);  /* 5, 2 */
    g(23, 0, a);                                    /* 6, 2 */
    g(24, 1, b);                                    /* 7, 2 */
    g(25, 0, b);                                    /* 8, 2: ignored */
    g(26, 0, b + 1);                                /* never written */
    bop_instm_func_exit("f");
    return 0;
}
END
gcc -I "$TOP" -Wno-write-strings -o by_hand by_hand.c "${libraries[@]}"
BUSTAP_DEPEND_OPTIONS='--kinds raw --trace by_hand.trace' traced by_hand ./by_hand
rows by_hand.csv >got
expect got <<'END'
RAW 11 20 1 0
RAW 23 10 1 0
END
expect by_hand.trace <<'END'
enter by_hand.c f
dep by_hand.c:11 by_hand.c:20 by_hand.c:11 by_hand.c:10 5 2 2 1
dep by_hand.c:23 by_hand.c:10 by_hand.c:11 by_hand.c:10 6 1 2 1
leave f
END
BUSTAP_DEPEND_OPTIONS='--kinds raw --level access' traced by_hand ./by_hand
rows by_hand.csv >got
expect got <<'END'
RAW 11 20 1 0
RAW 21 20 1 0
RAW 22 10 1 0
RAW 23 10 1 0
RAW 25 24 1 0
END

# --- a reference without an address of code has no place, not that of the first one ---
cat >no_code.c <<'END'
#include "capture/instrument/depend_hooks.h"
void __tsan_read4_pc(void *address, void *code);
static int x;
int main(void)
{
    _bop_prof_rec_write_n((unsigned long)&x, 4, 0, "no_code.c", 7);
    __tsan_read4_pc(&x, 0);
    return 0;
}
END
gcc -I "$TOP" -Wno-write-strings -o no_code no_code.c "${libraries[@]}"
BUSTAP_DEPEND_OPTIONS=--kinds=raw traced no_code ./no_code
rows no_code.csv >got
expect got <<'END'
RAW  7 1 0
END

# --- loops by hand: distances; a longjmp() that ends no loop ---
cat >loops.c <<'END'
#include "capture/instrument/depend_hooks.h"
static char a[64];
int main(void)
{
    for (int turn = 0; turn < 2; turn++) {
        bop_instm_loop_begin("loops.c", 5, "main", 1, 0);
        for (int i = 2; i < 12; i++) {
            if (i > 2)
                bop_instm_loop_iterate(1, 0);
            bop_instm_loop_begin("loops.c", 9, "main", 2, 1); /* left without an end */
            _bop_prof_rec_read_n((unsigned long)(a + 4 * i - 8), 4, 0, "loops.c", 6);
            _bop_prof_rec_write_n((unsigned long)(a + 4 * i), 4, 0, "loops.c", 7);
        }
        bop_instm_loop_end(1, 0);
    }
    return 0;
}
END
gcc -I "$TOP" -Wno-write-strings -o loops loops.c "${libraries[@]}"
BUSTAP_DEPEND_OPTIONS=--kinds=raw traced loops ./loops
rows loops.csv >got # in the second turn, the first two read what the first turn did not write
expect got <<'END'
RAW 6 7 16 1 2
END

# --- formats by name; options that do not exist; a report that cannot be written ---
for end in json dot txt; do
    BUSTAP_DEPEND_OUTPUT=report.$end ./by_hand
done
jq -e '.format == "bustap-dependences" and .references == 9 and .writes == 3' report.json >/dev/null
grep -q digraph report.dot
grep -q 'exit status 0, 9 references' report.txt
BUSTAP_DEPEND_OPTIONS='--by moon --kinds raw, --wrong x' BUSTAP_DEPEND_OUTPUT=odd.csv ./by_hand 2>messages
grep -q "OPTIONS: --by: 'moon' is not instruction, line or function" messages
grep -q "OPTIONS: --kinds: '' is not raw, war or waw" messages
grep -q '"--wrong" is not' messages
BUSTAP_DEPEND_OUTPUT=missing/odd.csv ./by_hand 2>messages
grep -q 'missing/odd.csv: No such file' messages
./by_hand
compgen -G 'depend.[0-9]*' >/dev/null
rm depend.[0-9]*

# --- the user's own four hooks, which sized ones call ---
cat >own.c <<'END'
#include "capture/instrument/depend_hooks.h"
#include <stdio.h>
void _bop_prof_rec_write(unsigned long addr, int sketch_p, char *file, int line) { printf("write %d %s:%d\n", sketch_p, file, line); }
void _bop_prof_rec_read(unsigned long addr, int sketch_p, char *file, int line) { printf("read %d %s:%d\n", sketch_p, file, line); }
void bop_instm_func_entry(char *file, char *name) { printf("enter %s %s\n", file, name); }
void bop_instm_func_exit(char *name) { printf("leave %s\n", name); }
END
cat >owned.c <<'END'
int x, y[3];
int main(void)
{
    x = 5;
    for (int i = 0; i < 2; i++)
        y[i] = x;
    return 0;
}
END
gcc -I "$TOP" -c own.c
gcc -I "$TOP" -Wno-write-strings -o by_hand_own by_hand.c own.o "$library" # without libdw: the runtime is not linked
[ "$(./by_hand_own | head -n 3)" = $'enter by_hand.c f\nwrite 0 by_hand.c:10\nwrite 1 by_hand.c:20' ]

# --- ends of a program, by hand: _exit, exit in a thread, signals, abort, fork ---
cat >ends.c <<'END'
#include "capture/instrument/depend_hooks.h"
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static int x;
static void refer(void)
{
    _bop_prof_rec_write_n((unsigned long)&x, 4, 0, "ends.c", 1);
    _bop_prof_rec_read_n((unsigned long)&x, 4, 0, "ends.c", 2);
}
static void *leave(void *unused) { refer(); exit(5); }
int main(int count, char **words)
{
    pthread_t thread;
    refer();
    if (!strcmp(words[1], "_exit")) _exit(3);
    if (!strcmp(words[1], "quick_exit")) quick_exit(3);
    if (!strcmp(words[1], "abort")) abort();
    if (!strcmp(words[1], "fault")) *(volatile int *)8 = 1;
    if (!strcmp(words[1], "kill")) kill(getpid(), SIGTERM);
    if (!strcmp(words[1], "hooks")) { /* the signal usually comes during a hook */
        pid_t own = getpid();
        if (fork() == 0) { kill(own, SIGTERM); _exit(0); }
        for (;;) refer();
    }
    if (!strcmp(words[1], "thread")) { pthread_create(&thread, NULL, leave, NULL); pthread_join(thread, NULL); }
    if (!strcmp(words[1], "fork")) {
        if (fork() == 0) { refer(); exit(7); }
        wait(NULL);
    }
    return 0;
}
END
gcc -I "$TOP" -Wno-write-strings -o ends ends.c "${libraries[@]}"
while read -r way status rest; do
    rm -f end.txt
    got=0
    BUSTAP_DEPEND_OUTPUT=end.txt bash -c 'exec "$@"' - ./ends "$way" 2>/dev/null || got=$?
    [ "$got" = "$status" ] || { echo "$way: status $got"; exit 1; }
    grep -q "$rest" end.txt || { echo "$way:"; cat end.txt; exit 1; }
done <<'END'
_exit 3 exit status 3, 2 references
quick_exit 3 quick_exit(), 2 references
abort 134 signal 6
fault 139 signal 11
kill 143 signal 15
hooks 143 signal 15
hooks 143 signal 15
hooks 143 signal 15
hooks 143 signal 15
hooks 143 signal 15
hooks 143 signal 15
thread 5 exit status 5, 4 references
fork 0 exit status 0, 2 references
return 0 exit status 0, 2 references
END

# --- memory given back is forgotten: free, realloc, munmap, and the stack of functions that have returned ---
cat >freed.c <<'END'
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
static int __attribute__((noinline)) stack(int write)
{
    volatile int local[16];
    if (write)
        for (int i = 0; i < 16; i++)
            local[i] = i;
    return local[5];
}
int main(void)
{
    volatile char *first = malloc(100);
    first[5] = 1;
    uintptr_t address = (uintptr_t)first;
    free((void *)first);
    volatile char *second = malloc(100);
    if ((uintptr_t)second != address)
        return 1;
    int sum = second[5]; /* 22 */
    free((void *)second);
    volatile char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    page[7] = 1;
    munmap((void *)page, 4096);
    page = mmap((void *)page, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    sum += page[7]; /* 28 */
    sum += stack(1);
    sum += stack(0);
    return sum < 0;
}
END

if [ ! -e "$plugin" ]; then
    echo "the plug-in was not built: its tests are left out"
    exit 77
fi
gcc -fplugin="$plugin" -c owned.c
gcc -o owned owned.o own.o "$library"
./owned >got
expect got <<'END'
enter owned.c main
write 0 owned.c:4
read 0 owned.c:6
write 0 owned.c:6
read 0 owned.c:6
write 0 owned.c:6
leave main
END

for level in 0 2; do
    gcc -g -O$level -D_GNU_SOURCE -fplugin="$plugin" -o freed freed.c "${libraries[@]}"
    BUSTAP_DEPEND_OPTIONS=--kinds=raw traced freed ./freed
    rows freed.csv >got
    expect got <<'END'
RAW 12 11 1 0
END
done

# --- memory that moves keeps its last writers ---
gcc -g -O1 -fplugin="$plugin" -o moved "$TOP/tests/e2e/programs/moved.c" "${libraries[@]}"
BUSTAP_DEPEND_OPTIONS=--kinds=raw traced moved ./moved
rows moved.csv >got
expect got <<'END'
RAW 11 8 400000 0
END

# --- C: arrays, bit fields, aggregates, copies, loops; the same rows with and without optimization ---
cat >shapes.c <<'END'
#include <string.h>
struct bits {
    unsigned a : 3, b : 9;
    int c;
};
struct large {
    char text[100];
};
static volatile struct bits bits;
static struct large from, to, third;
static int array[32];
static volatile int sink;
struct large __attribute__((noinline)) make(void)
{
    struct large made;
    memset(&made, 1, sizeof made);
    return made;
}
int main(void)
{
    for (int i = 0; i < 32; i++)
        array[i] = i; /* 22 */
    for (int i = 3; i < 32; i++)
        array[i] += array[i - 3]; /* 24: reads what 22, and itself 3 iterations before, wrote */
    bits.c = 1;
    bits.b = 5;
    sink = bits.c; /* 27 reads 25 only */
    sink = bits.b; /* 28 reads 26 */
    from = make(); /* 29 */
    to = from;     /* 30 reads 29 */
    memcpy(&third, &to, sizeof third); /* 31 reads 30 */
    sink = third.text[99]; /* 32 reads 31 */
    return 0;
}
END
for level in 0 1 2 3; do
    gcc -g -O$level -fplugin="$plugin" -o shapes shapes.c "${libraries[@]}"
    BUSTAP_DEPEND_OPTIONS=--kinds=raw traced shapes ./shapes
    rows shapes.csv | grep -E '^RAW (2[4-9]|3)' >got
    # 100 bytes are two references, of 64 and 36 bytes
    expect got <<'END'
RAW 24 22 32 0
RAW 24 24 26 1 3
RAW 27 25 1 0
RAW 28 26 1 0
RAW 30 29 2 0
RAW 31 30 2 0
RAW 32 31 1 0
END
done

# --- DETAIL functions: a list in the current folder, and one by name; all exits ---
cat >modes.c <<'END'
static int x, y;
static int __attribute__((noinline)) sketch(int value)
{
    x = value;    /* 4 */
    return x + y; /* 5 */
}
int detail(int value)
{
    if (value > 5)
        return 1;
    y = value; /* 11 */
    return sketch(value);
}
int main(void)
{
    return detail(1) + detail(7) + detail(2) - 7;
}
END
printf '# one function\n\n  detail # the DETAIL one\nmissing\n' >bop.detail
for level in 0 2; do
    gcc -g -O$level -fplugin="$plugin" -o modes modes.c "${libraries[@]}"
    BUSTAP_DEPEND_OPTIONS="--kinds=raw --trace modes.trace" traced modes ./modes
    rows modes.csv >got
    expect got </dev/null # 5 reads 11 and 4 at the frozen time of 11
    expect modes.trace <<'END'
enter modes.c detail
leave detail
enter modes.c detail
leave detail
enter modes.c detail
leave detail
END
done
echo sketch >other.detail
gcc -g -fplugin="$plugin" -fplugin-arg-depend_plugin-detail=other.detail -o modes modes.c "${libraries[@]}"
BUSTAP_DEPEND_OPTIONS=--kinds=raw traced modes ./modes
rows modes.csv >got
expect got <<'END' # the first write has no top-level place
RAW 5 11 1 0
RAW 5 11 1 0
RAW 5 4 2 0
END
rm bop.detail
! gcc -fplugin="$plugin" -fplugin-arg-depend_plugin-detail=none -c modes.c 2>messages || exit 1
grep -q "none.*cannot be opened" messages
! gcc -fplugin="$plugin" -fplugin-arg-depend_plugin-wrong=x -c modes.c 2>messages || exit 1
grep -q "unknown argument.*wrong" messages

# --- C++: constructors, exceptions that leave functions and loops, references, templates ---
cat >thrown.cc <<'END'
#include <stdexcept>
#include <vector>
struct guard {
    int &left;
    ~guard() { left++; }
};
static int left_count, total;
static int __attribute__((noinline)) check(int value)
{
    guard guarded{left_count};
    for (int i = 0; i < 3; i++)
        if (value + i == 4)
            throw std::runtime_error("four");
    return value;
}
int main()
{
    std::vector<int> values;
    for (int i = 0; i < 6; i++)
        values.push_back(i);
    for (unsigned i = 0; i < values.size(); i++) {
        try {
            total += check(values[i]); // 23
        } catch (const std::exception &) {
            total += 100; // 25
        }
    }
    return total == 306 && left_count == 6 ? 0 : 1;
}
END
for level in 0 2; do
    g++ -g -O$level -fplugin="$plugin" -o thrown thrown.cc "${libraries[@]}"
    BUSTAP_DEPEND_OPTIONS='--trace thrown.trace' traced thrown ./thrown
    [ "$(grep -c '^enter thrown.cc check$' thrown.trace)" = 6 ]
    [ "$(grep -c '^leave check$' thrown.trace)" = 6 ]
    [ "$(grep -c '^enter' thrown.trace)" = "$(grep -c '^leave' thrown.trace)" ]
    rows thrown.csv >got
    grep -q '^RAW 25 2[35] 3 1 1\|^RAW 25 25' got || { cat got; exit 1; }
done
# each turn writes what the next one reads, although three of them are left by an exception
awk -F , '$1 == "RAW" && ($12 == 23 || $12 == 25) && ($18 == 23 || $18 == 25) { sum += $2 } END { exit sum != 5 }' thrown.csv

# --- a child of fork() does not write the trace again; a handler that jumps out of a hook is reported ---
cat >forks.c <<'END'
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static volatile int cells[8];
int main(void)
{
    for (int i = 1; i < 300; i++)
        cells[i % 8] += cells[(i - 1) % 8];
    if (fork() == 0)
        exit(0);
    wait(NULL);
    return 0;
}
END
gcc -g -O1 -fplugin="$plugin" -o forks forks.c "${libraries[@]}"
BUSTAP_DEPEND_OPTIONS='--trace forks.trace' BUSTAP_DEPEND_OUTPUT=forks.csv ./forks
bustap depend check forks.trace
[ "$(grep -c '^dep' forks.trace)" = "$(sort forks.trace | grep '^dep' | sort -u | wc -l)" ]
cat >leaves.c <<'END'
#include <setjmp.h>
#include <signal.h>
#include <sys/time.h>
static volatile int cells[1000], jumps;
static sigjmp_buf place;
static void leave(int number) { (void)number; jumps++; siglongjmp(place, 1); }
int main(void)
{
    signal(SIGALRM, leave);
    for (volatile int turn = 0; turn < 20; turn++) {
        struct itimerval once = {{0, 0}, {0, 3000}};
        if (sigsetjmp(place, 1) == 0) {
            setitimer(ITIMER_REAL, &once, 0);
            for (int i = 1;; i++)
                cells[i % 1000] += cells[(i - 1) % 1000];
        }
    }
    return jumps != 20;
}
END
gcc -g -O1 -fplugin="$plugin" -o leaves leaves.c "${libraries[@]}"
BUSTAP_DEPEND_OUTPUT=leaves.csv ./leaves 2>err
[ -s leaves.csv ] || grep -q 'a signal handler has left a hook' err

# --- longjmp() out of functions and loops ---
cat >jumps.c <<'END'
#include <setjmp.h>
static jmp_buf place;
static volatile int cells[8];
static void __attribute__((noinline)) jump(int value)
{
    for (int i = 0; i < 10; i++) {
        cells[i % 8] = value; /* 7 */
        if (i == 2)
            longjmp(place, 1);
    }
}
int main(void)
{
    for (volatile int turn = 0; turn < 4; turn++) {
        if (!setjmp(place))
            jump(turn);
        else
            cells[7] += cells[0]; /* 18 */
    }
    return 0;
}
END
for level in 0 2; do
    gcc -g -O$level -fplugin="$plugin" -o jumps jumps.c "${libraries[@]}"
    BUSTAP_DEPEND_OPTIONS=--kinds=raw traced jumps ./jumps
    rows jumps.csv | grep '^RAW 18' >got
    expect got <<'END'
RAW 18 18 3 1 1
RAW 18 7 4 0
END
done

# --- threads: numbers in order of their first reference ---
cat >threads.c <<'END'
#include <pthread.h>
static int data[2];
static void *work(void *at)
{
    *(int *)at += 1; /* 5 */
    return at;
}
int main(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) {
        data[i] = 1; /* 12 */
        pthread_create(&threads[i], 0, work, &data[i]);
        pthread_join(threads[i], 0);
    }
    return data[0] + data[1] - 4;
}
END
# shellcheck disable=SC2046 # as a user types it
gcc -g -O1 $(bustap depend --cflags) -o threads threads.c $(bustap depend --libs)
BUSTAP_DEPEND_OPTIONS=--kinds=raw traced threads ./threads
awk -F , '$12 == 5 { print $9, $10, $12, $18 }' threads.csv | sort >got
expect got <<'END'
1 0 5 12
2 0 5 12
END
cat >race.c <<'END'
#include <pthread.h>
#include <stdatomic.h>
static atomic_int count;
static int cells[4][1000];
static void *work(void *at)
{
    int *own = at;
    for (int i = 0; i < 1000; i++) {
        own[i] = i;
        count++;
    }
    return 0;
}
int main(void)
{
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], 0, work, cells[i]);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], 0);
    return count != 4000;
}
END
gcc -g -O2 -fplugin="$plugin" -o race race.c "${libraries[@]}"
BUSTAP_DEPEND_OUTPUT=race.json ./race
jq -e '.references >= 12000' race.json >/dev/null

# --- -fsanitize=thread, without the plug-in: lines are from debugging information ---
cat >sanitized.c <<'END'
#include <stdatomic.h>
#include <string.h>
static volatile int array[32];
static atomic_int count;
static struct large { char text[80]; } from, to;
static int __attribute__((noinline)) local(int write)
{
    volatile int cells[50]; asm volatile("" : : "r"(cells) : "memory");
    if (write)
        for (int i = 0; i < 50; i++)
            cells[i] = i;
    return cells[5]; /* 12: of the other call, it reads nothing */
}
int main(void)
{
    for (int i = 0; i < 32; i++)
        array[i] = i; /* 17 */
    for (int i = 1; i < 32; i++)
        array[i] += array[i - 1]; /* 19 */
    for (int i = 0; i < 3; i++)
        atomic_fetch_add(&count, 2); /* 21 */
    int expected = 6;
    if (!atomic_compare_exchange_strong(&count, &expected, 1)) /* 23 */
        return 1;
    if (atomic_exchange(&count, 4) != 1 || atomic_load(&count) != 4) /* 25 */
        return 2;
    local(1);
    local(0);
    return 0;
}
END
for compiler in gcc clang; do
    command -v $compiler >/dev/null || continue
    options=(-fsanitize=thread)
    [ $compiler = gcc ] || options+=(-mllvm -tsan-instrument-read-before-write) # clang leaves such reads out
    for level in 0 1; do
        $compiler -g -O$level "${options[@]}" -c sanitized.c
        gcc -o sanitized sanitized.o "${libraries[@]}"
        BUSTAP_DEPEND_OPTIONS=--kinds=raw traced sanitized ./sanitized
        # without top-level places; without optimization, 23 and 25 also have variables of the compiler's
        rows sanitized.csv | awk '{ sum[$1 " " $2 " " $3] += $4 } END { for (i in sum) print i, sum[i] }' |
            grep -E '^RAW (12|19|21) |^RAW 2[35] 2[13] ' | grep -v '^RAW 23 23' | sort >got
        expect got <<'END' || { echo "$compiler -O$level"; exit 1; }
RAW 12 11 1
RAW 19 17 32
RAW 19 19 30
RAW 21 21 2
RAW 23 21 1
RAW 25 23 1
END
        grep -q ',main,' sanitized.csv
    done
done

# --- both ways: without optimization, what an instrumented program finds is among what the plain one does when it is
# executed. Only code that the plug-in does not see, such as memcpy() and qsort() of the C library, would differ.
[ -z "$NO_EXEC" ] || exit 0
lines() {
    python3 - "$1" "$2" <<'PY'
import csv, sys
print("\n".join(sorted({" ".join((row["kind"], row["sink_line"], row["source_line"]))
                        for row in csv.DictReader(open(sys.argv[1], newline=""))
                        if row["sink_file"].endswith(sys.argv[2]) and row["source_file"].endswith(sys.argv[2])})))
PY
}
for name in loops switches long_jump smooth threads verdicts tail_calls; do
    source=$TOP/tests/e2e/programs/$name.c
    gcc -O0 -g -pthread -o plain "$source"
    # shellcheck disable=SC2046 # lists
    gcc -O0 -g -pthread $(bustap depend --cflags) -o instrumented "$source" $(bustap depend --libs)
    bustap depend --level access --csv -o executed.csv ./plain 3 >out 2>err || true
    BUSTAP_DEPEND_OPTIONS='--level access' BUSTAP_DEPEND_OUTPUT=instrumented.csv ./instrumented 3 >out 2>err || true
    lines executed.csv "$name.c" >executed
    lines instrumented.csv "$name.c" >instrumented.lines
    [ "$(wc -l <instrumented.lines)" -ge 4 ]
    comm -13 executed instrumented.lines >more
    [ ! -s more ] || { echo "$name: found by the instrumented program only"; cat more; exit 1; }
done

# --- the counts are those of a map of bytes, fed by hooks that log what they are called with ---
cat >log.c <<'C'
#include "capture/instrument/depend_hooks.h"
#include <stdio.h>
#define PRINT(kind) printf(kind " %lx %lu %d\n", addr, size, line)
void _bop_prof_rec_write_n(unsigned long addr, unsigned long size, int sketch_p, char *file_name, int line) { (void)sketch_p; (void)file_name; PRINT("write"); }
void _bop_prof_rec_read_n(unsigned long addr, unsigned long size, int sketch_p, char *file_name, int line) { (void)sketch_p; (void)file_name; PRINT("read"); }
void _bop_prof_rec_copy_n(unsigned long to, unsigned long from, unsigned long size, int sketch_p, char *file_name, int line)
{ _bop_prof_rec_read_n(from, size, sketch_p, file_name, line); _bop_prof_rec_write_n(to, size, sketch_p, file_name, line); }
void _bop_prof_rec_write(unsigned long addr, int sketch_p, char *file_name, int line) { _bop_prof_rec_write_n(addr, 1, sketch_p, file_name, line); }
void _bop_prof_rec_read(unsigned long addr, int sketch_p, char *file_name, int line) { _bop_prof_rec_read_n(addr, 1, sketch_p, file_name, line); }
void bop_instm_func_entry(char *file_name, char *func_name) { (void)file_name; (void)func_name; }
void bop_instm_func_exit(char *func_name) { (void)func_name; }
void bop_instm_loop_begin(char *file_name, int line, char *func_name, int number, int depth) { (void)file_name; (void)line; (void)func_name; (void)number; (void)depth; }
void bop_instm_loop_iterate(int number, int depth) { (void)number; (void)depth; }
void bop_instm_loop_end(int number, int depth) { (void)number; (void)depth; }
void bop_instm_frame_entry(void *frame) { (void)frame; }
void bop_instm_frame_exit(void *frame) { (void)frame; }
C
for name in smooth tail_calls; do # their references are to static variables
    sed "s/1000\$/40/" "$TOP/tests/e2e/programs/$name.c" >small.c # fewer rows and columns
    gcc -O1 -g -fplugin="$plugin" -c -o "$name.o" small.c
    gcc -I "$TOP" -Wno-write-strings -o logged log.c "$name.o"
    gcc -o instrumented "$name.o" "${libraries[@]}"
    ./logged 3 >log || true
    BUSTAP_DEPEND_OPTIONS='--level access --kinds raw,waw' BUSTAP_DEPEND_OUTPUT=instrumented.csv ./instrumented 3 >out || true
    python3 - log instrumented.csv <<'PY'
import collections, csv, sys
writers, expected = {}, collections.Counter()
for time, line in enumerate(open(sys.argv[1])):
    word = line.split()
    if len(word) != 4 or word[0] not in ("read", "write"):
        continue
    address, size, place = int(word[1], 16), int(word[2]), int(word[3])
    for source in {writers[at] for at in range(address, address + size) if at in writers}:
        expected["RAW" if word[0] == "read" else "WAW", place, source[1]] += 1
    if word[0] == "write":
        for at in range(address, address + size):
            writers[at] = (time, place)
found = collections.Counter()
for row in csv.DictReader(open(sys.argv[2], newline="")):
    found[row["kind"], int(row["sink_line"]), int(row["source_line"])] += int(row["count"])
assert found == expected and len(found) > 2, (expected - found, found - expected)
PY
done
