#define _GNU_SOURCE /* sched_getaffinity, SCHED_IDLE, syscall */
#include "formats/base/thread.h"

#include <errno.h>
#include <linux/ioprio.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

void thread_set_name(const char *name)
{
    (void)prctl(PR_SET_NAME, name);
}

int thread_start_without_signals(pthread_t *thread, void *(*run)(void *), void *argument)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int result = pthread_create(thread, NULL, run, argument);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return result;
}

void thread_yield_precedence(int nice)
{
    errno = 0;
    int now = getpriority(PRIO_PROCESS, 0); /* Linux: of the calling thread */
    if (now != -1 || errno == 0)
        (void)setpriority(PRIO_PROCESS, 0, now + nice);
}

void thread_run_idle(void)
{
    const struct sched_param none = {.sched_priority = 0};
    (void)setpriority(PRIO_PROCESS, 0, 19); /* Linux: of the calling thread, all three */
    (void)sched_setscheduler(0, SCHED_IDLE, &none);
    (void)syscall(SYS_ioprio_set, IOPRIO_WHO_PROCESS, 0, IOPRIO_PRIO_VALUE(IOPRIO_CLASS_IDLE, 0));
}

unsigned thread_processors(void)
{
    cpu_set_t set; /* more than CPU_SETSIZE processors: the call fails */
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        return (unsigned)CPU_COUNT(&set);
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online < 1 ? 1 : (unsigned)online;
}
