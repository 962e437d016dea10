#define _GNU_SOURCE /* sched_getaffinity */
#include "formats/base/thread.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
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

unsigned thread_processors(void)
{
    cpu_set_t set; /* more than CPU_SETSIZE processors: the call fails */
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        return (unsigned)CPU_COUNT(&set);
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online < 1 ? 1 : (unsigned)online;
}
