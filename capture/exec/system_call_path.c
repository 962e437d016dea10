#define _GNU_SOURCE /* memfd_create, O_PATH */
#include "capture/exec/program_memory.h"
#include "capture/exec/space_text.h"
#include "capture/exec/system_call_inside.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Files of /proc that would tell of the host and not of the program. */
enum own_file { OWN_NONE, OWN_EXE, OWN_MAPS, OWN_CMDLINE, OWN_ENVIRON, OWN_AUXV };

#define OWN_PATH_BYTES 64 /* longer than any of them */

static bool begins(const char **path, const char *prefix)
{
    size_t length = strlen(prefix);
    if (strncmp(*path, prefix, length) != 0)
        return false;
    *path += length;
    return true;
}

/* /proc/self/..., /proc/thread-self/..., or with the process's number. */
static enum own_file own_file(const char *path)
{
    static const char *const names[] = {"", "exe", "maps", "cmdline", "environ", "auxv"};
    char number[32];
    snprintf(number, sizeof number, "%ld/", (long)getpid());
    if (!begins(&path, "/proc/") ||
        (!begins(&path, "self/") && !begins(&path, "thread-self/") && !begins(&path, number)))
        return OWN_NONE;
    for (size_t i = 1; i < sizeof names / sizeof *names; i++)
        if (strcmp(path, names[i]) == 0)
            return (enum own_file)i;
    return OWN_NONE;
}

/* What the path at an address of the program's memory is; whoever cannot read it finds nothing. */
static enum own_file own_file_at(struct system_calls *calls, uint64_t address)
{
    char path[OWN_PATH_BYTES];
    /* most paths are told by their first octets */
    if (program_read(calls->space, path, address, 6) < 0 || memcmp(path, "/proc/", 6) != 0)
        return OWN_NONE;
    if (program_read_string(calls->space, path, address, sizeof path) < 0)
        return OWN_NONE;
    return own_file(path);
}

const char *system_calls_own_path(struct system_calls *calls, uint64_t address)
{
    return own_file_at(calls, address) == OWN_EXE ? calls->path : NULL;
}

/* Passes the call with the program's own file in the place of its /proc/self/exe. */
static int64_t pass_path(struct system_calls *calls, const struct system_call *call, size_t which)
{
    const char *path = system_calls_own_path(calls, call->arguments[which]);
    if (!path)
        return system_call_pass(calls, call);
    struct system_call other = *call;
    other.arguments[which] = (uintptr_t)path;
    return system_call_pass(calls, &other);
}

int64_t system_call_path1(struct system_calls *calls, struct system_call *call)
{
    return pass_path(calls, call, 0);
}

int64_t system_call_path2(struct system_calls *calls, struct system_call *call)
{
    return pass_path(calls, call, 1);
}

/* These two can be about the link itself. */
int64_t system_call_newfstatat(struct system_calls *calls, struct system_call *call)
{
    return call->arguments[3] & AT_SYMLINK_NOFOLLOW ? system_call_pass(calls, call)
                                                    : pass_path(calls, call, 1);
}

int64_t system_call_statx(struct system_calls *calls, struct system_call *call)
{
    return call->arguments[2] & AT_SYMLINK_NOFOLLOW ? system_call_pass(calls, call)
                                                    : pass_path(calls, call, 1);
}

/* --- readlink --- */

static int64_t read_link(struct system_calls *calls, struct system_call *call, size_t which)
{
    const char *path = system_calls_own_path(calls, call->arguments[which]);
    if (!path)
        return system_call_pass(calls, call);
    int64_t size = (int)call->arguments[which + 2];
    if (size <= 0)
        return -EINVAL;
    int64_t length = (int64_t)strlen(path);
    if (length > size)
        length = size;
    int result = program_write(calls->space, call->arguments[which + 1], path, (size_t)length);
    return result < 0 ? result : length;
}

int64_t system_call_readlink(struct system_calls *calls, struct system_call *call)
{
    return read_link(calls, call, 0);
}

int64_t system_call_readlinkat(struct system_calls *calls, struct system_call *call)
{
    return read_link(calls, call, 1);
}

/* --- open --- */

/* What the program shall read there; *text is from malloc. */
static int64_t own_text(struct system_calls *calls, enum own_file file, char **text, size_t *size)
{
    if (file == OWN_MAPS) {
        FILE *stream = open_memstream(text, size);
        if (!stream)
            return -ENOMEM;
        int result = space_write_text(calls->space, stream, NULL);
        return fclose(stream) != 0 || result < 0 ? -EIO : 0;
    }
    uint64_t address = calls->arguments;
    *size = calls->arguments_bytes;
    if (file == OWN_ENVIRON) {
        address += calls->arguments_bytes;
        *size = calls->environment_bytes;
    } else if (file == OWN_AUXV) {
        address = calls->vector;
        *size = calls->vector_bytes;
    }
    *text = malloc(*size + 1);
    if (!*text)
        return -ENOMEM;
    return program_read(calls->space, *text, address, *size);
}

/* A file in memory that holds it. */
static int64_t open_text(struct system_calls *calls, enum own_file file, uint64_t flags)
{
    char *text = NULL;
    size_t size = 0;
    int64_t result = own_text(calls, file, &text, &size);
    if (result < 0)
        goto out;
    int descriptor = memfd_create("proc", flags & O_CLOEXEC ? MFD_CLOEXEC : 0);
    if (descriptor < 0) {
        result = -errno;
        goto out;
    }
    result = descriptor;
    for (size_t done = 0; done < size;) {
        ssize_t count = pwrite(descriptor, text + done, size - done, (off_t)done);
        if (count <= 0) {
            result = -errno;
            close(descriptor);
            break;
        }
        done += (size_t)count;
    }
out:
    free(text);
    return result;
}

static int64_t open_path(struct system_calls *calls, struct system_call *call, size_t which,
                         uint64_t flags)
{
    enum own_file file = own_file_at(calls, call->arguments[which]);
    if (file == OWN_NONE || (flags & (O_PATH | O_DIRECTORY | O_NOFOLLOW)))
        return system_call_pass(calls, call);
    if (file == OWN_EXE)
        return pass_path(calls, call, which);
    return (flags & O_ACCMODE) == O_RDONLY ? open_text(calls, file, flags) : -EACCES;
}

int64_t system_call_open(struct system_calls *calls, struct system_call *call)
{
    return open_path(calls, call, 0, call->arguments[1]);
}

int64_t system_call_openat(struct system_calls *calls, struct system_call *call)
{
    return open_path(calls, call, 1, call->arguments[2]);
}

int64_t system_call_openat2(struct system_calls *calls, struct system_call *call)
{
    struct open_how how;
    if (call->arguments[3] < sizeof how ||
        program_read(calls->space, &how, call->arguments[2], sizeof how) < 0 || how.resolve != 0)
        return system_call_pass(calls, call);
    return open_path(calls, call, 1, how.flags);
}
