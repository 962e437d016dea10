#define _GNU_SOURCE /* gettid, MAP_ANONYMOUS, pthread_tryjoin_np */
/* Threads: the argument's letters select tests; without one, all run except those that end the
 * process. */
#include <cpuid.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS 4
#define ROUNDS  2000

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static long guarded;
static atomic_long counted;
static __thread long own;

static void *add(void *context)
{
    for (int i = 0; i < ROUNDS; i++) {
        pthread_mutex_lock(&mutex);
        guarded += (intptr_t)context;
        pthread_mutex_unlock(&mutex);
        atomic_fetch_add(&counted, 1);
        own += (intptr_t)context;
    }
    return (void *)own;
}

static void mutexes(void)
{
    pthread_t threads[THREADS];
    long sum = 0;
    void *result;
    for (intptr_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, add, (void *)(i + 1));
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], &result);
        sum += (long)(intptr_t)result;
    }
    printf("mutexes: %ld %ld %ld %ld\n", guarded, (long)counted, sum, own);
}

/* A ring buffer, filled by two and emptied by two. */
static int ring[8], filled, taken_sum, to_take = 2 * ROUNDS;

static void *fill(void *context)
{
    for (int i = 1; i <= ROUNDS; i++) {
        pthread_mutex_lock(&mutex);
        while (filled == 8)
            pthread_cond_wait(&changed, &mutex);
        ring[filled++] = i;
        pthread_cond_broadcast(&changed);
        pthread_mutex_unlock(&mutex);
    }
    return NULL;
}

static void *empty(void *context)
{
    for (;;) {
        pthread_mutex_lock(&mutex);
        while (filled == 0 && to_take > 0)
            pthread_cond_wait(&changed, &mutex);
        if (to_take == 0)
            break;
        taken_sum += ring[--filled];
        to_take--;
        pthread_cond_broadcast(&changed);
        pthread_mutex_unlock(&mutex);
    }
    pthread_mutex_unlock(&mutex);
    return NULL;
}

static void conditions(void)
{
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, i % 2 ? fill : empty, NULL);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    printf("conditions: %d %d\n", taken_sum, filled);
}

static pthread_barrier_t barrier;
static long cells[THREADS][16];

/* Each takes its neighbour's cell of the previous round. */
static void *step(void *context)
{
    intptr_t self = (intptr_t)context;
    for (int i = 1; i < 16; i++) {
        cells[self][i] = cells[(self + 1) % THREADS][i - 1] * 3 + self;
        pthread_barrier_wait(&barrier);
    }
    return NULL;
}

static void barriers(void)
{
    pthread_t threads[THREADS];
    pthread_barrier_init(&barrier, NULL, THREADS);
    for (intptr_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, step, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    printf("barriers: %ld %ld\n", cells[0][15], cells[3][15]);
}

/* Each busy-waits for the other. */
static atomic_int ball;

static void *play(void *context)
{
    int self = (int)(intptr_t)context;
    for (int i = 0; i < 20; i++) {
        while (atomic_load(&ball) % 2 != self)
            ;
        atomic_fetch_add(&ball, 1);
    }
    return NULL;
}

static void spinning(void)
{
    pthread_t other;
    pthread_create(&other, NULL, play, (void *)1);
    play((void *)0);
    pthread_join(other, NULL);
    printf("spinning: %d\n", (int)ball);
}

static void *nothing(void *context)
{
    return (void *)((intptr_t)context * 2);
}

static void many(void)
{
    long sum = 0;
    for (intptr_t i = 0; i < 1000; i++) {
        pthread_t thread;
        void *result;
        if (pthread_create(&thread, NULL, nothing, (void *)i) != 0)
            printf("no thread %d\n", (int)i);
        pthread_join(thread, &result);
        sum += (long)(intptr_t)result;
    }
    printf("many: %ld\n", sum);
}

static sem_t done;

static void *post(void *context)
{
    sem_post(&done);
    return NULL;
}

static void detached(void)
{
    pthread_attr_t attributes;
    sem_init(&done, 0, 0);
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    for (int i = 0; i < 20; i++) {
        pthread_t thread;
        pthread_create(&thread, &attributes, post, NULL);
    }
    for (int i = 0; i < 20; i++)
        sem_wait(&done);
    printf("detached\n");
}

static volatile sig_atomic_t handled_by, others;
static pid_t expected;

static void handle(int number)
{
    if (gettid() == expected)
        handled_by++;
    else
        others++;
}

static void *receive(void *context)
{
    sigset_t set;
    expected = gettid();
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    sem_post(&done);
    while (handled_by < 20)
        pause();
    return NULL;
}

/* Signals to a thread; to the process, in which only one thread does not block them. */
static void signals(void)
{
    struct sigaction action = {.sa_handler = handle};
    pthread_t thread;
    sigaction(SIGUSR1, &action, NULL);
    sem_init(&done, 0, 0);
    pthread_create(&thread, NULL, receive, NULL);
    sem_wait(&done);
    for (int i = 0; i < 20; i++) {
        int before = handled_by;
        if (i % 2)
            pthread_kill(thread, SIGUSR1);
        else
            kill(getpid(), SIGUSR1);
        while (handled_by == before) /* also those that come before pause() */
            usleep(100);
    }
    while (pthread_tryjoin_np(thread, NULL) != 0) { /* one may come before pause(), too */
        pthread_kill(thread, SIGUSR1);
        usleep(100);
    }
    printf("signals: %d\n", (int)others);
}

static void *hold(void *context)
{
    pthread_mutex_lock(context);
    return NULL;
}

static void robust(void)
{
    pthread_mutexattr_t attributes;
    pthread_mutex_t held;
    pthread_t thread;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&held, &attributes);
    pthread_create(&thread, NULL, hold, &held);
    pthread_join(thread, NULL);
    printf("robust: %d\n", pthread_mutex_lock(&held) == EOWNERDEAD);
}

static void *forever(void *context)
{
    for (;;)
        pause();
}

static void *fork_one(void *context)
{
    int status = 0;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        pthread_t thread;
        void *result;
        pthread_create(&thread, NULL, nothing, (void *)21);
        pthread_join(thread, &result);
        _exit((int)(intptr_t)result);
    }
    waitpid(child, &status, 0);
    return (void *)(intptr_t)WEXITSTATUS(status);
}

static void forks(void)
{
    pthread_t waits, forking;
    void *result;
    pthread_create(&waits, NULL, forever, NULL);
    pthread_create(&forking, NULL, fork_one, NULL);
    pthread_join(forking, &result);
    pthread_cancel(waits);
    pthread_join(waits, NULL);
    printf("forks: %d %d; system: %d\n", (int)(intptr_t)result, (int)(intptr_t)fork_one(NULL),
           system("exit 3") >> 8);
}

/* One thread changes code while another runs it. */
typedef int function(void);
static uint8_t *code;
static atomic_int made, ran;

static void *make_code(void *context)
{
    for (int i = 1; i <= 200; i++) {
        while (atomic_load(&ran) != i - 1)
            ;
        uint8_t bytes[] = {0xb8, 0, 0, 0, 0, 0xc3};
        memcpy(bytes + 1, &i, sizeof i);
        memcpy(code, bytes, sizeof bytes);
        atomic_store(&made, i);
    }
    return NULL;
}

static void generated(void)
{
    pthread_t thread;
    long sum = 0;
    unsigned a, b, c, d;
    code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pthread_create(&thread, NULL, make_code, NULL);
    for (int i = 1; i <= 200; i++) {
        while (atomic_load(&made) != i)
            usleep(1);
        /* required before running code that another processor has written */
        __cpuid(0, a, b, c, d);
        sum += ((function *)(uintptr_t)code)();
        atomic_store(&ran, i);
    }
    pthread_join(thread, NULL);
    printf("generated: %ld\n", sum);
}

static atomic_int changed_users;

static void *look(void *context)
{
    while (!atomic_load(&changed_users))
        ;
    return NULL;
}

/* The C library makes all threads do it, with an internal signal. */
static void users(void)
{
    pthread_t waits, looks;
    pthread_create(&waits, NULL, forever, NULL);
    pthread_create(&looks, NULL, look, NULL);
    printf("users: %d", setuid(getuid()));
    printf(" %d\n", setgid(getgid()));
    atomic_store(&changed_users, 1);
    pthread_join(looks, NULL);
    pthread_cancel(waits);
    pthread_join(waits, NULL);
}

/* The address to clear and the robust list at the end of a thread are the program's. */
static void *find_own(void *context)
{
    int *address = NULL;
    size_t size = 0;
    struct {
        void *next;
        long offset;
        void *pending;
    } list = {&list, 0, NULL}, *found = NULL;
    prctl(PR_GET_TID_ADDRESS, &address);
    if (!address || *address != gettid() || syscall(SYS_set_tid_address, address) != gettid())
        return NULL;
    syscall(SYS_get_robust_list, 0, &found, &size);
    if (!found || size != sizeof list)
        return NULL;
    void *before = found;
    syscall(SYS_set_robust_list, &list, sizeof list);
    syscall(SYS_get_robust_list, gettid(), &found, &size);
    syscall(SYS_set_robust_list, before, sizeof list);
    return found == (void *)&list && size == sizeof list ? context : NULL;
}

static void own_addresses(void)
{
    pthread_t thread;
    void *result = NULL, *list;
    int child, status = 0;
    size_t size;
    pthread_create(&thread, NULL, find_own, &thread);
    pthread_join(thread, &result);
    printf("own addresses: %d %d", find_own(&thread) != NULL, result == &thread);
    fflush(stdout);
    if ((child = (int)syscall(SYS_fork)) == 0) /* unknown to the C library */
        _exit(syscall(SYS_get_robust_list, 0, &list, &size) != 0 || list);
    waitpid(child, &status, 0);
    printf(" %d\n", status);
}

static void *end_process(void *context)
{
    printf("ended by another\n");
    exit(5);
}

static void *end_later(void *context)
{
    usleep(20000);
    printf("after the first\n");
    fflush(stdout);
    return NULL;
}

static void *execute(void *context)
{
    fflush(stdout);
    execl("/bin/echo", "echo", "executed", NULL);
    return NULL;
}

static void *fault(void *context)
{
    *(volatile int *)8 = 1;
    return NULL;
}

/* Ends of the process while one thread waits and another computes. */
static void *compute(void *context)
{
    for (;;)
        own++;
}

static void *hold_on(void *context)
{
    pthread_mutex_lock(context);
    return forever(NULL);
}

/* A process ends while one of its threads holds a mutex that another process shares. */
static void held_at_end(void)
{
    pthread_mutexattr_t attributes;
    pthread_t thread;
    pthread_mutex_t *held =
        mmap(NULL, sizeof *held, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(held, &attributes);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        pthread_create(&thread, NULL, hold_on, held);
        while (pthread_mutex_trylock(held) == 0) {
            pthread_mutex_unlock(held);
            sched_yield();
        }
        _exit(0);
    }
    waitpid(child, NULL, 0);
    printf("held at the end: %d\n", pthread_mutex_trylock(held) == EOWNERDEAD);
}

static atomic_int begun;

static void *begin_forever(void *context)
{
    atomic_store(&begun, 1);
    return forever(context);
}

/* A signal to another thread, or to any, ends the process before the sender continues. */
static int end_by_signal(int to_thread)
{
    pthread_t thread;
    int status;
    pid_t child = fork();
    if (child == 0) {
        pthread_create(&thread, NULL, begin_forever, NULL);
        while (!atomic_load(&begun))
            sched_yield();
        if (to_thread)
            pthread_kill(thread, SIGTERM);
        else
            kill(getpid(), SIGTERM);
        _exit(0);
    }
    waitpid(child, &status, 0);
    return status;
}

static void fatal(void)
{
    fflush(stdout);
    for (int to_thread = 0; to_thread < 2; to_thread++)
        printf("ended by a signal: %d\n", end_by_signal(to_thread));
}

static void end_with(void *(*ending)(void *), int by_first)
{
    pthread_t threads[3];
    pthread_create(&threads[0], NULL, forever, NULL);
    pthread_create(&threads[1], NULL, compute, NULL);
    if (by_first)
        ending(NULL);
    pthread_create(&threads[2], NULL, ending, NULL);
    pthread_join(threads[0], NULL);
}

static void run(char what)
{
    static void (*const parts[])(void) = {mutexes,  conditions,    barriers,    spinning, many,
                                          detached, signals,       robust,      forks,    generated,
                                          users,    own_addresses, held_at_end, fatal};
    pthread_t thread;
    if (what >= 'a' && what < 'a' + (int)(sizeof parts / sizeof *parts))
        parts[what - 'a']();
    else if (what == 'A')
        end_with(end_process, 0);
    else if (what == 'B')
        end_with(execute, 0);
    else if (what == 'C')
        end_with(fault, 0);
    else if (what == 'D')
        end_with(end_process, 1);
    else if (what == 'E') {
        pthread_create(&thread, NULL, end_later, NULL);
        pthread_exit(NULL);
    }
}

int main(int argument_count, char **arguments)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    /* for all later threads: detached ones that have not ended yet would take signals meant for
     * receive() */
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    for (const char *at = argument_count > 1 ? arguments[1] : "abcdefghijklmn"; *at; at++)
        run(*at);
    return 0;
}
