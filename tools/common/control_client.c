#include "tools/common/control_client.h"

#include "capture/control_protocol.h"
#include "formats/base/clock.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#define ANSWER_SECONDS 60 /* a board may start slowly */

static int late(struct bt_error *error)
{
    return bt_fail(error, BT_TIMEOUT, "bustapd did not answer in %d s", ANSWER_SECONDS);
}

static int connect_to(const char *path, struct bt_error *error)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct timeval patience = {.tv_sec = ANSWER_SECONDS};
    if (strlen(path) >= sizeof address.sun_path)
        return bt_fail(error, BT_USAGE, "the socket's path is too long: %.200s", path);
    strcpy(address.sun_path, path);
    int file = socket(AF_UNIX, SOCK_STREAM, 0);
    if (file < 0)
        return bt_fail_errno(error, "cannot make a socket");
    /* also limits connect(), which waits while the daemon's queue of connections is full */
    setsockopt(file, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    if (connect(file, (const struct sockaddr *)&address, sizeof address) == 0)
        return file;
    int result = errno == EAGAIN ? late(error)
                 : errno == ENOENT || errno == ECONNREFUSED
                     ? bt_fail(error, BT_IO, "no bustapd listens at %s", path)
                     : bt_fail_errno(error, "cannot connect to %s", path);
    close(file);
    return result;
}

static int send_all(int file, const char *text, struct bt_error *error)
{
    size_t size = strlen(text);
    while (size > 0) {
        ssize_t sent = write(file, text, size);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            return late(error);
        if (sent < 0)
            return bt_fail_errno(error, "cannot write to bustapd");
        text += sent;
        size -= (size_t)sent;
    }
    return 0;
}

/* Receives a whole line into answer, which has room for CONTROL_ANSWER_BYTES_MAX, until
 * clock_monotonic_ms() is until. 0 or a negative code. */
static int receive_line(int file, char *answer, int64_t until, struct bt_error *error)
{
    size_t size = 0;
    while (size < CONTROL_ANSWER_BYTES_MAX) {
        struct pollfd answered = {.fd = file, .events = POLLIN};
        int64_t left = until - clock_monotonic_ms();
        int ready = left > 0 ? poll(&answered, 1, (int)left) : 0;
        if (ready < 0 && errno == EINTR)
            continue;
        if (ready == 0)
            return late(error);
        ssize_t got = read(file, answer + size, CONTROL_ANSWER_BYTES_MAX - size);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return bt_fail_errno(error, "cannot read from bustapd");
        if (got == 0)
            return bt_fail(error, BT_CLOSED, "bustapd disconnected without an answer");
        char *end = memchr(answer + size, '\n', (size_t)got);
        if (end) {
            *end = '\0';
            return 0;
        }
        size += (size_t)got;
    }
    return bt_fail(error, BT_IO, "bustapd's answer is too long");
}

int control_client_ask(const char *path, const char *request, char **answer, struct bt_error *error)
{
    char *text = malloc(CONTROL_ANSWER_BYTES_MAX);
    if (!text)
        return bt_fail(error, BT_MEMORY, "no memory for an answer");
    const int64_t until = clock_monotonic_ms() + ANSWER_SECONDS * 1000;
    int file = connect_to(path, error);
    int result = file < 0 ? file : send_all(file, request, error);
    if (result == 0)
        result = receive_line(file, text, until, error);
    if (file >= 0)
        close(file);
    if (result < 0)
        free(text);
    else
        *answer = text;
    return result;
}
