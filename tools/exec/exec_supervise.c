#define _GNU_SOURCE /* SI_KERNEL */
#include "tools/exec/exec_supervise.h"

#include "formats/base/clock.h"
#include "tools/common/command.h"
#include "tools/exec/exec_stop.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define LOOK_NS       100000000 /* maximum interval of the live line */
#define LAST_WORDS_MS 500       /* time limit for the reader of standard error after a signal */
#define COMMAND_NS    20000000  /* polling interval until --exec-on-file was run for all files */
#define FINISH_NS     2000000   /* polling interval until all captures are written */

/* A signal that bustap's own output caused: a file at its size limit, a closed reader. */
static bool is_our_own(const siginfo_t *info)
{
    return (info->si_signo == SIGXFSZ || info->si_signo == SIGPIPE) && info->si_pid == getpid();
}

/* A terminal signals the program itself; a signal from kill(2) reached this process alone. */
static bool is_for_program(const siginfo_t *info, pid_t program)
{
    bool sent = info->si_code == SI_USER || info->si_code == SI_QUEUE || info->si_code == SI_TKILL;
    return sent && info->si_pid != program && info->si_signo != SIGCHLD && !is_our_own(info);
}

/* Whether the child has ended. *status becomes STATUS_IO if it can no longer be read (ECHILD). */
static bool has_ended(pid_t process, int *status)
{
    pid_t waited;
    while ((waited = waitpid(process, status, WNOHANG | WUNTRACED)) == process) {
        if (!WIFSTOPPED(*status))
            return true;
        exec_stop_too(process, WSTOPSIG(*status));
    }
    if (waited == 0 || errno != ECHILD)
        return false;
    *status = STATUS_IO << 8;
    return true;
}

/* Waits for a signal, up to nanoseconds, then prints notes and the live line. True: one came. */
static bool look(struct exec_outputs *outputs, siginfo_t *info, int64_t nanoseconds)
{
    const struct timespec time = {0, (long)nanoseconds};
    sigset_t all;
    sigfillset(&all);
    bool came = sigtimedwait(&all, info, &time) > 0;
    if (!came && errno == EAGAIN)
        (void)patience_quiet(&outputs->patience, clock_monotonic_ns());
    if (outputs->captures[0]) {
        capture_report_notes(&outputs->report, outputs->captures[0]);
        capture_report_live(&outputs->report, outputs->captures[0]);
    }
    return came;
}

/* Whether a signal asks for an end: another action than the default one is not known. */
static bool is_request(const siginfo_t *info)
{
    static const int harmless[] = {SIGCHLD, SIGCONT, SIGURG, SIGWINCH};
    for (size_t i = 0; i < sizeof harmless / sizeof *harmless; i++)
        if (info->si_signo == harmless[i])
            return false;
    return !is_our_own(info);
}

/* Whether a signal ends the wait for captures after the program's end. One that belongs to the
 * request that ended the program does not. */
static bool is_enough(struct exec_outputs *outputs, const siginfo_t *info)
{
    return is_request(info) && patience_ask(&outputs->patience, clock_monotonic_ns());
}

static bool look_for_end(void *context)
{
    siginfo_t info;
    return look(context, &info, COMMAND_NS) && is_enough(context, &info);
}

/* Waits until the command of --exec-on-file was run for all files. True: a signal ended the wait.
 */
static bool wait_for_command(struct exec_outputs *outputs)
{
    struct file_command *command = outputs->settings->capture.on_file;
    bool enough = capture_report_wait(&outputs->report, command, 0, look_for_end, outputs);
    const struct file_command_counts counts =
        command ? file_command_counts(command) : (struct file_command_counts){.run = 0};
    if (capture_report_command_failed(&counts) && outputs->status < STATUS_IO)
        outputs->status = STATUS_IO;
    return enough;
}

/* Waits for followed children, for the captures' files and for the reader of standard error. */
static void finish(struct exec_outputs *outputs)
{
    siginfo_t info;
    bool enough = false;
    while (exec_outputs_look(outputs))
        if (look(outputs, &info, FINISH_NS) && is_enough(outputs, &info)) {
            exec_outputs_stop(outputs);
            enough = true;
        }
    enough = wait_for_command(outputs) || enough;
    uint32_t missed = exec_lanes_missed(outputs->lanes);
    if (missed > 0 && !outputs->settings->quiet)
        capture_report_say(&outputs->report, "%u %s not captured", (unsigned)missed,
                           missed == 1 ? "process or program was" : "processes or programs were");
    exec_outputs_report_empty(outputs);
    capture_report_clear(&outputs->report);
    while (!enough && !line_queue_wait(outputs->report.lines, 0))
        enough = look(outputs, &info, FINISH_NS) && is_enough(outputs, &info);
    line_queue_wait(outputs->report.lines, LAST_WORDS_MS);
}

int exec_supervise(const struct exec_child *child, struct exec_outputs *outputs)
{
    siginfo_t info;
    int status = 0;
    while (!has_ended(child->process, &status)) {
        if (look(outputs, &info, LOOK_NS)) {
            if (is_for_program(&info, child->process))
                kill(child->process, info.si_signo);
            if (is_request(&info))
                (void)patience_ask(&outputs->patience, clock_monotonic_ns());
        }
        exec_outputs_look(outputs);
    }
    exec_outputs_end_process(outputs, child->process);
    finish(outputs);
    return status;
}

int exec_supervise_end(int wait_status)
{
    if (!WIFSIGNALED(wait_status))
        return WEXITSTATUS(wait_status);
    const struct rlimit none = {0, 0};
    sigset_t mask;
    int number = WTERMSIG(wait_status);
    setrlimit(RLIMIT_CORE, &none); /* no second core file */
    signal(number, SIG_DFL);
    sigemptyset(&mask);
    sigaddset(&mask, number);
    sigprocmask(SIG_UNBLOCK, &mask, NULL);
    raise(number);
    return 128 + number;
}
