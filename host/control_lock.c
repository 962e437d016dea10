#define _DEFAULT_SOURCE /* flock */
#include "host/control_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOCK_NAME_BYTES 128

static int refuse(int lock, const char *path, struct bt_error *error)
{
    char text[24] = "";
    ssize_t size = pread(lock, text, sizeof text - 1, 0);
    long holder = size > 0 ? strtol(text, NULL, 10) : 0;
    if (holder > 0)
        return bt_fail(error, BT_BUSY,
                       "another bustapd, process %ld, listens on %s; stop it, or use --socket",
                       holder, path);
    return bt_fail(error, BT_BUSY, "another bustapd listens on %s; stop it, or use --socket", path);
}

/* Whether the file that was locked is still the one of that name: its holder may just have removed
 * it. */
static bool is_current(int lock, const char *name)
{
    struct stat here, there;
    return fstat(lock, &here) == 0 && stat(name, &there) == 0 && here.st_ino == there.st_ino &&
           here.st_dev == there.st_dev;
}

int control_lock_take(const char *path, struct bt_error *error)
{
    char name[LOCK_NAME_BYTES];
    snprintf(name, sizeof name, "%s.lock", path);
    for (;;) {
        int lock = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0660);
        if (lock < 0)
            return bt_fail_errno(error, "cannot make the lock %s", name);
        if (flock(lock, LOCK_EX | LOCK_NB) != 0) {
            int result = errno == EWOULDBLOCK ? refuse(lock, path, error)
                                              : bt_fail_errno(error, "cannot lock %s", name);
            close(lock);
            return result;
        }
        if (is_current(lock, name)) {
            if (ftruncate(lock, 0) != 0 || dprintf(lock, "%ld\n", (long)getpid()) < 0) {
                int result = bt_fail_errno(error, "cannot write %s", name);
                close(lock);
                return result;
            }
            return lock;
        }
        close(lock);
    }
}

void control_lock_release(int lock, const char *path)
{
    char name[LOCK_NAME_BYTES];
    snprintf(name, sizeof name, "%s.lock", path);
    unlink(name);
    close(lock);
}
