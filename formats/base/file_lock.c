#define _GNU_SOURCE /* flock, O_TMPFILE */
#include "formats/base/file_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define TRIES 100        /* at a file whose holder keeps changing */
#define AGAIN BT_TIMEOUT /* the file has appeared or vanished meanwhile; no *error */
#define WORDS "bustap lock, process "

/* The kind of file under a lock's name. */
enum lock_kind {
    KIND_LOCK,  /* a lock, held or stale */
    KIND_EMPTY, /* if held: a lock that is being made; otherwise unknown */
    KIND_OTHER
};

bool file_lock_name(char *name, size_t size, const char *path)
{
    const char *slash = strrchr(path, '/');
    int folder = slash ? (int)(slash + 1 - path) : 0;
    int length = snprintf(name, size, "%.*s.%s.lock", folder, path, path + folder);
    return length > 0 && (size_t)length < size;
}

/* The kind of the file; *holder is a lock's process, else 0. */
static enum lock_kind kind_of(int file, long *holder)
{
    struct stat status;
    char text[FILE_LOCK_BYTES + 1] = "";
    *holder = 0;
    if (fstat(file, &status) < 0 || !S_ISREG(status.st_mode))
        return KIND_OTHER;
    if (status.st_size == 0)
        return KIND_EMPTY;
    if (pread(file, text, FILE_LOCK_BYTES, 0) != FILE_LOCK_BYTES ||
        strncmp(text, WORDS, strlen(WORDS)) != 0 || text[FILE_LOCK_BYTES - 1] != '\n')
        return KIND_OTHER;
    *holder = strtol(text + strlen(WORDS), NULL, 10);
    return *holder > 0 ? KIND_LOCK : KIND_OTHER;
}

/* Only the kernel's lock counts: if the disk is too full for the text, refusals are vaguer, and a
 * stale lock must be removed by hand. */
static void write_holder(int lock)
{
    char text[FILE_LOCK_BYTES + 16];
    int size = snprintf(text, sizeof text, WORDS "%d", (int)getpid());
    memset(text + size, ' ', sizeof text - (size_t)size);
    text[FILE_LOCK_BYTES - 1] = '\n';
    if (pwrite(lock, text, FILE_LOCK_BYTES, 0) != (ssize_t)FILE_LOCK_BYTES &&
        ftruncate(lock, 0) < 0)
        return;
}

/* Whether the locked file still has the name: its holder may have just removed it. */
static bool is_current(int lock, int folder, const char *name)
{
    struct stat held;
    struct stat named;
    return fstat(lock, &held) == 0 && fstatat(folder, name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
           held.st_dev == named.st_dev && held.st_ino == named.st_ino;
}

static int refuse(const char *name, struct bt_error *error)
{
    return bt_fail(error, BT_IO,
                   "%s exists and is not a lock of bustap: rename it, or choose another name",
                   name);
}

/* Makes a lock that is complete and held before it gets its name. Returns its descriptor; -1 with
 * errno: EEXIST if the name is taken, others if it cannot be made in this way. */
static int make_unnamed(int folder, const char *name, mode_t mode)
{
    char parent[4096], path[32];
    const char *slash = strrchr(name, '/');
    if (snprintf(parent, sizeof parent, "%.*s", slash ? (int)(slash + 1 - name) : 1,
                 slash ? name : ".") >= (int)sizeof parent) {
        errno = ENAMETOOLONG;
        return -1;
    }
    int lock = openat(folder, parent, O_RDWR | O_TMPFILE | O_CLOEXEC, mode);
    if (lock < 0)
        return -1;
    snprintf(path, sizeof path, "/proc/self/fd/%d", lock);
    if (flock(lock, LOCK_EX | LOCK_NB) == 0) {
        write_holder(lock);
        if (linkat(AT_FDCWD, path, folder, name, AT_SYMLINK_FOLLOW) == 0)
            return lock;
    }
    int reason = errno;
    close(lock);
    errno = reason;
    return -1;
}

/* The same for file systems without unnamed files. */
static int make_named(int folder, const char *name, mode_t mode)
{
    int lock = openat(folder, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (lock < 0)
        return -1;
    if (flock(lock, LOCK_EX | LOCK_NB) == 0) {
        write_holder(lock);
        return lock;
    }
    int reason = errno;
    if (is_current(lock, folder, name))
        unlinkat(folder, name, 0);
    close(lock);
    errno = reason;
    return -1;
}

/* Returns its descriptor, or a negative code; AGAIN if the name has been taken meanwhile. */
static int make(int folder, const char *name, mode_t mode, struct bt_error *error)
{
    int lock = make_unnamed(folder, name, mode);
    if (lock < 0 && errno != EEXIST)
        lock = make_named(folder, name, mode);
    if (lock >= 0)
        return lock;
    return errno == EEXIST ? AGAIN : bt_fail_errno(error, "cannot make the lock %s", name);
}

/* Locks the open file if it is a stale lock. 0, or a negative code. */
static int lock_left_behind(int lock, const char *name, struct file_lock_found *found,
                            struct bt_error *error)
{
    long holder;
    if (kind_of(lock, &holder) == KIND_OTHER)
        return refuse(name, error);
    if (flock(lock, LOCK_EX | LOCK_NB) < 0) {
        if (errno != EWOULDBLOCK)
            return bt_fail_errno(error, "cannot lock %s", name);
        found->holder = holder;
        return bt_fail(error, BT_BUSY, "another process holds the lock %s", name);
    }
    if (kind_of(lock, &holder) != KIND_LOCK)
        return refuse(name, error);
    write_holder(lock);
    return 0;
}

/* Takes over the lock if it is stale. Returns its descriptor, or a negative code; AGAIN if it has
 * just been removed. */
static int take_over(int folder, const char *name, struct file_lock_found *found,
                     struct bt_error *error)
{
    int lock = openat(folder, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (lock < 0)
        return errno == ENOENT ? AGAIN : bt_fail_errno(error, "cannot open the lock %s", name);
    int result = lock_left_behind(lock, name, found, error);
    if (result != BT_BUSY && !is_current(lock, folder, name))
        result = AGAIN;
    if (result == 0) {
        found->left_behind = true;
        return lock;
    }
    close(lock);
    return result;
}

int file_lock_take(int folder, const char *name, mode_t mode, struct file_lock_found *found,
                   struct bt_error *error)
{
    *found = (struct file_lock_found){.left_behind = false};
    for (int i = 0; i < TRIES; i++) {
        struct stat there;
        int lock;
        if (fstatat(folder, name, &there, AT_SYMLINK_NOFOLLOW) < 0)
            lock = make(folder, name, mode, error);
        else if (S_ISREG(there.st_mode)) /* other files are not even opened */
            lock = take_over(folder, name, found, error);
        else
            lock = refuse(name, error);
        if (lock != AGAIN)
            return lock;
    }
    return bt_fail(error, BT_BUSY, "the holder of the lock %s keeps changing; try again", name);
}

void file_lock_release(int lock, int folder, const char *name)
{
    if (is_current(lock, folder, name))
        unlinkat(folder, name, 0);
    close(lock);
}

bool file_lock_is_held(int folder, const char *name)
{
    long holder;
    int lock = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (lock < 0)
        return false;
    bool held = kind_of(lock, &holder) == KIND_LOCK && flock(lock, LOCK_SH | LOCK_NB) < 0 &&
                errno == EWOULDBLOCK;
    close(lock);
    return held;
}
