#define _DEFAULT_SOURCE /* F_DUPFD_CLOEXEC */
#include "tools/own_stream.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define DESCRIPTOR_MIN 500 /* if that many are allowed; programs like theirs low */

/* The same file, out of the program's way; -1 with errno. */
static int out_of_the_way(int descriptor)
{
    int high = fcntl(descriptor, F_DUPFD_CLOEXEC, DESCRIPTOR_MIN);
    return high < 0 ? fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1) : high;
}

int own_stream_descriptor(const char *path, struct bt_error *error)
{
    int low = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    int high = low < 0 ? -1 : out_of_the_way(low);
    if (high < 0)
        bt_fail_errno(error, "cannot write %s", path);
    if (low >= 0)
        close(low);
    return high < 0 ? error->code : high;
}

FILE *own_stream_open(const char *path, struct bt_error *error)
{
    int descriptor = own_stream_descriptor(path, error);
    FILE *stream = descriptor < 0 ? NULL : fdopen(descriptor, "w");
    if (descriptor >= 0 && !stream) {
        bt_fail_errno(error, "cannot write %s", path);
        close(descriptor);
    }
    return stream;
}

FILE *own_stream_on(int descriptor, struct bt_error *error)
{
    int high = out_of_the_way(descriptor);
    FILE *stream = high < 0 ? NULL : fdopen(high, "w");
    if (!stream)
        bt_fail_errno(error, "cannot open another stream to descriptor %d", descriptor);
    if (high >= 0 && !stream)
        close(high);
    return stream;
}

bool own_stream_is(int descriptor, const char *path)
{
    struct stat a, b;
    return fstat(descriptor, &a) == 0 && stat(path, &b) == 0 && S_ISREG(a.st_mode) &&
           a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}
