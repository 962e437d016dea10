#include "capture/signal_guard.h"

#include "capture/patience.h"
#include "formats/base/clock.h"
#include "formats/base/thread.h"

#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#define WAIT_NS INT64_C(3600000000000) /* of a wait that nothing limits */

struct signal_guard {
    struct signal_guard_rules rules;
    pthread_t thread;
    pthread_mutex_t mutex; /* guards the members below */
    sigset_t came;
    int64_t stopped_ns; /* CLOCK_MONOTONIC, when the end was requested; 0: it was not */
    struct patience patience;
    int limit_ms;
    bool closed;
};

static void taken_signals(sigset_t *set)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};
    sigemptyset(set);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        sigaddset(set, numbers[i]);
}

void signal_guard_block(void)
{
    sigset_t set;
    taken_signals(&set);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
}

void signal_guard_die(int number)
{
    sigset_t set;
    signal(number, SIG_DFL);
    sigemptyset(&set);
    sigaddset(&set, number);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    raise(number);
    _exit(128 + number);
}

/* Until the time is over; call with the mutex. */
static int64_t time_left(const struct signal_guard *guard)
{
    if (guard->stopped_ns == 0 || guard->limit_ms == 0)
        return WAIT_NS;
    int64_t left = guard->stopped_ns + (int64_t)guard->limit_ms * 1000000 - clock_monotonic_ns();
    return left > 0 ? left : 0;
}

/* Records a signal; call with the mutex. True: it requests once more what was already requested. */
static bool note(struct signal_guard *guard, int number)
{
    if (number == SIGINT || number == SIGTERM) {
        int64_t now = clock_monotonic_ns();
        bool new = patience_ask(&guard->patience, now);
        if (guard->stopped_ns)
            return new;
        guard->stopped_ns = now;
    }
    sigaddset(&guard->came, number);
    return false;
}

static void wake(const struct signal_guard *guard)
{
    static const uint64_t one = 1;
    /* never full: its owner empties it, and it counts to 2^64 */
    if (guard->rules.wake >= 0 && write(guard->rules.wake, &one, sizeof one) < 0)
        return;
}

/* Takes the next signal, or returns a value below 0 when time is up. */
static int signal_take(struct signal_guard *guard, const sigset_t *set, siginfo_t *info)
{
    static const struct timespec now = {0, 0};
    int number = sigtimedwait(set, info, &now);
    if (number > 0)
        return number;
    pthread_mutex_lock(&guard->mutex);
    int64_t left = time_left(guard);
    int64_t until = patience_quiet(&guard->patience, clock_monotonic_ns());
    pthread_mutex_unlock(&guard->mutex);
    left = until < left ? until : left;
    const struct timespec time = {(time_t)(left / 1000000000), (long)(left % 1000000000)};
    return sigtimedwait(set, info, &time);
}

static void *run(void *argument)
{
    struct signal_guard *guard = argument;
    sigset_t set;
    thread_set_name("signals");
    taken_signals(&set);
    for (;;) {
        siginfo_t info;
        int number = signal_take(guard, &set, &info);
        pthread_mutex_lock(&guard->mutex);
        bool closed = guard->closed;
        /* the process sends itself one of them, to change the limit or to close */
        bool ours = number == SIGUSR2 && info.si_code == SI_TKILL && info.si_pid == getpid();
        bool over = time_left(guard) == 0;
        bool again = number > 0 && !ours && note(guard, number);
        pthread_mutex_unlock(&guard->mutex);
        if (closed)
            return NULL;
        if (again || over)
            guard->rules.end(guard->rules.context, again ? number : 0);
        if (number > 0 && !ours)
            wake(guard);
    }
}

/* Takes the signals that are pending, so that signal_guard_new() reports them. */
static void note_pending(struct signal_guard *guard)
{
    static const struct timespec now = {0, 0};
    sigset_t set;
    int number;
    taken_signals(&set);
    while ((number = sigtimedwait(&set, NULL, &now)) > 0)
        (void)note(guard, number); /* all may be one request */
}

struct signal_guard *signal_guard_new(const struct signal_guard_rules *rules,
                                      struct bt_error *error)
{
    struct signal_guard *guard = calloc(1, sizeof *guard);
    if (!guard) {
        bt_fail(error, BT_MEMORY, "no memory for signals");
        return NULL;
    }
    guard->rules = *rules;
    guard->limit_ms = rules->limit_ms;
    sigemptyset(&guard->came);
    pthread_mutex_init(&guard->mutex, NULL);
    signal_guard_block();
    if (rules->stopped)
        (void)note(guard, SIGTERM);
    note_pending(guard);
    if (pthread_create(&guard->thread, NULL, run, guard) == 0)
        return guard;
    bt_fail(error, BT_MEMORY, "cannot start a thread for signals");
    pthread_mutex_destroy(&guard->mutex);
    free(guard);
    return NULL;
}

void signal_guard_limit(struct signal_guard *guard, int limit_ms)
{
    pthread_mutex_lock(&guard->mutex);
    guard->limit_ms = limit_ms;
    pthread_mutex_unlock(&guard->mutex);
    pthread_kill(guard->thread, SIGUSR2);
}

bool signal_guard_stops(struct signal_guard *guard)
{
    pthread_mutex_lock(&guard->mutex);
    bool stops = guard->stopped_ns != 0;
    pthread_mutex_unlock(&guard->mutex);
    return stops;
}

bool signal_guard_take(struct signal_guard *guard, int number)
{
    pthread_mutex_lock(&guard->mutex);
    bool came = sigismember(&guard->came, number) == 1;
    sigdelset(&guard->came, number);
    pthread_mutex_unlock(&guard->mutex);
    return came;
}

void signal_guard_free(struct signal_guard *guard)
{
    if (!guard)
        return;
    pthread_mutex_lock(&guard->mutex);
    guard->closed = true;
    pthread_mutex_unlock(&guard->mutex);
    pthread_kill(guard->thread, SIGUSR2);
    pthread_join(guard->thread, NULL);
    pthread_mutex_destroy(&guard->mutex);
    free(guard);
}
