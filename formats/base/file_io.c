#include "formats/base/file_io.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <unistd.h>

/* Whether to repeat a call that failed, after waiting until the file is ready. */
static bool is_again(int file, short event)
{
    struct pollfd ready = {.fd = file, .events = event};
    if (errno == EINTR)
        return true;
    if (errno != EAGAIN && errno != EWOULDBLOCK)
        return false;
    return poll(&ready, 1, -1) >= 0 || errno == EINTR;
}

ssize_t file_read(int file, void *bytes, size_t size)
{
    ssize_t result;
    do
        result = read(file, bytes, size);
    while (result < 0 && is_again(file, POLLIN));
    return result;
}

ssize_t file_read_at(int file, void *bytes, size_t size, off_t offset)
{
    ssize_t result;
    do
        result = pread(file, bytes, size, offset);
    while (result < 0 && is_again(file, POLLIN));
    return result;
}

/* Adds written to *done. False with errno: the write failed. */
static bool went_on(int file, ssize_t written, size_t *done)
{
    if (written < 0)
        return is_again(file, POLLOUT);
    if (written == 0)
        errno = EIO; /* of a size above 0: would loop for ever */
    *done += (size_t)written;
    return written > 0;
}

int file_write(int file, const void *bytes, size_t size, size_t *done)
{
    size_t own = 0;
    size_t *at = done ? done : &own;
    *at = 0;
    while (*at < size)
        if (!went_on(file, write(file, (const char *)bytes + *at, size - *at), at))
            return -1;
    return 0;
}

int file_write_at(int file, const void *bytes, size_t size, off_t offset)
{
    size_t done = 0;
    while (done < size)
        if (!went_on(file,
                     pwrite(file, (const char *)bytes + done, size - done, offset + (off_t)done),
                     &done))
            return -1;
    return 0;
}
