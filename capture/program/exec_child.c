#define _GNU_SOURCE /* SOCK_CLOEXEC, prctl */
#include "capture/program/exec_child.h"

#include <errno.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static bool receive(int talk, void *bytes, size_t size)
{
    ssize_t got;
    do
        got = recv(talk, bytes, size, MSG_WAITALL);
    while (got < 0 && errno == EINTR);
    return got == (ssize_t)size;
}

/* State of the calling process that the program inherits. */
struct inherited {
    const sigset_t *mask;
    struct sigaction child_ends;
};

_Noreturn static void live(const struct exec_program *program, struct exec_lanes *lanes, int lane,
                           int talk, const struct inherited *inherited)
{
    struct bt_error error = {0};
    char go;
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* without the parent its records are lost */
    sigaction(SIGCHLD, &inherited->child_ends, NULL);
    struct exec_inside *inside = exec_inside_new(lanes, lane, program, &error);
    if (inside)
        error.code = 0;
    bool sent = send(talk, &error, sizeof error, MSG_NOSIGNAL) >= 0;
    if (inside && sent && receive(talk, &go, sizeof go)) {
        close(talk);
        sigprocmask(SIG_SETMASK, inherited->mask, NULL);
        exec_inside_run(inside);
    }
    _exit(bt_exit_status(BT_USAGE));
}

static void wait_for(pid_t process)
{
    while (waitpid(process, NULL, 0) < 0 && errno == EINTR)
        continue;
}

int exec_child_new(struct exec_child *child, const struct exec_program *program,
                   struct exec_lanes *lanes, int lane, const sigset_t *mask, struct bt_error *error)
{
    const struct sigaction usual = {.sa_handler = SIG_DFL};
    struct inherited inherited = {.mask = mask};
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return bt_fail_errno(error, "cannot make a socket to the program's process");
    fflush(NULL);
    sigaction(SIGCHLD, &usual, &inherited.child_ends); /* ignored, waitpid() would fail */
    child->process = fork();
    if (child->process == 0) {
        close(ends[0]);
        live(program, lanes, lane, ends[1], &inherited);
    }
    close(ends[1]);
    child->talk = ends[0];
    if (child->process < 0) {
        close(ends[0]);
        return bt_fail_errno(error, "cannot start the program's process");
    }
    struct bt_error answer;
    if (!receive(child->talk, &answer, sizeof answer))
        bt_fail(&answer, BT_MEMORY, "%s could not be loaded", program->path);
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
