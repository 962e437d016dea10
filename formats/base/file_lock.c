#define _DEFAULT_SOURCE /* flock */
#include "formats/base/file_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define TRIES 100 /* at a file whose holders come and go */

static long read_holder(int lock)
{
    char text[24] = "";
    ssize_t size = pread(lock, text, sizeof text - 1, 0);
    long holder = size > 0 ? strtol(text, NULL, 10) : 0;
    return holder > 0 ? holder : 0;
}

/* The kernel's lock is what counts: a disk too full for the number only makes a refusal vaguer. */
static void write_holder(int lock)
{
    char text[24];
    int size = snprintf(text, sizeof text, "%ld\n", (long)getpid());
    if (ftruncate(lock, 0) < 0 || pwrite(lock, text, (size_t)size, 0) != size)
        return;
}

/* Whether the file that was locked still is the one of that name: its holder may just have removed
 * it. */
static bool is_current(int lock, int folder, const char *name)
{
    struct stat held;
    struct stat named;
    return fstat(lock, &held) == 0 && fstatat(folder, name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
           held.st_dev == named.st_dev && held.st_ino == named.st_ino;
}

int file_lock_take(int folder, const char *name, mode_t mode, long *holder, struct bt_error *error)
{
    *holder = 0;
    for (int i = 0; i < TRIES; i++) {
        int lock = openat(folder, name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, mode);
        if (lock < 0)
            return bt_fail_errno(error, "cannot make the lock %s", name);
        if (flock(lock, LOCK_EX | LOCK_NB) < 0) {
            int result = errno == EWOULDBLOCK
                             ? bt_fail(error, BT_BUSY, "somebody else has the lock %s", name)
                             : bt_fail_errno(error, "cannot lock %s", name);
            *holder = read_holder(lock);
            close(lock);
            return result;
        }
        if (is_current(lock, folder, name)) {
            write_holder(lock);
            return lock;
        }
        close(lock);
    }
    return bt_fail(error, BT_BUSY, "those who lock %s come and go; try again", name);
}

void file_lock_release(int lock, int folder, const char *name)
{
    unlinkat(folder, name, 0);
    close(lock);
}
