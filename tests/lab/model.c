/*
 * Runs the boards of the laboratory: listens for QEMU's usb-redir devices and the guest's second
 * serial line, and ends when QEMU ends.
 *
 * usage: model CONTROL-SOCKET USB-SOCKET...
 */
#include "formats/base/clock.h"
#include "tests/lab/lab_control.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define BOARDS_MAX 2u

struct model {
    struct lab_board *boards[BOARDS_MAX];
    unsigned count;
    int control;
    size_t line_bytes;
    char line[LAB_CONTROL_LINE];
};

static int fail(const char *what)
{
    fprintf(stderr, "model: %s: %s\n", what, strerror(errno));
    return -1;
}

static int listen_at(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path) {
        errno = ENAMETOOLONG;
        return fail(path);
    }
    strcpy(address.sun_path, path);
    (void)unlink(path);
    int listener = socket(AF_UNIX, SOCK_STREAM, 0);
    if (listener < 0 || bind(listener, (struct sockaddr *)&address, sizeof address) < 0 ||
        listen(listener, 1) < 0)
        return fail(path);
    return listener;
}

/* Waits for QEMU. The socket is then non-blocking. */
static int accept_one(int listener)
{
    int connection = accept(listener, NULL, NULL);
    close(listener);
    if (connection < 0 || fcntl(connection, F_SETFL, O_NONBLOCK) < 0)
        return fail("accept");
    return connection;
}

/* Listens at all sockets before it waits for one: QEMU connects them in any order. */
static int connect_all(struct model *model, char **paths, unsigned count)
{
    int listeners[1 + BOARDS_MAX];
    for (unsigned i = 0; i < count; i++)
        if ((listeners[i] = listen_at(paths[i])) < 0)
            return -1;
    puts("ready");
    fflush(stdout);
    model->control = accept_one(listeners[0]);
    if (model->control < 0)
        return -1;
    for (unsigned i = 1; i < count; i++) {
        int connection = accept_one(listeners[i]);
        if (connection < 0)
            return -1;
        model->boards[i - 1] = lab_board_new(connection, i - 1);
        if (!model->boards[i - 1])
            return fail("board");
        model->count = i;
    }
    return 0;
}

/* Executes the received commands. Returns false after the connection is closed. */
static bool serve_control(struct model *model)
{
    char answer[LAB_CONTROL_LINE + 1];
    ssize_t size = recv(model->control, model->line + model->line_bytes,
                        sizeof model->line - 1 - model->line_bytes, MSG_DONTWAIT);
    if (size == 0)
        return false;
    if (size < 0)
        return errno == EAGAIN || errno == EINTR;
    model->line_bytes += (size_t)size;
    model->line[model->line_bytes] = '\0';
    for (char *end; (end = strchr(model->line, '\n'));) {
        *end = '\0';
        lab_control(model->boards, model->count, model->line, answer);
        strcat(answer, "\n");
        if (send(model->control, answer, strlen(answer), MSG_NOSIGNAL) < 0)
            return false;
        model->line_bytes -= (size_t)(end + 1 - model->line);
        memmove(model->line, end + 1, model->line_bytes + 1);
    }
    if (model->line_bytes == sizeof model->line - 1)
        model->line_bytes = 0; /* longer than any command */
    return true;
}

/* Waits until work is due. */
static void wait_for_work(const struct model *model, bool busy)
{
    struct pollfd polls[1 + BOARDS_MAX] = {{.fd = model->control, .events = POLLIN}};
    int64_t idle = busy ? 0 : INT64_C(1000000000);
    for (unsigned i = 0; i < model->count; i++) {
        struct usb_redir *redir = lab_board_redir(model->boards[i]);
        polls[1 + i].fd = usb_redir_socket(redir);
        polls[1 + i].events = (short)(POLLIN | (usb_redir_wants_write(redir) ? POLLOUT : 0));
        int64_t own = lab_board_idle_ns(model->boards[i]);
        idle = own < idle ? own : idle;
    }
    (void)poll(polls, 1 + model->count, (int)((idle + 999999) / 1000000));
}

static int run(struct model *model)
{
    for (;;) {
        bool busy = false;
        for (unsigned i = 0; i < model->count; i++) {
            busy |= lab_board_step(model->boards[i]);
            if (!usb_redir_service(lab_board_redir(model->boards[i])))
                return 0;
        }
        wait_for_work(model, busy);
        if (!serve_control(model))
            return 0;
    }
}

int main(int argc, char **argv)
{
    static struct model model;
    if (argc < 3 || argc > 2 + (int)BOARDS_MAX) {
        fprintf(stderr, "usage: model CONTROL-SOCKET USB-SOCKET...\n");
        return 2;
    }
    model.control = -1;
    int result = connect_all(&model, argv + 1, (unsigned)argc - 1);
    if (result == 0)
        result = run(&model);
    for (unsigned i = 0; i < model.count; i++)
        lab_board_free(model.boards[i]);
    if (model.control >= 0)
        close(model.control);
    return result < 0 ? 3 : 0;
}
