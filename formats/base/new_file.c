#define _GNU_SOURCE /* O_TMPFILE, renameat2; realpath() is POSIX only with the X/Open option */
#include "formats/base/new_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PART_NUMBER_MAX 1000u
#define PROC_PATH_BYTES 32u
#define FILE_MODE       0666

struct new_file {
    int descriptor;
    bool replaces;
    bool unnamed; /* it has no name yet */
    char *target; /* the final name */
    char *part;   /* its name until then; NULL without one */
};

/* The path of an unnamed file in /proc, from which it can be linked. */
static void name_in_proc(const struct new_file *file, char path[PROC_PATH_BYTES])
{
    snprintf(path, PROC_PATH_BYTES, "/proc/self/fd/%d", file->descriptor);
}

/* Whether a name is that of this file. Keeps errno. */
static bool is_name_of(int folder, const char *name, const struct stat *file)
{
    const int reason = errno;
    struct stat there;
    bool is = fstatat(folder, name, &there, AT_SYMLINK_NOFOLLOW) == 0 &&
              there.st_dev == file->st_dev && there.st_ino == file->st_ino;
    errno = reason;
    return is;
}

/* Gives an unnamed file a name that is free. A call that fails may have worked nevertheless, as on
 * NFS. 0, or -1 with errno. */
static int link_unnamed(const struct new_file *file, const char *name)
{
    char path[PROC_PATH_BYTES];
    struct stat own;
    name_in_proc(file, path);
    if (linkat(AT_FDCWD, path, AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0)
        return 0;
    const int reason = errno;
    bool works = fstat(file->descriptor, &own) == 0;
    errno = reason;
    return works && is_name_of(AT_FDCWD, name, &own) ? 0 : -1;
}

/* Creates a file without a name in the target's folder. False if the file system does not support
 * it, or without /proc to link it from. */
static bool open_unnamed(struct new_file *file)
{
    char path[PROC_PATH_BYTES];
    char *folder = strdup(file->target);
    if (!folder)
        return false;
    char *slash = strrchr(folder, '/');
    if (slash)
        slash[slash == folder] = '\0';
    file->descriptor = open(slash ? folder : ".", O_WRONLY | O_TMPFILE | O_CLOEXEC, FILE_MODE);
    free(folder);
    if (file->descriptor < 0)
        return false;
    name_in_proc(file, path);
    file->unnamed = access(path, F_OK) == 0;
    if (!file->unnamed) {
        close(file->descriptor);
        file->descriptor = -1;
    }
    return file->unnamed;
}

/* Gives the file the first free part name: links the unnamed one, or creates it. */
static int name_part(struct new_file *file, struct bt_error *error)
{
    size_t room = strlen(file->target) + 32;
    file->part = malloc(room);
    if (!file->part)
        return bt_fail(error, BT_MEMORY, "no memory to write %s", file->target);
    for (unsigned number = 1; number <= PART_NUMBER_MAX; number++) {
        snprintf(file->part, room, "%s.part-%u", file->target, number);
        if (file->unnamed) {
            if (link_unnamed(file, file->part) == 0)
                return 0;
        } else {
            file->descriptor = open(file->part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, FILE_MODE);
            if (file->descriptor >= 0)
                return 0;
        }
        if (errno != EEXIST)
            break;
    }
    int result = bt_fail_errno(error, "cannot create %s", file->part);
    free(file->part);
    file->part = NULL;
    return result;
}

struct new_file *new_file_begin(const char *path, enum new_file_name name, struct bt_error *error)
{
    struct new_file *file = calloc(1, sizeof *file);
    if (file) {
        file->descriptor = -1;
        file->replaces = name == NEW_FILE_REPLACES;
        file->target = file->replaces ? realpath(path, NULL) : NULL; /* NULL: does not exist */
        if (!file->target)
            file->target = strdup(path);
    }
    if (!file || !file->target) {
        bt_fail(error, BT_MEMORY, "no memory to write %s", path);
        new_file_free(file);
        return NULL;
    }
    if (!open_unnamed(file) && name_part(file, error) < 0) {
        new_file_free(file);
        return NULL;
    }
    return file;
}

int new_file_descriptor(const struct new_file *file)
{
    return file->descriptor;
}

int new_file_synchronise(struct new_file *file, struct bt_error *error)
{
    return file_synchronise(file->descriptor) == 0
               ? 0
               : bt_fail_errno(error, "cannot sync %s to the disk", file->target);
}

/* Gives an unnamed file its final name if that is free, otherwise a part name. */
static int name_unnamed(struct new_file *file, struct bt_error *error)
{
    if (link_unnamed(file, file->target) == 0) {
        file->unnamed = false;
        return 0;
    }
    if (errno != EEXIST)
        return bt_fail_errno(error, "cannot create %s", file->target);
    return file->replaces ? name_part(file, error)
                          : bt_fail(error, BT_IO, "%s exists already", file->target);
}

/* Some file systems report a failed write only in close(): closes a copy of the descriptor before
 * the file gets its name. */
static int close_copy(const struct new_file *file, struct bt_error *error)
{
    int copy = fcntl(file->descriptor, F_DUPFD_CLOEXEC, 0);
    return copy >= 0 && close(copy) == 0 ? 0
                                         : bt_fail_errno(error, "cannot write %s", file->target);
}

/* Whether a rename that has failed has worked nevertheless. Keeps errno. */
static bool was_renamed(int folder, const char *from, const char *to, const struct stat *file)
{
    return is_name_of(folder, to, file) && !is_name_of(folder, from, file);
}

/* rename(); 0 also if it failed after it had worked. */
static int rename_over(const char *from, const char *to)
{
    struct stat file;
    bool known = lstat(from, &file) == 0;
    if (rename(from, to) == 0)
        return 0;
    return known && was_renamed(AT_FDCWD, from, to, &file) ? 0 : -1;
}

int new_file_commit(struct new_file *file, struct bt_error *error)
{
    if (close_copy(file, error) < 0 || (file->unnamed && name_unnamed(file, error) < 0))
        return error ? error->code : BT_IO;
    close(file->descriptor);
    file->descriptor = -1;
    if (!file->part)
        return 0;
    int result = file->replaces ? rename_over(file->part, file->target)
                                : file_rename_new(AT_FDCWD, file->part, file->target);
    if (result < 0 && errno == EEXIST && !file->replaces)
        return bt_fail(error, BT_IO, "%s exists already", file->target);
    if (result < 0)
        return bt_fail_errno(error, "cannot rename %s to %s", file->part, file->target);
    free(file->part);
    file->part = NULL;
    return 0;
}

void new_file_free(struct new_file *file)
{
    if (!file)
        return;
    if (file->descriptor >= 0)
        close(file->descriptor);
    if (file->part)
        unlink(file->part);
    free(file->part);
    free(file->target);
    free(file);
}

int file_synchronise(int descriptor)
{
    int result;
    do
        result = fsync(descriptor);
    while (result < 0 && errno == EINTR);
    return result < 0 && (errno == EINVAL || errno == EROFS || errno == ENOTSUP) ? 0 : result;
}

/* For file systems that cannot rename without replacing: a second link fails if the name is taken.
 * File systems without links (FAT) leave an interval between the check and the rename. */
static int link_new(int folder, const char *from, const char *to)
{
    struct stat there;
    if (linkat(folder, from, folder, to, 0) == 0)
        return unlinkat(folder, from, 0);
    if (errno != EPERM && errno != ENOTSUP && errno != ENOSYS)
        return -1;
    if (fstatat(folder, to, &there, AT_SYMLINK_NOFOLLOW) == 0) {
        errno = EEXIST;
        return -1;
    }
    return renameat(folder, from, folder, to);
}

int file_rename_new(int folder, const char *from, const char *to)
{
    struct stat file;
    bool known = fstatat(folder, from, &file, AT_SYMLINK_NOFOLLOW) == 0;
    if (renameat2(folder, from, folder, to, RENAME_NOREPLACE) == 0)
        return 0;
    if ((errno == EINVAL || errno == ENOSYS) && link_new(folder, from, to) == 0)
        return 0;
    return known && was_renamed(folder, from, to, &file) ? 0 : -1;
}
