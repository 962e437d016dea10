/* Threads whose turns depend only on each other: the argument's letters select tests. */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define THREADS 4

static int rounds = 20000;

/* Each writes a separate word of one line. */
static _Alignas(64) volatile long line[8];

static void *write_line(void *context)
{
    for (int i = 0; i < rounds; i++)
        line[(intptr_t)context] = i;
    return NULL;
}

static void lines(void)
{
    pthread_t threads[THREADS];
    for (intptr_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, write_line, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    printf("lines: %ld %ld\n", line[0], line[THREADS - 1]);
}

/* One blocks in read() while others compute; one of them writes the data later. */
static int ends[2];
static volatile long computed;

static void *read_all(void *context)
{
    char byte;
    long sum = 0;
    while (read(ends[0], &byte, 1) == 1 && byte != 0)
        sum = sum * 31 + byte + computed;
    return (void *)sum;
}

static void *compute(void *context)
{
    for (int i = 0; i < rounds; i++)
        computed++;
    return NULL;
}

static void pipes(void)
{
    pthread_t reader, computer;
    void *sum;
    if (pipe(ends) != 0)
        abort();
    pthread_create(&reader, NULL, read_all, NULL);
    pthread_create(&computer, NULL, compute, NULL);
    for (char byte = 9; byte >= 0; byte--) {
        for (int i = 0; i < rounds; i++)
            line[7]++;
        if (write(ends[1], &byte, 1) != 1)
            abort();
    }
    pthread_join(reader, &sum);
    pthread_join(computer, NULL);
    printf("pipes: %d\n", sum != NULL);
}

/* Signals alternate: one is waited for in the kernel, the other interrupts a computation. */
static pthread_t first;
static volatile sig_atomic_t handled;

static void handle(int number)
{
    handled++;
}

static void *answer(void *context)
{
    sigset_t set;
    int number;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    for (int i = 0; i < 50; i++) {
        sigwait(&set, &number);
        pthread_kill(first, SIGUSR1);
    }
    return NULL;
}

static void signals(void)
{
    struct sigaction action = {.sa_handler = handle};
    pthread_t other;
    sigset_t set;
    sigaction(SIGUSR1, &action, NULL);
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    first = pthread_self();
    pthread_create(&other, NULL, answer, NULL);
    for (int i = 0; i < 50; i++) {
        pthread_kill(other, SIGUSR2);
        while (handled == i)
            line[6]++;
    }
    pthread_join(other, NULL);
    printf("signals: %d\n", (int)handled);
}

/* Fair locks, which are granted in the order of waiting, and readers and writers. */
static pthread_mutex_t inherits;
static pthread_rwlock_t shared = PTHREAD_RWLOCK_INITIALIZER;
static long guarded, seen;

static void *lock_both(void *context)
{
    for (int i = 0; i < 300; i++) {
        pthread_mutex_lock(&inherits);
        guarded = guarded * 3 + (intptr_t)context;
        pthread_mutex_unlock(&inherits);
        if (i % 4 == (intptr_t)context) {
            pthread_rwlock_wrlock(&shared);
            seen += guarded;
        } else {
            pthread_rwlock_rdlock(&shared);
        }
        pthread_rwlock_unlock(&shared);
    }
    return NULL;
}

static void locks(void)
{
    pthread_t threads[THREADS];
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
    pthread_mutex_init(&inherits, &attributes);
    for (intptr_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, lock_both, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    printf("locks: %d\n", seen != 0);
}

/* A wait that only the clock ends, while another thread computes; and an owner that dies. */
static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;
static atomic_int stop;

static void *spin(void *context)
{
    while (!atomic_load(&stop))
        computed++;
    return NULL;
}

static void times(void)
{
    pthread_t spinner;
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += 200000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_nsec -= 1000000000;
        until.tv_sec++;
    }
    pthread_create(&spinner, NULL, spin, NULL);
    pthread_mutex_lock(&held);
    int result = pthread_mutex_timedlock(&held, &until);
    atomic_store(&stop, 1);
    pthread_join(spinner, NULL);
    printf("times: %s\n", strerror(result));
}

/* Calls the system without waiting, many times. */
static void *yield(void *context)
{
    for (int i = 0; i < 100; i++)
        sched_yield();
    return NULL;
}

static void yields(void)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, yield, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    printf("yields\n");
}

/* Calls that take the kernel a long time, after many short ones: no other thread runs meanwhile. */
static void calls(void)
{
    static char random[4 << 20];
    pthread_t spinner;
    int file = open("/dev/urandom", O_RDONLY), moved = 0;
    pthread_create(&spinner, NULL, spin, NULL);
    for (int i = 0; i < 5; i++) {
        for (int j = 0; j < 500; j++)
            getppid();
        long before = computed;
        if (read(file, random, sizeof random) != sizeof random)
            abort();
        moved += computed != before;
    }
    atomic_store(&stop, 1);
    pthread_join(spinner, NULL);
    printf("calls: %d\n", moved);
}

int main(int argument_count, char **arguments)
{
    static void (*const parts[])(void) = {lines, pipes, signals, locks, yields, times, calls};
    if (argument_count > 2)
        rounds = atoi(arguments[2]);
    for (const char *at = argument_count > 1 ? arguments[1] : "abcdefg"; *at; at++)
        if (*at >= 'a' && *at < 'a' + (int)(sizeof parts / sizeof *parts))
            parts[*at - 'a']();
    return 0;
}
