#define _GNU_SOURCE /* secure_getenv(), O_PATH */
#include "capture/exec/store/store_file.h"

#include "formats/base/suffix.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define SUFFIX     ".blocks"
#define TEMPORARY  "new-"
#define DAY        ((time_t)24 * 60 * 60)
#define NAME_BYTES 64u
#define FILE_MAX   (BLOCK_STORE_MAX + ((size_t)64 << 20)) /* with a table */

struct store_file {
    char folder[PATH_MAX];
    char name[NAME_BYTES];
    uid_t user;
    struct block_store *blocks;
    uint8_t *bytes; /* of the file; NULL: none */
    size_t size;
};

/* --- the folder ------------------------------------------------------------------------------- */

/* False: there is none. */
static bool find_folder(char *path, const char *folder)
{
    const char *home = folder ? NULL : secure_getenv("HOME");
    int length = -1;
    if (!folder)
        folder = secure_getenv("XDG_CACHE_HOME");
    if (folder && folder[0] == '/')
        length = snprintf(path, PATH_MAX, "%s", folder);
    else if (home && home[0] == '/')
        length = snprintf(path, PATH_MAX, "%s/.cache", home);
    if (length < 0 || length >= PATH_MAX - 16)
        return false;
    mkdir(path, S_IRWXU);
    memcpy(path + length, "/bustap", sizeof "/bustap");
    return true;
}

static bool is_private(const struct stat *status)
{
    return status->st_uid == geteuid() && (status->st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

/* A descriptor of the folder, which is made if it is missing; or -1, with the reason. */
static int open_folder(const char *path, struct bt_error *refusal)
{
    struct stat status;
    int refused = mkdir(path, S_IRWXU) < 0 && errno != EEXIST ? errno : 0;
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder < 0) {
        const bool other = errno == ELOOP || errno == ENOTDIR;
        errno = refused ? refused : errno;
        if (other)
            bt_fail(refusal, BT_USAGE,
                    "no translations are kept: %s is not a folder; remove it, or use --no-cache",
                    path);
        else
            bt_fail_errno(refusal,
                          "no translations are kept (--no-cache needs no place for them): the "
                          "folder %s cannot be used",
                          path);
        return -1;
    }
    if (fstat(folder, &status) == 0 && is_private(&status))
        return folder;
    bt_fail(refusal, BT_USAGE,
            "no translations are kept: others may write to %s; make it yours with mode 700, or use "
            "--no-cache",
            path);
    close(folder);
    return -1;
}

/* --- reading ---------------------------------------------------------------------------------- */

/* Marks a file as used, for prune(). */
static void note_use(int descriptor, const struct stat *status)
{
    if (time(NULL) - status->st_mtime > DAY)
        futimens(descriptor, NULL);
}

/* A copy of a file's bytes, which stay what they are if the file is cut off; NULL: none. */
static uint8_t *copy_of(int descriptor, size_t size)
{
    uint8_t *bytes =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (bytes == MAP_FAILED)
        return NULL;
    for (size_t done = 0; done < size;) {
        ssize_t more = pread(descriptor, bytes + done, size - done, (off_t)done);
        if (more < 0 && errno == EINTR)
            continue;
        if (more <= 0) {
            munmap(bytes, size);
            return NULL;
        }
        done += (size_t)more;
    }
    mprotect(bytes, size, PROT_READ);
    return bytes;
}

static void read_file(struct store_file *file, int folder)
{
    struct stat status;
    int descriptor = openat(folder, file->name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (descriptor < 0)
        return;
    if (fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) && is_private(&status) &&
        status.st_size > 0 && (uint64_t)status.st_size <= FILE_MAX) {
        const size_t size = (size_t)status.st_size;
        file->bytes = copy_of(descriptor, size);
        if (file->bytes) {
            file->size = size;
            block_store_read(file->blocks, file->bytes, size);
            note_use(descriptor, &status);
        }
    }
    close(descriptor);
}

/* FNV-1a. A file of another owner with the same hash is replaced. */
static uint64_t hash_of(const char *text)
{
    uint64_t hash = 0xcbf29ce484222325u;
    while (*text)
        hash = (hash ^ (uint8_t)*text++) * 0x100000001b3u;
    return hash;
}

struct store_file *store_file_open(const char *folder, const char *owner, struct bt_error *refusal)
{
    struct store_file *file = calloc(1, sizeof *file);
    int descriptor = -1;
    if (file && find_folder(file->folder, folder) &&
        (descriptor = open_folder(file->folder, refusal)) >= 0 &&
        (file->blocks = block_store_new(owner))) {
        snprintf(file->name, sizeof file->name, "%016" PRIx64 SUFFIX, hash_of(owner));
        file->user = geteuid();
        read_file(file, descriptor);
    } else {
        free(file);
        file = NULL;
    }
    if (descriptor >= 0)
        close(descriptor);
    return file;
}

void store_file_free(struct store_file *file)
{
    if (!file)
        return;
    block_store_free(file->blocks);
    if (file->bytes)
        munmap(file->bytes, file->size);
    free(file);
}

struct block_store *store_file_blocks(struct store_file *file)
{
    return file->blocks;
}

/* --- writing ---------------------------------------------------------------------------------- */

/* One pass over the folder: the size of all files and the name of the oldest. Removes temporary
 * files that a killed process has left. */
static uint64_t survey(DIR *folder, char oldest[NAME_BYTES])
{
    uint64_t all = 0;
    time_t first = 0;
    struct dirent *entry;
    struct stat status;
    oldest[0] = '\0';
    rewinddir(folder);
    while ((entry = readdir(folder))) {
        const bool temporary = strncmp(entry->d_name, TEMPORARY, strlen(TEMPORARY)) == 0;
        if (strlen(entry->d_name) >= NAME_BYTES ||
            (!temporary && !suffix_is(entry->d_name, SUFFIX, strncmp)) ||
            fstatat(dirfd(folder), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0 ||
            !S_ISREG(status.st_mode))
            continue;
        if (temporary && time(NULL) - status.st_mtime > DAY &&
            unlinkat(dirfd(folder), entry->d_name, 0) == 0)
            continue;
        all += (uint64_t)status.st_size;
        if (!temporary && (!oldest[0] || status.st_mtime < first)) {
            first = status.st_mtime;
            strcpy(oldest, entry->d_name);
        }
    }
    return all;
}

/* Removes the files that were used least recently, but not `kept`. */
static void prune(int descriptor, const char *kept)
{
    char oldest[NAME_BYTES];
    int copy = openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *folder = copy >= 0 ? fdopendir(copy) : NULL;
    if (!folder) {
        if (copy >= 0)
            close(copy);
        return;
    }
    while (survey(folder, oldest) > STORE_FILE_ALL && oldest[0] && strcmp(oldest, kept) != 0)
        if (unlinkat(descriptor, oldest, 0) != 0)
            break;
    closedir(folder);
}

/* Returns an errno. */
static int write_file(const struct store_file *file, int folder)
{
    char name[NAME_BYTES];
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    snprintf(name, sizeof name, TEMPORARY "%ld-%ld", (long)getpid(), now.tv_nsec);
    int descriptor = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                            S_IRUSR | S_IWUSR);
    if (descriptor < 0)
        return errno;
    errno = 0;
    bool done = fchmod(descriptor, S_IRUSR | S_IWUSR) == 0 &&
                block_store_write(file->blocks, descriptor, NULL) == 0;
    int failure = done ? 0 : errno;
    if (close(descriptor) != 0 && done)
        failure = errno;
    if (failure == 0 && renameat(folder, name, folder, file->name) != 0)
        failure = errno;
    if (failure != 0)
        unlinkat(folder, name, 0);
    return failure;
}

int store_file_save(struct store_file *file, struct bt_error *error)
{
    struct rlimit limit;
    if (!file || !block_store_has_grown(file->blocks) || geteuid() != file->user ||
        getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur != RLIM_INFINITY)
        return 0;
    int folder = open_folder(file->folder, error);
    if (folder < 0)
        return BT_USAGE;
    int failure = write_file(file, folder);
    if (failure == 0)
        prune(folder, file->name);
    close(folder);
    errno = failure;
    return failure == 0 ? 0
                        : bt_fail_errno(error, "no new translations are kept in %s", file->folder);
}
