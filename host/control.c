#define _GNU_SOURCE /* accept4, flock, SOCK_CLOEXEC */
#include "host/control.h"

#include "capture/control_protocol.h"
#include "formats/base/clock.h"
#include "host/control_lock.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define NO_DESCRIPTOR_MS 100 /* retry interval without a free descriptor */

struct client {
    int fd; /* -1: the slot is free */
    char *in;
    size_t in_size;
    size_t line_size; /* of the line that awaits its answer, without its newline */
    size_t line_end;  /* start of the next line */
    bool waits;       /* a line is pending */
    bool begun;
    bool ended; /* it will send nothing more */
    char *out;  /* not yet sent */
    size_t out_size, out_sent;
    int64_t since_ms; /* start of its turn: to send a whole request, or to take a whole answer */
};

struct control {
    int fd;
    int lock;
    bool bound;      /* the socket's file is made, */
    struct stat own; /* and is this one */
    int turn_ms;
    int64_t accept_ms; /* no client is accepted before this: no descriptor was free */
    struct sockaddr_un address;
    struct client clients[CONTROL_CLIENTS];
};

/* Whether a process listens on the socket at the address. Unknown counts as yes. */
static bool is_live(const struct sockaddr_un *address)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return true;
    int result = connect(fd, (const struct sockaddr *)address, sizeof *address);
    bool refused = result < 0 && errno == ECONNREFUSED;
    close(fd);
    return !refused;
}

/* Removes the socket of a dead daemon, and nothing else. left_behind: its lock was stale. */
static int clear_place(const struct sockaddr_un *address, bool left_behind, struct bt_error *error)
{
    const char *path = address->sun_path;
    struct stat status;
    if (lstat(path, &status) != 0)
        return 0;
    if (!S_ISSOCK(status.st_mode))
        return bt_fail(error, BT_IO, "%s exists and is not a socket", path);
    if (is_live(address))
        return bt_fail(error, BT_BUSY, "another service listens on %s; use --socket", path);
    if (!left_behind)
        return bt_fail(error, BT_IO,
                       "%s exists and is not a socket of bustapd; remove it if it is unused, "
                       "or use --socket",
                       path);
    return unlink(path) == 0 ? 0 : bt_fail_errno(error, "cannot remove the old socket %s", path);
}

static int listen_at(struct control *control, bool left_behind, struct bt_error *error)
{
    const struct sockaddr_un *address = &control->address;
    if (clear_place(address, left_behind, error) < 0)
        return error->code;
    control->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (control->fd < 0)
        return bt_fail_errno(error, "cannot make a socket");
    /* the mode must be right from the start */
    mode_t mask = umask(0117);
    int result = bind(control->fd, (const struct sockaddr *)address, sizeof *address);
    umask(mask);
    if (result == 0)
        control->bound = lstat(address->sun_path, &control->own) == 0;
    if (result != 0 || listen(control->fd, CONTROL_CLIENTS) != 0)
        return bt_fail_errno(error, "cannot listen on %s", address->sun_path);
    return 0;
}

/* The socket's name may belong to another file by then. */
static void remove_socket(const struct control *control)
{
    struct stat there;
    const char *path = control->address.sun_path;
    if (control->bound && lstat(path, &there) == 0 && there.st_dev == control->own.st_dev &&
        there.st_ino == control->own.st_ino)
        unlink(path);
}

struct control *control_new(const char *path, int turn_ms, struct bt_error *error)
{
    struct control *control = calloc(1, sizeof *control);
    if (!control) {
        bt_fail(error, BT_MEMORY, "no memory for the control socket");
        return NULL;
    }
    control->fd = control->lock = -1;
    control->turn_ms = turn_ms;
    control->address.sun_family = AF_UNIX;
    for (size_t i = 0; i < CONTROL_CLIENTS; i++)
        control->clients[i].fd = -1;
    size_t size = strlen(path);
    if (size == 0 || size >= sizeof control->address.sun_path) {
        bt_fail(error, BT_USAGE, "a socket's name has 1 to %zu bytes, not %zu",
                sizeof control->address.sun_path - 1, size);
        goto fail;
    }
    memcpy(control->address.sun_path, path, size + 1);
    bool left_behind;
    control->lock = control_lock_take(path, &left_behind, error);
    if (control->lock < 0 || listen_at(control, left_behind, error) < 0)
        goto fail;
    return control;
fail:
    control_free(control);
    return NULL;
}

static void hang_up(struct client *client)
{
    close(client->fd);
    free(client->in);
    free(client->out);
    *client = (struct client){.fd = -1};
}

void control_free(struct control *control)
{
    if (!control)
        return;
    for (size_t i = 0; i < CONTROL_CLIENTS; i++)
        if (control->clients[i].fd >= 0)
            hang_up(&control->clients[i]);
    remove_socket(control);
    if (control->fd >= 0)
        close(control->fd);
    if (control->lock >= 0)
        control_lock_release(control->lock, control->address.sun_path);
    free(control);
}

/* It has sent all requests, and has received all answers. */
static bool is_done(const struct client *client)
{
    return client->ended && !client->waits && !client->out;
}

/* Parts of a request or an answer do not renew the time limit: a client must not keep a slot with
 * single bytes. A client that waits for an answer is not late. */
static bool is_late(const struct control *control, const struct client *client, int64_t now)
{
    return !client->waits && now - client->since_ms >= control->turn_ms;
}

size_t control_polls(struct control *control, struct pollfd *polls, int *timeout_ms)
{
    size_t count = 0;
    int64_t now = clock_monotonic_ms();
    bool full = now < control->accept_ms;
    polls[count++] = (struct pollfd){.fd = full ? -1 : control->fd, .events = POLLIN};
    if (full && (*timeout_ms < 0 || control->accept_ms - now < *timeout_ms))
        *timeout_ms = (int)(control->accept_ms - now);
    for (size_t i = 0; i < CONTROL_CLIENTS; i++) {
        const struct client *client = &control->clients[i];
        if (client->fd < 0)
            continue;
        short events = 0;
        if (client->out)
            events = POLLOUT;
        else if (!client->waits && !client->ended)
            events = POLLIN;
        /* with a negative descriptor, since poll reports a hang-up even without events */
        polls[count++] = (struct pollfd){.fd = events ? client->fd : -1, .events = events};
        bool at_once = is_done(client) || (client->waits && !client->begun);
        int64_t left = at_once ? 0 : client->since_ms + control->turn_ms - now;
        if ((at_once || !client->waits) && (*timeout_ms < 0 || left < *timeout_ms))
            *timeout_ms = left > 0 ? (int)left : 0;
    }
    return count;
}

/* Puts a line into an empty output. False: no memory. */
static bool put_line(struct client *client, const char *text, size_t size)
{
    client->out = malloc(size + 1);
    if (!client->out)
        return false;
    memcpy(client->out, text, size);
    client->out[size] = '\n';
    client->out_size = size + 1;
    client->out_sent = 0;
    return true;
}

static void welcome(struct control *control, int fd)
{
    static const char full[] =
        "{\"ok\":false,\"error\":\"bustapd has too many clients; try again\"}\n";
    for (size_t i = 0; i < CONTROL_CLIENTS; i++) {
        struct client *client = &control->clients[i];
        if (client->fd >= 0)
            continue;
        *client = (struct client){.fd = fd, .since_ms = clock_monotonic_ms()};
        client->in = malloc(CONTROL_LINE_BYTES_MAX);
        if (!client->in)
            hang_up(client);
        return;
    }
    /* the message may be lost: bustapd does not wait for the client */
    (void)send(fd, full, sizeof full - 1, MSG_NOSIGNAL);
    close(fd);
}

/* Blanks and blank lines are not requests: they do not renew the client's time limit. */
static void skip_blanks(struct client *client)
{
    size_t blank = 0;
    while (blank < client->in_size && memchr(" \t\r\n", client->in[blank], 4))
        blank++;
    client->in_size -= blank;
    memmove(client->in, client->in + blank, client->in_size);
}

/* Detects a complete line. */
static void find_line(struct client *client)
{
    static const char too_long[] = "{\"ok\":false,\"error\":\"the request is too long\"}";
    if (client->waits || client->out)
        return;
    skip_blanks(client);
    const char *newline = memchr(client->in, '\n', client->in_size);
    if (newline) {
        client->line_size = (size_t)(newline - client->in);
        client->line_end = client->line_size + 1;
        client->waits = true;
    } else if (client->ended && client->in_size) {
        /* a last line without a newline is complete */
        client->line_size = client->line_end = client->in_size;
        client->waits = true;
    } else if (client->in_size == CONTROL_LINE_BYTES_MAX) {
        client->in_size = 0;
        client->ended = true;
        if (!put_line(client, too_long, sizeof too_long - 1))
            hang_up(client);
    }
    client->begun = false;
}

/* False: the client is disconnected. */
static bool read_client(struct client *client)
{
    if (client->ended || client->waits || client->out || client->in_size == CONTROL_LINE_BYTES_MAX)
        return true;
    ssize_t got =
        recv(client->fd, client->in + client->in_size, CONTROL_LINE_BYTES_MAX - client->in_size, 0);
    if (got < 0)
        return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
    if (got == 0)
        client->ended = true;
    client->in_size += (size_t)got;
    return true;
}

static bool write_client(struct client *client, int64_t now)
{
    if (!client->out)
        return true;
    ssize_t sent = send(client->fd, client->out + client->out_sent,
                        client->out_size - client->out_sent, MSG_NOSIGNAL);
    if (sent < 0)
        return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
    client->out_sent += (size_t)sent;
    if (client->out_sent == client->out_size) {
        client->since_ms = now;
        free(client->out);
        client->out = NULL;
    }
    return true;
}

static void let_in(struct control *control)
{
    for (unsigned i = 0; i < CONTROL_CLIENTS;
         i++) { /* at most this many at once, so that other clients get a turn */
        int fd = accept4(control->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd < 0) {
            /* the client keeps trying: without a pause poll would return at once */
            if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
                control->accept_ms = clock_monotonic_ms() + NO_DESCRIPTOR_MS;
            break;
        }
        welcome(control, fd);
    }
}

void control_step(struct control *control)
{
    let_in(control);
    int64_t now = clock_monotonic_ms();
    for (size_t i = 0; i < CONTROL_CLIENTS; i++) {
        struct client *client = &control->clients[i];
        if (client->fd < 0)
            continue;
        if (!write_client(client, now) || !read_client(client)) {
            hang_up(client);
            continue;
        }
        find_line(client);
        if (client->fd < 0)
            continue;
        if (is_done(client) || is_late(control, client, now))
            hang_up(client);
    }
}

bool control_request(struct control *control, size_t i, struct control_request *request)
{
    struct client *client = &control->clients[i];
    if (client->fd < 0 || !client->waits)
        return false;
    *request = (struct control_request){client->in, client->line_size, &client->begun};
    return true;
}

void control_answer(struct control *control, size_t i, const char *text, size_t size)
{
    struct client *client = &control->clients[i];
    client->waits = false;
    client->in_size -= client->line_end;
    memmove(client->in, client->in + client->line_end, client->in_size);
    client->since_ms = clock_monotonic_ms();
    if (!put_line(client, text, size)) {
        hang_up(client);
        return;
    }
    /* most answers are sent at once; the rest waits for poll */
    if (!write_client(client, client->since_ms)) {
        hang_up(client);
        return;
    }
    find_line(client);
}
