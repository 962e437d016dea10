/*
 * A lock that is a file which says what it is and whose: one holder at a time, in any process. The
 * kernel lets go of it when its holder dies; the file is gone once its last holder has released it.
 * A file that is no lock of ours is never locked, written, or removed.
 */
#ifndef FORMATS_BASE_FILE_LOCK_H
#define FORMATS_BASE_FILE_LOCK_H

#include "formats/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define FILE_LOCK_BYTES 32u /* of a lock: "bustap lock, process 1234" and a newline, padded */

/* What was found at the lock's name. */
struct file_lock_found {
    bool left_behind; /* the lock of a holder that died, which was taken over */
    long holder;      /* with BT_BUSY: the process that has it; 0 where that is not known */
};

/*
 * Writes the name of path's lock: a dot in front of the last part, which hides it from shells'
 * patterns, and ".lock" behind it. False: it does not fit size.
 */
bool file_lock_name(char *name, size_t size, const char *path);

/*
 * Makes and locks the file name in folder (a descriptor, or AT_FDCWD), with mode where it is new,
 * and writes this process into it. Returns its descriptor, which may be written to from
 * FILE_LOCK_BYTES on; BT_BUSY if somebody else has it; BT_FULL, or BT_IO: there is something else
 * of that name, or the lock cannot be made.
 */
int file_lock_take(int folder, const char *name, mode_t mode, struct file_lock_found *found,
                   struct bt_error *error);

/* Removes the file and lets go. */
void file_lock_release(int lock, int folder, const char *name);

/* Whether a process holds the lock name in folder. A holder that begins in this very moment may be
 * missed. */
bool file_lock_is_held(int folder, const char *name);

#endif
