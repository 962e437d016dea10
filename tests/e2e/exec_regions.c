#define _GNU_SOURCE /* MAP_ANONYMOUS */
/*
 * A program with regions for tests of `bustap exec`.
 *
 * usage: exec_regions ROUNDS [threads|fork|longjmp|signals]
 */
#include "capture/exec/dispatch/mark.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

void region_work(volatile unsigned *sum, unsigned depth);
void other(volatile unsigned *sum);
void marked(volatile unsigned *sum);

static jmp_buf way_out;
static int jumps;

/* prevents inlining and copies of the function */
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
    BUSTAP_END; /* outside of a region: no effect */
    other(sum);
    BUSTAP_BEGIN;
    *sum += 1;
    BUSTAP_BEGIN; /* inside a region: no effect */
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

static pthread_barrier_t both; /* gives the threads distinct numbers */

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

static unsigned handled;
static uint8_t *guarded; /* a page that a handler unprotects */

static void handle(int number)
{
    handled++;
    if (number == SIGSEGV)
        mprotect(guarded, 1, PROT_READ | PROT_WRITE);
}

/* Blocks left in their middle: by a fault, a string instruction, one whose third page faults, a
 * system call, a signal that the program sends itself. */
static void interruptions(unsigned number)
{
    static uint8_t from[64], to[64];
    const struct sigaction action = {.sa_handler = handle};
    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGUSR1, &action, NULL);
    guarded = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    guarded += 2 * (size_t)4096;
    for (unsigned i = 0; i < number; i++) {
        void *target = to;
        const void *source = from;
        size_t size = i % sizeof to;
        mprotect(guarded, 1, PROT_NONE);
        *(volatile uint8_t *)guarded = 1;
        __asm__ volatile("rep movsb" : "+D"(target), "+S"(source), "+c"(size)::"memory");
        mprotect(guarded, 1, PROT_NONE);
        target = guarded - 5;
        size = 10;
        __asm__ volatile("rep stosb" : "+D"(target), "+c"(size) : "a"(0) : "memory");
        getppid();
        raise(SIGUSR1);
    }
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
    } else if (strcmp(how, "signals") == 0) {
        interruptions(number);
        return handled != 3 * number;
    } else if (strcmp(how, "fork") == 0 && fork() > 0) {
        wait(NULL);
    } else {
        rounds(&number);
    }
    return 0;
}
