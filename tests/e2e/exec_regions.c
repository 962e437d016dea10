/*
 * A program with regions for tests of `bustap exec`.
 *
 * usage: exec_regions ROUNDS [threads|fork|longjmp]
 */
#include "capture/exec/mark.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

void region_work(volatile unsigned *sum, unsigned depth);
void other(volatile unsigned *sum);
void marked(volatile unsigned *sum);

static jmp_buf way_out;
static int jumps;

/* So that there is one function of that name, and it is called. */
static void (*volatile call_it)(volatile unsigned *, unsigned) = region_work;

__attribute__((noinline)) void other(volatile unsigned *sum)
{
    for (unsigned i = 0; i < 20; i++)
        *sum += i;
}

/* Calls itself, and may be left by longjmp(). */
__attribute__((noinline)) void region_work(volatile unsigned *sum, unsigned depth)
{
    other(sum);
    if (depth > 0)
        call_it(sum, depth - 1);
    else if (jumps)
        longjmp(way_out, 1);
    *sum += depth;
}

__attribute__((noinline)) void marked(volatile unsigned *sum)
{
    BUSTAP_END; /* outside of regions: nothing */
    other(sum);
    BUSTAP_BEGIN;
    *sum += 1;
    BUSTAP_BEGIN; /* inside: nothing */
    *sum += 2;
    BUSTAP_END;
    other(sum);
}

static void *rounds(void *count)
{
    volatile unsigned sum = 0, i;
    for (i = 0; i < *(unsigned *)count; i++) {
        if (setjmp(way_out) == 0)
            call_it(&sum, i % 4);
        marked(&sum);
    }
    return NULL;
}

static pthread_barrier_t both; /* so that they have numbers of their own */

static void *calls(void *count)
{
    volatile unsigned sum = 0;
    pthread_barrier_wait(&both);
    for (unsigned i = 0; i < *(unsigned *)count; i++) {
        call_it(&sum, 0);
        other(&sum);
    }
    return NULL;
}

int main(int count, char **arguments)
{
    unsigned number = count > 1 ? (unsigned)atoi(arguments[1]) : 1;
    const char *how = count > 2 ? arguments[2] : "";
    jumps = strcmp(how, "longjmp") == 0;
    if (strcmp(how, "threads") == 0) {
        pthread_t others[2];
        pthread_barrier_init(&both, NULL, 2);
        for (unsigned i = 0; i < 2; i++)
            pthread_create(&others[i], NULL, calls, &number);
        for (unsigned i = 0; i < 2; i++)
            pthread_join(others[i], NULL);
    } else if (strcmp(how, "fork") == 0 && fork() > 0) {
        wait(NULL);
    } else {
        rounds(&number);
    }
    return 0;
}
