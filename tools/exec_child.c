#define _GNU_SOURCE /* SOCK_CLOEXEC, prctl */
#include "tools/exec_child.h"

#include "capture/exec/process.h"
#include "tools/commands.h"

#include <errno.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* In the child. */
struct run {
    const struct exec_settings *settings;
    struct record_ring *ring;
    bool detached; /* nobody takes records of this process */
    uint32_t time; /* of fetches that were left out */
};

/* --- records -----------------------------------------------------------------------------------
 */

/* Takes the fetches out; the next record has their time. */
static size_t only_data(struct record *records, size_t count, uint32_t *time)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (records[i].type == REQUEST_FETCH) {
            *time += *time < UINT32_MAX ? records[i].time : 0;
            continue;
        }
        records[kept] = records[i];
        records[kept++].time = *time;
        *time = 0;
    }
    return kept;
}

static int put(void *context, struct record *records, size_t count)
{
    struct run *run = context;
    if (run->detached)
        return 0;
    if (run->settings->only_data)
        count = only_data(records, count, &run->time);
    if (record_ring_put(run->ring, records, count) != 0)
        run->detached = true;
    return 0;
}

static void detach(void *context)
{
    struct run *run = context;
    run->detached = true;
}

/* --- the child's life --------------------------------------------------------------------------
 */

static bool receive(int talk, void *bytes, size_t size)
{
    ssize_t got;
    do
        got = recv(talk, bytes, size, MSG_WAITALL);
    while (got < 0 && errno == EINTR);
    return got == (ssize_t)size;
}

static struct process *load(const char *path, struct run *run, struct bt_error *error)
{
    const struct exec_settings *settings = run->settings;
    const struct process_settings own = {.trace = settings->only_fetch ? EXEC_TRACE_FETCHES
                                                                       : EXEC_TRACE_ALL,
                                         .start = {.environment = settings->environment},
                                         .put = put,
                                         .put_context = run,
                                         .forked = detach,
                                         .forked_context = run};
    return process_new(path, settings->arguments, &own, error);
}

_Noreturn static void live(const char *path, struct run *run, int talk, const sigset_t *mask)
{
    struct bt_error error = {0};
    struct process_end end;
    char go;
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* nobody would take its records */
    command_ignore_no_more();
    struct process *process = load(path, run, &error);
    if (send(talk, &error, sizeof error, MSG_NOSIGNAL) < 0 || !process ||
        !receive(talk, &go, sizeof go))
        _exit(STATUS_USAGE);
    close(talk);
    sigprocmask(SIG_SETMASK, mask, NULL);
    if (process_run(process, &end, &error) < 0) {
        fprintf(stderr, "bustap: %s: %s\n", path, error.message);
        end = (struct process_end){PROCESS_EXITED, bt_exit_status(error.code), end.is_child};
    }
    process_exit(&end);
}

/* --- seen from its parent ----------------------------------------------------------------------
 */

static void wait_for(pid_t process)
{
    while (waitpid(process, NULL, 0) < 0 && errno == EINTR)
        continue;
}

int exec_child_new(struct exec_child *child, const char *path, const struct exec_settings *settings,
                   struct record_ring *ring, const sigset_t *mask, struct bt_error *error)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return bt_fail_errno(error, "cannot speak to a program");
    fflush(NULL);
    child->process = fork();
    if (child->process == 0) {
        struct run run = {.settings = settings, .ring = ring};
        close(ends[0]);
        live(path, &run, ends[1], mask);
    }
    close(ends[1]);
    child->talk = ends[0];
    if (child->process < 0) {
        close(ends[0]);
        return bt_fail_errno(error, "cannot begin a process");
    }
    struct bt_error answer;
    if (!receive(child->talk, &answer, sizeof answer))
        bt_fail(&answer, BT_MEMORY, "%s could not be loaded", path);
    if (answer.code == 0)
        return 0;
    *error = answer;
    exec_child_abandon(child);
    return answer.code;
}

void exec_child_go(struct exec_child *child)
{
    send(child->talk, "", 1, MSG_NOSIGNAL);
    close(child->talk);
    child->talk = -1;
}

void exec_child_abandon(struct exec_child *child)
{
    close(child->talk);
    child->talk = -1;
    wait_for(child->process);
}
