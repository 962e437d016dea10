/* One daemon per socket: a lock file beside it, which the kernel releases when its holder dies. */
#ifndef HOST_CONTROL_LOCK_H
#define HOST_CONTROL_LOCK_H

#include "formats/base/error.h"

#include <stdbool.h>

/* Locks .NAME.lock beside the socket NAME. *left_behind: the lock of a dead daemon was taken over.
 * Returns its descriptor, BT_BUSY (the message names the holder) or BT_IO. */
int control_lock_take(const char *path, bool *left_behind, struct bt_error *error);

/* Removes the file and releases the lock. */
void control_lock_release(int lock, const char *path);

#endif
