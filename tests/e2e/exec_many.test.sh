#!/bin/bash
# Processes that cannot be captured, because they are too many or their program cannot run, are reported and change
# the exit status.
set -eu
[ -z "$NO_EXEC" ] || { echo "$NO_EXEC"; exit 77; }
cat >many.c <<'END_OF_C'
#include <stdlib.h>
#include <unistd.h>
/* N children at the same time; ends with 0. */
int main(int count, char **arguments)
{
    int children = count > 1 ? atoi(arguments[1]) : 0, there[2], go[2];
    char byte;
    if (pipe(there) != 0 || pipe(go) != 0)
        return 2;
    for (int i = 0; i < children; i++)
        if (fork() == 0) {
            close(go[1]);
            return write(there[1], "", 1) != 1 || read(go[0], &byte, 1) != 0;
        }
    for (int i = 0; i < children; i++)
        if (read(there[0], &byte, 1) != 1)
            return 3;
    return 0;
}
END_OF_C
gcc -O1 -o many many.c
few=(--follow --threads 1 --queue 1M --only-fetch --count 100)
bustap exec -q "${few[@]}" -o few ./many 63 2>messages || { cat messages; exit 1; }
[ ! -s messages ] || { cat messages; exit 1; }
bustap verify few*.byu.gz >verdict
[ "$(ls few*.byu.gz | wc -l)" = 64 ]
status=0
bustap exec -q "${few[@]}" -o more ./many 67 2>messages || status=$?
[ "$status" = 1 ] || { echo "status $status"; cat messages; exit 1; }
[ "$(grep -c '^bustap: process [0-9]* (./many 67) is not captured: there are 64 others already$' messages)" = 4 ] || { cat messages; exit 1; }
[ "$(wc -l <messages)" = 4 ]
bustap verify more*.byu.gz >verdict
[ "$(ls more*.byu.gz | wc -l)" = 64 ]

# ended processes no longer count, however fast they follow one another
cat >quick.c <<'END_OF_C'
#include <sys/wait.h>
#include <unistd.h>
int main(void)
{
    for (int i = 0; i < 200; i++) {
        if (fork() == 0)
            _exit(0);
        wait(NULL);
    }
    return 0;
}
END_OF_C
gcc -O1 -static -o quick quick.c
bustap exec -q "${few[@]}" -o quick ./quick 2>messages || { cat messages; exit 1; }
[ ! -s messages ] || { cat messages; exit 1; }
bustap verify quick_*.byu.gz quick-p*.byu.gz >verdict
[ "$(ls quick*.byu.gz | wc -l)" = 201 ]

# a program that cannot be captured runs as natively
echo 'void _start(void) { __asm__("mov $60, %eax; mov $9, %edi; syscall"); }' >high.c
gcc -nostdlib -static -Wl,-Ttext-segment=0x200000000 -o high high.c
status=0
bustap exec -q "${few[@]}" -o high sh -c './high; echo $?' >got 2>messages || status=$?
[ "$status" = 1 ] || { echo "status $status"; cat messages; exit 1; }
[ "$(cat got)" = 9 ]
[ "$(wc -l <messages)" = 1 ] && grep -q '^bustap: not captured: .*4 GiB' messages || { cat messages; exit 1; }
