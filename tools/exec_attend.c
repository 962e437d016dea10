#define _GNU_SOURCE /* SI_KERNEL */
#include "tools/exec_attend.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define LOOK_NS 100000000 /* the live line is renewed so often, at least */

/* A terminal sends its signals to the program, too; those that somebody sent came here alone. */
static bool is_for_program(const siginfo_t *info, pid_t program)
{
    bool sent = info->si_code == SI_USER || info->si_code == SI_QUEUE || info->si_code == SI_TKILL;
    return sent && info->si_pid != program && info->si_signo != SIGCHLD;
}

/* True: the child has ended. */
static bool has_ended(pid_t process, int *status)
{
    while (waitpid(process, status, WNOHANG | WUNTRACED) == process) {
        if (!WIFSTOPPED(*status))
            return true;
        raise(SIGSTOP); /* and whoever lets us go on lets all of our group go on */
    }
    return false;
}

int exec_attend(const struct exec_child *child, struct capture *capture,
                struct capture_report *report)
{
    static const struct timespec look = {0, LOOK_NS};
    sigset_t all;
    siginfo_t info;
    int status = 0;
    sigfillset(&all);
    while (!has_ended(child->process, &status)) {
        if (sigtimedwait(&all, &info, &look) > 0 && is_for_program(&info, child->process))
            kill(child->process, info.si_signo);
        capture_report_notes(report, capture);
        capture_report_live(report, capture);
    }
    return status;
}

int exec_end_as(int wait_status)
{
    if (!WIFSIGNALED(wait_status))
        return WEXITSTATUS(wait_status);
    const struct rlimit none = {0, 0};
    sigset_t mask;
    int number = WTERMSIG(wait_status);
    setrlimit(RLIMIT_CORE, &none); /* the program's is enough */
    signal(number, SIG_DFL);
    sigemptyset(&mask);
    sigaddset(&mask, number);
    sigprocmask(SIG_UNBLOCK, &mask, NULL);
    raise(number);
    return 128 + number;
}
