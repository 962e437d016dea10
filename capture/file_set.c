#define _GNU_SOURCE /* renameat2 */
#include "capture/file_set.h"

#include "formats/base/file_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define NAME_BYTES    256u
#define ENDING_BYTES  64u  /* of what stands behind the prefix, at most */
#define NAME_TRIES    3600 /* seconds a name may be put off */
#define RESERVE_BYTES 16384
#define PART_SUFFIX   ".part"
#define LOCK_SUFFIX   ".lock"
#define FILE_MODE     0666
#define FOLDER_MODE   0777

struct file_set {
    char prefix[FILE_SET_PREFIX_MAX + 1]; /* as given */
    char folder_name[FILE_SET_PREFIX_MAX + 1];
    char base[NAME_BYTES]; /* the prefix's last part */
    char lock_name[NAME_BYTES];
    int folder;
    int lock;
};

/* Makes every folder on the way to the prefix's last part. */
static int make_folders(const char *prefix, struct bt_error *error)
{
    char path[FILE_SET_PREFIX_MAX + 1];
    snprintf(path, sizeof path, "%s", prefix);
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(path, FOLDER_MODE) < 0 && errno != EEXIST) {
            struct stat there;
            int reason = errno; /* stat's own would say that the folder is not there */
            bool is_folder = stat(path, &there) == 0 && S_ISDIR(there.st_mode);
            errno = reason;
            if (!is_folder)
                return bt_fail_errno(error, "cannot make the folder %s", path);
        }
        *slash = '/';
    }
    return 0;
}

static int split_prefix(struct file_set *set, const char *prefix, struct bt_error *error)
{
    const char *slash = strrchr(prefix, '/');
    const char *base = slash ? slash + 1 : prefix;
    if (strlen(prefix) > FILE_SET_PREFIX_MAX || strlen(base) > NAME_BYTES - ENDING_BYTES)
        return bt_fail(error, BT_USAGE, "the prefix %.60s... is too long", prefix);
    snprintf(set->prefix, sizeof set->prefix, "%s", prefix);
    snprintf(set->base, sizeof set->base, "%s", base);
    snprintf(set->lock_name, sizeof set->lock_name, "%.200s" LOCK_SUFFIX, base);
    if (slash)
        snprintf(set->folder_name, sizeof set->folder_name, "%.*s",
                 slash == prefix ? 1 : (int)(slash - prefix), prefix);
    else
        snprintf(set->folder_name, sizeof set->folder_name, ".");
    return 0;
}

static int lock_prefix(struct file_set *set, struct bt_error *error)
{
    long holder;
    set->lock = file_lock_take(set->folder, set->lock_name, FILE_MODE, &holder, error);
    if (set->lock == BT_BUSY && holder > 0)
        return bt_fail(error, BT_BUSY,
                       "process %ld is capturing to %s already; choose another prefix or stop it",
                       holder, set->prefix);
    if (set->lock == BT_BUSY)
        return bt_fail(error, BT_BUSY,
                       "another capture writes to %s already; choose another prefix", set->prefix);
    if (set->lock < 0) {
        bt_fail_within(error, "cannot write in the folder %s", set->folder_name);
        return set->lock;
    }
    file_set_take_reserve(set);
    return 0;
}

struct file_set *file_set_new(const char *prefix, struct bt_error *error)
{
    struct file_set *set = calloc(1, sizeof *set);
    if (!set) {
        bt_fail(error, BT_MEMORY, "no memory for the files of %s", prefix);
        return NULL;
    }
    set->folder = -1;
    set->lock = -1;
    if (split_prefix(set, prefix, error) < 0 || make_folders(prefix, error) < 0)
        goto failed;
    set->folder = open(set->folder_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (set->folder < 0) {
        bt_fail_errno(error, "cannot open the folder %s", set->folder_name);
        goto failed;
    }
    if (lock_prefix(set, error) < 0)
        goto failed;
    return set;
failed:
    file_set_free(set);
    return NULL;
}

void file_set_unlock(struct file_set *set)
{
    if (set->lock < 0)
        return;
    file_lock_release(set->lock, set->folder, set->lock_name);
    set->lock = -1;
}

void file_set_free(struct file_set *set)
{
    if (!set)
        return;
    file_set_unlock(set);
    if (set->folder >= 0)
        close(set->folder);
    free(set);
}

/* "_00001_20261120T224500Z.byu.gz" and the suffix of a part file. */
static void put_ending(char *ending, size_t size, const struct file_name *name, bool part)
{
    time_t second = (time_t)name->second;
    struct tm utc = {0};
    gmtime_r(&second, &utc);
    char date[32];
    strftime(date, sizeof date, "%Y%m%dT%H%M%SZ", &utc);
    snprintf(ending, size, "_%05u_%s.byu.gz%s", (unsigned)name->number, date,
             part ? PART_SUFFIX : "");
}

static void put_name(const struct file_set *set, const struct file_name *name, bool part,
                     char out[NAME_BYTES])
{
    char ending[ENDING_BYTES];
    put_ending(ending, sizeof ending, name, part);
    snprintf(out, NAME_BYTES, "%.*s%s", (int)(NAME_BYTES - ENDING_BYTES), set->base, ending);
}

void file_set_path(const struct file_set *set, const struct file_name *name, bool part, char *path,
                   size_t size)
{
    char ending[ENDING_BYTES];
    put_ending(ending, sizeof ending, name, part);
    snprintf(path, size, "%s%s", set->prefix, ending);
}

static bool name_is_taken(const struct file_set *set, const char *name)
{
    struct stat there;
    return fstatat(set->folder, name, &there, AT_SYMLINK_NOFOLLOW) == 0;
}

int file_set_create(struct file_set *set, uint32_t number, int64_t started_ns,
                    struct file_name *name, struct bt_error *error)
{
    *name = (struct file_name){.number = number, .second = started_ns / 1000000000};
    for (int i = 0; i < NAME_TRIES; i++, name->second++) {
        char complete[NAME_BYTES];
        char part[NAME_BYTES];
        put_name(set, name, false, complete);
        put_name(set, name, true, part);
        if (name_is_taken(set, complete))
            continue;
        int descriptor =
            openat(set->folder, part, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, FILE_MODE);
        if (descriptor >= 0)
            return descriptor;
        if (errno != EEXIST)
            return bt_fail_errno(error, "cannot make %s in the folder %s", part, set->folder_name);
    }
    return bt_fail(error, BT_IO, "all names for file %u of %s are taken", (unsigned)number,
                   set->prefix);
}

/* Renames without replacing, also where the file system has no such call. */
static int rename_new(const struct file_set *set, const char *part, const char *complete)
{
    if (renameat2(set->folder, part, set->folder, complete, RENAME_NOREPLACE) == 0)
        return 0;
    if (errno != EINVAL && errno != ENOSYS)
        return -1;
    if (name_is_taken(set, complete)) {
        errno = EEXIST;
        return -1;
    }
    return renameat(set->folder, part, set->folder, complete);
}

/* fsync, where a file system that has none of it is as good as one that did it. */
static int synchronise(int descriptor)
{
    int result;
    do
        result = fsync(descriptor);
    while (result < 0 && errno == EINTR);
    return result < 0 && (errno == EINVAL || errno == EROFS || errno == ENOTSUP) ? 0 : result;
}

int file_set_complete(struct file_set *set, const struct file_name *name, int descriptor,
                      struct bt_error *error)
{
    char complete[NAME_BYTES];
    char part[NAME_BYTES];
    put_name(set, name, false, complete);
    put_name(set, name, true, part);
    if (synchronise(descriptor) < 0)
        return bt_fail_errno(error, "cannot bring %s in %s to the disk", part, set->folder_name);
    if (rename_new(set, part, complete) < 0)
        return bt_fail_errno(error, "cannot rename %s in %s to %s", part, set->folder_name,
                             complete);
    if (synchronise(set->folder) < 0)
        return bt_fail_errno(error, "cannot bring the folder %s to the disk", set->folder_name);
    return 0;
}

static int remove_named(struct file_set *set, const struct file_name *name, bool part,
                        struct bt_error *error)
{
    char file[NAME_BYTES];
    put_name(set, name, part, file);
    if (unlinkat(set->folder, file, 0) < 0 && errno != ENOENT)
        return bt_fail_errno(error, "cannot remove %s from the folder %s", file, set->folder_name);
    return 0;
}

int file_set_remove(struct file_set *set, const struct file_name *name, struct bt_error *error)
{
    return remove_named(set, name, false, error);
}

int file_set_discard(struct file_set *set, const struct file_name *name, struct bt_error *error)
{
    return remove_named(set, name, true, error);
}

void file_set_take_reserve(struct file_set *set)
{
    if (set->lock >= 0)
        (void)posix_fallocate(set->lock, 0, RESERVE_BYTES); /* without it there is no reserve */
}

void file_set_release_reserve(struct file_set *set)
{
    if (set->lock >= 0 && ftruncate(set->lock, 0) < 0)
        return; /* then there is no more room than there was */
}
