#define _GNU_SOURCE /* sem_clockwait, syscall */
#include "capture/exec/kernel/process_host.h"

#include <asm/prctl.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define SPINS        2000     /* polls before the executing thread sleeps */
#define FIRST_NS     20000L   /* first sleep */
#define LONGEST_NS   1000000L /* longest sleep */
#define BLIND_ROUNDS 20u      /* without /proc: number of sleeps after which a call blocks */
#define BUSY_ROUNDS  200u     /* with /proc: number of sleeps after which a busy call blocks */

enum host_state {
    IDLE,
    BUSY,
    BLOCKED,   /* in a system call that may block */
    ABANDONED, /* in the kernel; the executing thread does not wait for it */
    RETURNED   /* from the kernel; it waits for its turn */
};

struct process_host {
    pthread_t thread;
    int number;
    struct exec_thread *own; /* for its signal handlers, through gs */
    sem_t go, ready;
    sem_t *event;
    _Atomic int state;
    process_host_function *function; /* NULL: it ends */
    void *context;
    bool has_blocked;
};

/* --- the host ----------------------------------------------------------------------------------
 */

static void wait_for(sem_t *semaphore)
{
    while (sem_wait(semaphore) != 0)
        continue;
}

static void *work(void *context)
{
    struct process_host *host = context;
    struct bt_error error;
    bool bound = exec_thread_bind(host->own, &error) == 0;
    host->number = bound ? (int)syscall(SYS_gettid) : 0;
    sem_post(&host->ready);
    while (bound) {
        wait_for(&host->go);
        if (!host->function)
            break;
        host->function(host->context);
        atomic_store(&host->state, IDLE);
        sem_post(host->event);
    }
    signals_block();
    syscall(SYS_arch_prctl, ARCH_SET_GS, 0); /* none of our signals interrupts it now */
    return NULL;
}

void process_host_before_block(struct process_host *host)
{
    host->has_blocked = true;
    atomic_store(&host->state, BLOCKED);
}

void process_host_after_block(struct process_host *host)
{
    int blocked = BLOCKED;
    if (atomic_compare_exchange_strong(&host->state, &blocked, BUSY))
        return;
    atomic_store(&host->state, RETURNED);
    sem_post(host->event);
    wait_for(&host->go);
}

/* --- the executing thread ----------------------------------------------------------------------
 */

static bool start(struct process_host *host)
{
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes) != 0)
        return false;
    int result = pthread_create(&host->thread, &attributes, work, host);
    pthread_attr_destroy(&attributes);
    if (result != 0)
        return false;
    wait_for(&host->ready);
    if (host->number == 0)
        pthread_join(host->thread, NULL);
    return host->number != 0;
}

struct process_host *process_host_new(struct executor *executor, struct signals *signals,
                                      sem_t *event)
{
    struct bt_error error;
    struct process_host *host = calloc(1, sizeof *host);
    if (!host)
        return NULL;
    host->event = event;
    host->own = exec_thread_new(&error);
    sem_init(&host->go, 0, 0);
    sem_init(&host->ready, 0, 0);
    if (host->own) {
        host->own->executor = executor;
        host->own->note_context = signals;
    }
    bool started = host->own && start(host);
    signals_take_back(signals);
    if (started)
        return host;
    process_host_forget(host);
    return NULL;
}

void process_host_free(struct process_host *host)
{
    if (!host)
        return;
    host->function = NULL;
    sem_post(&host->go);
    pthread_join(host->thread, NULL);
    process_host_forget(host);
}

void process_host_forget(struct process_host *host)
{
    if (host)
        exec_thread_free(host->own);
    free(host);
}

int process_host_number(const struct process_host *host)
{
    return host->number;
}

bool process_host_has_returned(const struct process_host *host)
{
    return atomic_load(&host->state) == RETURNED;
}

bool process_host_has_blocked(const struct process_host *host)
{
    return host->has_blocked;
}

/* Whether it sleeps interruptibly in the kernel: 1, 0, or -1: unknown. Waiting for a disk is not an
 * interruptible sleep. */
static int is_asleep(const struct process_host *host)
{
    char path[48], text[128];
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", host->number);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return -1;
    ssize_t size = read(file, text, sizeof text - 1);
    close(file);
    text[size > 0 ? size : 0] = '\0';
    const char *name_end = strrchr(text, ')');
    return name_end && name_end[1] ? name_end[2] == 'S' : -1;
}

static void rest(const struct process_host *host, unsigned round)
{
    struct timespec until;
    long ns = FIRST_NS << (round < 6 ? round : 6);
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += ns < LONGEST_NS ? ns : LONGEST_NS;
    if (until.tv_nsec >= 1000000000L) {
        until.tv_nsec -= 1000000000L;
        until.tv_sec++;
    }
    sem_clockwait(host->event, CLOCK_MONOTONIC, &until);
}

/* Posts of earlier events would end sleeps at once and use up the rounds. */
static void forget_events(const struct process_host *host)
{
    while (sem_trywait(host->event) == 0)
        continue;
}

/* Whether the host counts as blocked after this many rounds. */
static bool sleeps(const struct process_host *host, unsigned round)
{
    int asleep = is_asleep(host);
    return asleep > 0 || round >= (asleep < 0 ? BLIND_ROUNDS : BUSY_ROUNDS);
}

bool process_host_settle(struct process_host *host)
{
    forget_events(host);
    for (unsigned round = 0; !process_host_has_returned(host); round++) {
        if (sleeps(host, round) && !process_host_has_returned(host))
            return false;
        rest(host, round);
    }
    return true;
}

static bool wait_until_done(struct process_host *host)
{
    for (unsigned i = 0; i < SPINS && atomic_load(&host->state) != IDLE; i++)
        __builtin_ia32_pause();
    forget_events(host);
    for (unsigned round = 0; atomic_load(&host->state) != IDLE; round++) {
        int blocked = BLOCKED;
        if (atomic_load(&host->state) == BLOCKED && sleeps(host, round) &&
            atomic_compare_exchange_strong(&host->state, &blocked, ABANDONED))
            return false;
        rest(host, round);
    }
    return true;
}

bool process_host_run(struct process_host *host, process_host_function *function, void *context)
{
    host->function = function;
    host->context = context;
    host->has_blocked = false;
    return process_host_resume(host);
}

bool process_host_resume(struct process_host *host)
{
    atomic_store(&host->state, BUSY);
    sem_post(&host->go);
    return wait_until_done(host);
}
