/*
 * A lock that is a file with a process number in it: one holder at a time, in any process. The
 * kernel lets go of it when its holder dies; the file is gone once its last holder has released it.
 */
#ifndef FORMATS_BASE_FILE_LOCK_H
#define FORMATS_BASE_FILE_LOCK_H

#include "formats/base/error.h"

#include <sys/types.h>

/*
 * Makes and locks the file name in folder (a descriptor, or AT_FDCWD), with mode where it is new,
 * and writes this process into it. Returns its descriptor; BT_BUSY if somebody else has it, with
 * the process in *holder, 0 where that is not known; or BT_IO.
 */
int file_lock_take(int folder, const char *name, mode_t mode, long *holder, struct bt_error *error);

/* Removes the file and lets go. */
void file_lock_release(int lock, int folder, const char *name);

#endif
