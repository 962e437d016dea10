/* How an instrumented program can end: return, exit(), quick_exit(), _exit(), signals. */
#define _GNU_SOURCE /* on_exit, sigdescr_np */
#include "capture/instrument/instrument_internal.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static const int signals[] = {SIGHUP, SIGINT, SIGQUIT, SIGILL,  SIGABRT,
                              SIGBUS, SIGFPE, SIGSEGV, SIGTERM, SIGXCPU};

void instrument_finish(const char *ended)
{
    struct traced *self = &instrument_self;
    if (self->is_inside || !__atomic_load_n(&instrument.counts, __ATOMIC_RELAXED) ||
        instrument.process != getpid()) /* a child of vfork() or clone() */
        return;
    self->is_inside = true;
    pthread_mutex_lock(&instrument.lock);
    if (instrument.counts) {
        instrument.counts = false;
        instrument_output_write(ended);
    }
    pthread_mutex_unlock(&instrument.lock);
    self->is_inside = false;
}

void instrument_die(int number)
{
    char ended[80];
    snprintf(ended, sizeof ended, "signal %d (%s)", number, sigdescr_np(number));
    instrument_finish(ended);
    signal(number, SIG_DFL);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, number);
    raise(number);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

/* During a hook the report cannot be written: the signal is delivered at its end. A fault of the
 * hook itself occurs again, and is fatal now. */
static void take_signal(int number)
{
    if (instrument_self.is_inside)
        instrument_self.ending = number;
    else
        instrument_die(number);
}

static void finish_or_say(const char *ended)
{
    if (instrument_self.is_inside && instrument.counts && instrument.process == getpid())
        instrument_say("no report: a signal handler has left a hook by siglongjmp()");
    instrument_finish(ended);
}

static void at_exit(int status, void *unused)
{
    char ended[40];
    (void)unused;
    snprintf(ended, sizeof ended, "exit status %d", status & 0xff);
    finish_or_say(ended);
}

/* The status is not known. */
static void at_quick(void)
{
    finish_or_say("quick_exit()");
}

static bool is_fault(int number)
{
    return number == SIGILL || number == SIGBUS || number == SIGFPE || number == SIGSEGV;
}

/* A request to end may come twice: the second signal must not end the program during the report.
 * Signals that the program or its parent has given another action keep it. */
void instrument_endings_begin(void)
{
    on_exit(at_exit, NULL);
    (void)at_quick_exit(at_quick);
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
        struct sigaction action;
        if (sigaction(signals[i], NULL, &action) != 0 || action.sa_flags & SA_SIGINFO ||
            action.sa_handler != SIG_DFL)
            continue;
        action = (struct sigaction){.sa_handler = take_signal, .sa_flags = SA_ONSTACK};
        if (is_fault(signals[i]))
            action.sa_flags |= SA_RESETHAND;
        sigaction(signals[i], &action, NULL);
    }
}

static _Noreturn void end_now(int status)
{
    at_exit(status, NULL);
    for (;;)
        syscall(SYS_exit_group, status);
}

#pragma GCC visibility push(default)

_Noreturn void _exit(int status)
{
    end_now(status);
}

_Noreturn void _Exit(int status)
{
    end_now(status);
}
