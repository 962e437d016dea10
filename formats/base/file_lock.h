/*
 * A lock file that names its holder: one holder at a time, in any process. The kernel releases the
 * lock when its holder dies; the last holder removes the file. A file that is not a lock of bustap
 * is never locked, written, or removed.
 */
#ifndef FORMATS_BASE_FILE_LOCK_H
#define FORMATS_BASE_FILE_LOCK_H

#include "formats/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define FILE_LOCK_BYTES 32u /* of a lock: "bustap lock, process 1234" and a newline, padded */

/* What file_lock_take() found under the lock's name. */
struct file_lock_found {
    bool left_behind; /* a stale lock was taken over: its holder died */
    long holder;      /* with BT_BUSY: the process that holds the lock; 0 if unknown */
};

/*
 * Writes the name of path's lock: the last component with a dot before it, which hides it from
 * shell patterns, and ".lock" after it. False if it does not fit size.
 */
bool file_lock_name(char *name, size_t size, const char *path);

/*
 * Makes and locks the file name in folder (a descriptor, or AT_FDCWD), with mode if it is new, and
 * writes this process into it. Returns its descriptor, which may be written to from FILE_LOCK_BYTES
 * on; BT_BUSY if another process holds it; BT_FULL; BT_IO if another file has the name or the lock
 * cannot be made.
 */
int file_lock_take(int folder, const char *name, mode_t mode, struct file_lock_found *found,
                   struct bt_error *error);

/* Removes the file and releases the lock. */
void file_lock_release(int lock, int folder, const char *name);

/* Whether a process holds the lock name in folder. A process that is just taking it may be
 * missed. */
bool file_lock_is_held(int folder, const char *name);

#endif
