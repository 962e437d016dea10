#include "capture/pack/pack_replace.h"

#include "formats/base/new_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Synchronises the folder of path: its names are on the disk. Failures are those of file systems
 * that cannot, and do not matter. */
static void synchronise_folder(const char *path)
{
    const char *slash = strrchr(path, '/');
    const size_t length = slash ? (size_t)(slash - path) + 1 : 0;
    char *folder = malloc(length + 2);
    if (!folder)
        return;
    memcpy(folder, path, length);
    strcpy(folder + length, ".");
    const int descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    free(folder);
    if (descriptor < 0)
        return;
    (void)file_synchronise(descriptor);
    close(descriptor);
}

static bool are_same_times(const struct timespec *a, const struct timespec *b)
{
    return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

/* Whether path is still the file that was packed, with the contents of before: it was looked at
 * before it was opened. A process that writes to it between this and its removal is not noticed:
 * that takes a write in the microseconds between two system calls. */
static bool is_same(const char *path, const struct stat *was)
{
    struct stat now;
    return lstat(path, &now) == 0 && now.st_dev == was->st_dev && now.st_ino == was->st_ino &&
           now.st_size == was->st_size && are_same_times(&now.st_mtim, &was->st_mtim) &&
           are_same_times(&now.st_ctim, &was->st_ctim);
}

static void hold(const struct pack_replace_settings *settings, bool held)
{
    if (settings->hold)
        settings->hold(settings->pack.context, held);
}

/* Names the packed file, if path is still the file that it was. An outcome or a negative code. */
static int give_name(const char *path, const struct stat *was,
                     const struct pack_replace_settings *settings, struct new_file *file,
                     struct bt_error *error)
{
    const struct pack_settings *pack = &settings->pack;
    const uint64_t size = (uint64_t)was->st_size;
    int result = PACK_GONE;
    if (!pack->go_on(pack->context, path, size, size))
        return bt_fail(error, BT_CLOSED, PACK_STOPPED, path);
    hold(settings, true);
    if (is_same(path, was))
        result = new_file_commit(file, error);
    hold(settings, false);
    return result;
}

/* Removes the old file, or the new one if the old one was removed meanwhile. An outcome or a
 * negative code. */
static int remove_old(const char *path, const char *name, const struct stat *was,
                      const struct pack_replace_settings *settings, struct bt_error *error)
{
    hold(settings, true);
    const bool same = is_same(path, was);
    const bool removed = unlink(same ? path : name) == 0 || errno == ENOENT;
    const int reason = errno;
    hold(settings, false);
    errno = reason;
    if (!removed)
        return bt_fail_errno(error, "%s is complete, but %s cannot be removed", name,
                             same ? path : name);
    return same ? PACK_DONE : PACK_GONE;
}

/* Puts the packed file on the disk and in the place of path. An outcome or a negative code. */
static int take_place(const char *path, const char *name, const struct stat *was,
                      const struct pack_replace_settings *settings, struct new_file *file,
                      struct bt_error *error)
{
    const int descriptor = new_file_descriptor(file);
    const struct timespec times[2] = {was->st_atim, was->st_mtim};
    if (fchmod(descriptor, was->st_mode & 07777) != 0 || futimens(descriptor, times) != 0)
        return bt_fail_errno(error, "cannot set mode and times of %s", name);
    int result = new_file_synchronise(file, error);
    if (result == 0)
        result = give_name(path, was, settings, file, error);
    if (result != PACK_DONE)
        return result;
    synchronise_folder(name);
    if (strcmp(path, name) == 0)
        return PACK_DONE;
    result = remove_old(path, name, was, settings, error);
    synchronise_folder(name);
    return result;
}

int pack_replace(const char *path, const char *name, const struct pack_replace_settings *settings,
                 struct pack_counts *counts, struct bt_error *error)
{
    struct stat was;
    if (lstat(path, &was) != 0)
        return bt_fail_errno(error, "cannot open %.300s", path);
    const bool replaces = settings->replaces || strcmp(name, path) == 0;
    struct new_file *file =
        new_file_begin(name, replaces ? NEW_FILE_REPLACES : NEW_FILE_ONLY, error);
    if (!file)
        return error->code;
    int result = pack_file(path, new_file_descriptor(file), name, &settings->pack, counts, error);
    if (result == 0 && settings->pack.level >= PACK_LEVEL_ARCHIVE &&
        counts->bytes > counts->bytes_before)
        result = PACK_STAYS;
    else if (result == 0)
        result = take_place(path, name, &was, settings, file, error);
    new_file_free(file);
    return result;
}
