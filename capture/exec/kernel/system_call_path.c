#define _GNU_SOURCE /* memfd_create, O_PATH, dup3 */
#include "capture/exec/kernel/own_file.h"
#include "capture/exec/kernel/system_call_internal.h"
#include "capture/exec/memory/program_memory.h"
#include "capture/exec/memory/space_text.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* Whether a path, relative to a folder's descriptor, is the program's /proc/self/exe. */
static bool is_own_exe(struct system_calls *calls, uint64_t folder, uint64_t address)
{
    char path[PATH_MAX];
    if (program_read_string(calls->space, path, address, sizeof path) < 0)
        return false;
    if (!path[0])
        return own_file_of((int)folder) == OWN_EXE;
    const char *slash = strrchr(path, '/');
    if (strcmp(slash ? slash + 1 : path, "exe") != 0)
        return false;
    int link = openat((int)folder, path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    bool is_own = link >= 0 && own_file_of(link) == OWN_EXE;
    if (link >= 0)
        close(link);
    return is_own;
}

static const char *own_path_at(struct system_calls *calls, uint64_t folder, uint64_t address)
{
    return is_own_exe(calls, folder, address) ? calls->path : NULL;
}

const char *system_calls_own_path(struct system_calls *calls, uint64_t address)
{
    return own_path_at(calls, (uint64_t)AT_FDCWD, address);
}

const char *system_calls_path(const struct system_calls *calls)
{
    return calls->path;
}

/* Passes the call with the program's file instead of its /proc/self/exe. The path is the argument
 * `which`; the argument before it, if any, is its folder. */
static int64_t pass_path(struct system_calls *calls, const struct system_call *call, size_t which)
{
    uint64_t folder = which > 0 ? call->arguments[which - 1] : (uint64_t)AT_FDCWD;
    const char *path = own_path_at(calls, folder, call->arguments[which]);
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

/* These two may ask for the link itself. */
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
    uint64_t folder = which > 0 ? call->arguments[which - 1] : (uint64_t)AT_FDCWD;
    const char *path = own_path_at(calls, folder, call->arguments[which]);
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

/* Makes the text that the program reads; free *text with free(). */
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

/* Replaces the descriptor by a memory file with the text. */
static int64_t put_text(struct system_calls *calls, enum own_file file, int descriptor,
                        uint64_t flags)
{
    char *text = NULL;
    size_t size = 0;
    int held = -1;
    int64_t result = own_text(calls, file, &text, &size);
    if (result < 0)
        goto out;
    held = memfd_create("proc", MFD_CLOEXEC);
    for (size_t done = 0; held >= 0 && done < size;) {
        ssize_t count = pwrite(held, text + done, size - done, (off_t)done);
        if (count <= 0) {
            result = -errno;
            goto out;
        }
        done += (size_t)count;
    }
    if (held < 0 || dup3(held, descriptor, flags & O_CLOEXEC ? O_CLOEXEC : 0) < 0)
        result = -errno;
out:
    if (held >= 0)
        close(held);
    free(text);
    return result;
}

/* Handles an opened file that may describe our process, regardless of its path. */
static int64_t look_at_opened(struct system_calls *calls, int descriptor, uint64_t flags)
{
    struct stat status;
    if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode))
        return descriptor;
    if ((flags & O_ACCMODE) != O_RDONLY || (flags & O_TRUNC))
        space_file_written(calls->space, status.st_dev, status.st_ino);
    if (status.st_size != 0 || major(status.st_dev) != 0) /* not a file of proc */
        return descriptor;
    enum own_file file = own_file_of(descriptor);
    int64_t result = 0;
    if (file == OWN_MEM || file == OWN_NOT_MEM)
        result = system_call_opened_memory(calls, file, flags);
    else if (file != OWN_NONE)
        result = put_text(calls, file, descriptor, flags);
    if (result == 0)
        return descriptor;
    close(descriptor);
    return result;
}

static int64_t open_path(struct system_calls *calls, struct system_call *call, size_t which,
                         uint64_t flags)
{
    int64_t result =
        flags & O_NOFOLLOW ? system_call_pass(calls, call) : pass_path(calls, call, which);
    return result < 0 || (flags & O_PATH) ? result : look_at_opened(calls, (int)result, flags);
}

int64_t system_call_open(struct system_calls *calls, struct system_call *call)
{
    return open_path(calls, call, 0, call->arguments[1]);
}

int64_t system_call_creat(struct system_calls *calls, struct system_call *call)
{
    return open_path(calls, call, 0, O_CREAT | O_WRONLY | O_TRUNC);
}

int64_t system_call_truncate(struct system_calls *calls, struct system_call *call)
{
    char path[PATH_MAX];
    struct stat status;
    int64_t result = pass_path(calls, call, 0);
    if (result == 0 &&
        program_read_string(calls->space, path, call->arguments[0], sizeof path) == 0 &&
        stat(path, &status) == 0)
        space_file_written(calls->space, status.st_dev, status.st_ino);
    return result;
}

int64_t system_call_openat(struct system_calls *calls, struct system_call *call)
{
    return open_path(calls, call, 1, call->arguments[2]);
}

int64_t system_call_openat2(struct system_calls *calls, struct system_call *call)
{
    struct open_how how;
    if (call->arguments[3] < sizeof how ||
        program_read(calls->space, &how, call->arguments[2], sizeof how) < 0)
        return system_call_pass(calls, call);
    /* `resolve` may forbid magic links such as /proc/self/exe */
    return open_path(calls, call, 1, how.resolve != 0 ? how.flags | O_NOFOLLOW : how.flags);
}
