#define _GNU_SOURCE /* O_PATH, fopencookie */
#include "formats/base/standard_streams.h"

#include "formats/base/file_io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

int standard_streams_keep(void)
{
    for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; stream++) {
        if (fcntl(stream, F_GETFD) >= 0 || errno != EBADF)
            continue;
        /* the lowest free descriptor, which is this one; "/" exists even without /dev */
        if (open("/", O_PATH) < 0)
            return -1;
    }
    return 0;
}

/* The descriptors of stdout and stderr; like those, they belong to the process. */
static struct waiting_stream {
    int descriptor;
    int reason; /* errno of the first failed write, which stdio does not keep */
} waiting_out = {.descriptor = STDOUT_FILENO}, waiting_err = {.descriptor = STDERR_FILENO};

static ssize_t put(void *cookie, const char *bytes, size_t size)
{
    struct waiting_stream *stream = cookie;
    size_t done;
    if (file_write(stream->descriptor, bytes, size, &done) < 0 && stream->reason == 0)
        stream->reason = errno;
    return (ssize_t)done;
}

static int make_waiting(FILE **stream, struct waiting_stream *waiting, int mode)
{
    static const cookie_io_functions_t functions = {.write = put};
    FILE *made = fopencookie(waiting, "w", functions);
    if (!made)
        return -1;
    setvbuf(made, NULL, mode, BUFSIZ);
    *stream = made;
    return 0;
}

int standard_streams_wait(void)
{
    if (fileno(stdout) < 0)
        return 0; /* once per process */
    if (make_waiting(&stdout, &waiting_out, isatty(STDOUT_FILENO) ? _IOLBF : _IOFBF) < 0)
        return -1;
    return make_waiting(&stderr, &waiting_err, _IONBF);
}

int standard_streams_finish(struct bt_error *error)
{
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout))
        return 0;
    errno = waiting_out.reason ? waiting_out.reason : errno;
    if (errno == EPIPE)
        return 0;
    return errno ? bt_fail_errno(error, "cannot write standard output")
                 : bt_fail(error, BT_IO, "cannot write standard output");
}

static bool is_kept(int stream)
{
    struct stat root, status;
    int flags = fcntl(stream, F_GETFL);
    return flags >= 0 && (flags & O_PATH) && fstat(stream, &status) == 0 && stat("/", &root) == 0 &&
           status.st_dev == root.st_dev && status.st_ino == root.st_ino;
}

void standard_streams_let_go(void)
{
    for (int stream = STDIN_FILENO; stream <= STDOUT_FILENO; stream++)
        if (is_kept(stream))
            close(stream);
}
