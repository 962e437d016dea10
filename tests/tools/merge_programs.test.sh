#!/bin/bash
# Captures of two programs are merged with a warning: addresses of the two are not of one memory. Parts of one capture,
# and threads of one program, are.
set -eu
[ -z "$NO_EXEC" ] || { echo "$NO_EXEC"; exit 77; }

fail() {
    echo "$*"
    cat err
    exit 1
}

# merged WANTED FILE FILE: with so many warnings
merged() {
    bustap merge --force "$2" "$3" --offset "$3=0ticks" -o out.byu.gz 2>err || fail "merge $2 $3"
    [ "$(grep -c 'of two programs' err)" -eq "$1" ] || fail "$2 and $3: not $1 warnings"
}

cat >threads.c <<'END'
#include <pthread.h>
static void *count(void *sum)
{
    for (int i = 0; i < 1000; i++)
        ++*(volatile int *)sum;
    return 0;
}
int main(void)
{
    pthread_t thread;
    int sums[2] = {0, 0};
    pthread_create(&thread, 0, count, &sums[0]);
    count(&sums[1]);
    return pthread_join(thread, 0);
}
END
gcc -O1 -pthread -o threads threads.c
for run in a b; do
    bustap exec -q -o $run -- true
done
bustap exec -q -o other -- ./threads
bustap exec -q --split-threads -o split -- ./threads
merged 1 a_*.byu.gz other_*.byu.gz
merged 1 a_*.byu.gz b_*.byu.gz
merged 0 split-t0_*.byu.gz split-t1_*.byu.gz
bustap cut -q -n 100 -o first.byu.gz a_*.byu.gz
bustap cut -q --skip 100 -o rest.byu.gz a_*.byu.gz
merged 0 first.byu.gz rest.byu.gz
bustap info out.byu.gz >report 2>err || fail "the parts: status"
