#!/bin/bash
# Dependences of programs that are instrumented when they are compiled: hooks called by hand, the plug-in of GCC 12 in
# C and C++, -fsanitize=thread, hooks of the user's own; and all ends of a program.
set -eu
library=$BUILD/libbustap-depend.a plugin=$BUILD/depend_plugin.so
libraries=("$library" -ldw -lelf -pthread)
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
BUSTAP_DEPEND_OPTIONS='--by moon --wrong x' BUSTAP_DEPEND_OUTPUT=odd.csv ./by_hand 2>messages
grep -q '"moon" is unknown' messages && grep -q '"--wrong" is not' messages
BUSTAP_DEPEND_OUTPUT=missing/odd.csv ./by_hand 2>messages
grep -q 'missing/odd.csv: No such file' messages
./by_hand && compgen -G 'depend.[0-9]*' >/dev/null
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
    if (!strcmp(words[1], "abort")) abort();
    if (!strcmp(words[1], "fault")) *(volatile int *)8 = 1;
    if (!strcmp(words[1], "kill")) kill(getpid(), SIGTERM);
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
    rm -f end.txt got
    got=0
    BUSTAP_DEPEND_OUTPUT=end.txt bash -c 'exec "$@"' - ./ends "$way" 2>/dev/null || got=$?
    [ "$got" = "$status" ] || { echo "$way: status $got"; exit 1; }
    grep -q "$rest" end.txt || { echo "$way:"; cat end.txt; exit 1; }
done <<'END'
_exit 3 exit status 3, 2 references
abort 134 signal 6
fault 139 signal 11
kill 143 signal 15
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
gcc -fplugin="$plugin" -c owned.c && gcc -o owned owned.o own.o "$library"
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
