#define _DEFAULT_SOURCE /* F_DUPFD_CLOEXEC */
#include "tools/common/own_stream.h"

#include "tools/common/overwrite.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define DESCRIPTOR_MIN 500 /* if the limit allows it: programs use low numbers */

/* Duplicates a descriptor to a high number; -1 with errno. */
static int duplicate_high(int descriptor)
{
    int high = fcntl(descriptor, F_DUPFD_CLOEXEC, DESCRIPTOR_MIN);
    return high < 0 ? fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1) : high;
}

static int open_file(const char *path, int how, struct bt_error *error)
{
    int low = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | how, 0666);
    int high = low < 0 ? -1 : duplicate_high(low);
    if (high < 0)
        bt_fail_errno(error, "cannot write %s", path);
    if (low >= 0)
        close(low);
    return high < 0 ? error->code : high;
}

int own_stream_descriptor(const char *path, struct bt_error *error)
{
    return open_file(path, O_TRUNC, error);
}

FILE *own_stream_open(const char *path, struct bt_error *error)
{
    int descriptor = open_file(path, 0, error);
    FILE *stream = descriptor < 0 ? NULL : fdopen(descriptor, "w");
    if (descriptor >= 0 && !stream) {
        bt_fail_errno(error, "cannot write %s", path);
        close(descriptor);
    }
    return stream;
}

int own_stream_empty(FILE *stream, const char *path, struct bt_error *error)
{
    if (ftruncate(fileno(stream), 0) == 0) {
        rewind(stream);
        return 0;
    }
    return errno == EINVAL ? 0 : bt_fail_errno(error, "cannot empty %s", path);
}

int own_stream_finish(FILE *stream, const char *name, struct bt_error *error)
{
    errno = 0;
    if (fflush(stream) == 0 && !ferror(stream))
        return 0;
    if (errno == 0 && fputc('\n', stream) != EOF)
        fflush(stream); /* the errno of the earlier write is lost: another write sets it */
    return errno ? bt_fail_errno(error, "cannot write %s", name)
                 : bt_fail(error, BT_IO, "cannot write %s", name);
}

FILE *own_stream_on(int descriptor, struct bt_error *error)
{
    int high = duplicate_high(descriptor);
    FILE *stream = high < 0 ? NULL : fdopen(high, "w");
    if (!stream)
        bt_fail_errno(error, "cannot open another stream to descriptor %d", descriptor);
    if (high >= 0 && !stream)
        close(high);
    return stream;
}

void own_stream_say(FILE *stream, const char *format, ...)
{
    struct own_signals signals;
    va_list arguments;
    if (!stream)
        return;
    own_stream_hold(&signals);
    fputs("bustap: ", stream);
    va_start(arguments, format);
    vfprintf(stream, format, arguments);
    va_end(arguments);
    fputc('\n', stream);
    fflush(stream);
    own_stream_release(&signals);
}

void own_stream_note(FILE *stream, const char *note)
{
    if (note)
        own_stream_say(stream, "%s", note);
}

void own_stream_notice(FILE *stream, const char *what)
{
    own_stream_say(stream, "the program %s", what);
}

/* Does not open pipes and devices: their readers would see an end of file. */
static int examine(const struct own_output *output, struct stat *status, struct bt_error *error)
{
    if (!output->path) {
        if (fstat(STDERR_FILENO, status) != 0)
            status->st_mode = 0;
        return 0;
    }
    if (stat(output->path, status) == 0 && !S_ISREG(status->st_mode) && !S_ISDIR(status->st_mode))
        return 0;
    int descriptor = open(output->path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (descriptor < 0 || fstat(descriptor, status) != 0)
        bt_fail_errno(error, "cannot write %s", output->path);
    if (descriptor >= 0)
        close(descriptor);
    return descriptor < 0 ? error->code : 0;
}

static bool are_one(const struct stat *a, const struct stat *b)
{
    return S_ISREG(a->st_mode) && S_ISREG(b->st_mode) && a->st_dev == b->st_dev &&
           a->st_ino == b->st_ino;
}

int own_stream_check(const struct own_output *outputs, size_t count, const char *program,
                     struct bt_error *error)
{
    struct stat before[OWN_OUTPUTS_MAX], own;
    bool program_exists = stat(program, &own) == 0;
    for (size_t i = 0; i < count && i < OWN_OUTPUTS_MAX; i++) {
        before[i].st_mode = 0;
        if (!outputs[i].what)
            continue;
        if (outputs[i].path && strcmp(outputs[i].path, "-") == 0)
            return bt_fail(error, BT_USAGE,
                           "%s cannot go to -: standard output is the program's; name a file, or "
                           "/dev/stdout to mix them",
                           outputs[i].what);
        if (outputs[i].path && overwrite_check_held(outputs[i].path, error) < 0)
            return error->code;
        if (examine(&outputs[i], &before[i], error) < 0)
            return error->code;
        if (outputs[i].path && program_exists && are_one(&before[i], &own))
            return bt_fail(error, BT_USAGE, "%s cannot go to %s, which is the program",
                           outputs[i].what, outputs[i].path);
        for (size_t j = 0; j < i; j++)
            if (are_one(&before[j], &before[i]))
                return bt_fail(error, BT_USAGE, "%s and %s cannot both go to %s", outputs[j].what,
                               outputs[i].what, outputs[i].path);
    }
    return 0;
}

static void ours(sigset_t *set)
{
    sigemptyset(set);
    sigaddset(set, SIGPIPE);
    sigaddset(set, SIGXFSZ);
}

void own_stream_hold(struct own_signals *before)
{
    sigset_t set;
    ours(&set);
    sigpending(&before->pending);
    sigprocmask(SIG_BLOCK, &set, &before->mask);
}

void own_stream_release(const struct own_signals *before)
{
    const struct timespec now = {0, 0};
    sigset_t set;
    ours(&set);
    if (sigismember(&before->pending, SIGPIPE))
        sigdelset(&set, SIGPIPE);
    if (sigismember(&before->pending, SIGXFSZ))
        sigdelset(&set, SIGXFSZ);
    while (sigtimedwait(&set, NULL, &now) > 0)
        continue;
    sigprocmask(SIG_SETMASK, &before->mask, NULL);
}
