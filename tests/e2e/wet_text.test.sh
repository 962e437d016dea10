#!/bin/bash
# Texts that are read and written again are the same; bustap wet check finds nothing wrong with traces and their texts,
# also of programs with threads and signals: all dependences point backwards.
set -eu -o pipefail
[ -z "$NO_EXEC" ] || { echo "$NO_EXEC"; exit 77; }
# shellcheck source=tests/e2e/wet_programs/compile.sh
. "$TOP/tests/e2e/wet_programs/compile.sh"

# copied OPTION...: the text of ./program
copied() {
    printf hello | bustap wet "$@" -o file.wet -- ./program >out 2>messages || true
    bustap wet check file.wet >verdict || { cat verdict; exit 1; }
    bustap wet print file.wet >text
    bustap wet check text >verdict || { cat verdict; exit 1; }
    "$BUILD/tests/e2e/copy_wet_text" <text >copy
    cmp text copy
}

for source in "$wet_programs"/*.[cs]; do
    can_run_wet "$source" || continue
    link_wet "$source"
    copied
done

cat >'a program.c' <<'C'
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
static volatile int caught, cells[5];
static void handle(int number)
{
    caught += number;
}
static void *work(void *at)
{
    for (volatile int i = 0; i < 500; i++) {
        *(volatile int *)at += i;
        cells[4] += caught;
        if (i % 100 == 50)
            raise(SIGUSR1);
    }
    return 0;
}
int main(void)
{
    pthread_t threads[4];
    signal(SIGUSR1, handle);
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], 0, work, (void *)&cells[i]);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], 0);
    printf("%d\n", caught);
    return 0;
}
C
gcc -g -O1 -pthread -o program 'a program.c'
copied --quantum 100 --chunk 500
[ -s out ]
copied --quantum 7777 --no-values
