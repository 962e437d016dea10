#define _GNU_SOURCE /* prctl, getpgid, getsid */
#include "tools/exec/exec_stop.h"

#include "capture/program/alive.h"

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LOOK_NS 20000000 /* interval of checks whether a stopped program continues */

/* Whether the program's state is unchanged since the last wait. */
static bool is_as_before(pid_t program)
{
    siginfo_t info = {.si_pid = 0};
    int news = WSTOPPED | WCONTINUED | WEXITED | WNOHANG | WNOWAIT;
    return waitid(P_PID, (id_t)program, &info, news) == 0 && info.si_pid == 0;
}

/* Whether this process is a job of a shell: shells give each job a separate process group. */
static bool is_job(void)
{
    pid_t parent = getppid();
    return getpgid(parent) != getpgrp() && getsid(parent) == getsid(0);
}

/* Starts a process that continues this stopped process after the program is continued. */
static pid_t begin_watch(pid_t program)
{
    const struct timespec time = {0, LOOK_NS};
    pid_t stopping = getpid();
    pid_t watcher = fork();
    if (watcher != 0)
        return watcher;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    while (getppid() == stopping) {
        if (!alive_is_stopped(program))
            kill(stopping, SIGCONT); /* repeated: it may not have stopped yet */
        nanosleep(&time, NULL);
    }
    _exit(0);
}

static void end_watch(pid_t watcher)
{
    kill(watcher, SIGKILL);
    while (waitpid(watcher, NULL, 0) < 0 && errno == EINTR)
        continue;
}

/* Stops the calling process; returns after it is continued. */
static void stop_by(int number)
{
    const struct sigaction usual = {.sa_handler = SIG_DFL};
    struct sigaction before;
    sigset_t set, old;
    sigemptyset(&set);
    sigaddset(&set, number);
    bool changed = sigaction(number, &usual, &before) == 0; /* not for SIGSTOP */
    raise(number);
    sigprocmask(SIG_UNBLOCK, &set, &old); /* stops here */
    sigprocmask(SIG_SETMASK, &old, NULL);
    if (changed)
        sigaction(number, &before, NULL);
}

/* Continues the program unless it was continued already: a shell continues all processes of a job,
 * but kill(1) may have continued bustap alone. */
static void continue_program(pid_t program)
{
    const struct timespec now = {0, 0};
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGCONT);
    sigtimedwait(&set, NULL, &now); /* consumed, so that it is not forwarded to the program */
    if (is_as_before(program))
        kill(program, SIGCONT);
}

void exec_stop_too(pid_t program, int number)
{
    if (!is_job() || !is_as_before(program))
        return;
    pid_t watcher = begin_watch(program);
    if (watcher < 0)
        return;
    stop_by(number);
    end_watch(watcher);
    continue_program(program);
}
