#include "host/control_lock.h"

#include "formats/base/file_lock.h"

#include <fcntl.h>

#define LOCK_NAME_BYTES 128 /* a socket's name has at most 107 */
#define LOCK_MODE       0660

int control_lock_take(const char *path, bool *left_behind, struct bt_error *error)
{
    char name[LOCK_NAME_BYTES];
    struct file_lock_found found;
    if (!file_lock_name(name, sizeof name, path))
        return bt_fail(error, BT_USAGE, "the name of the socket %.60s... is too long", path);
    int lock = file_lock_take(AT_FDCWD, name, LOCK_MODE, &found, error);
    *left_behind = found.left_behind;
    if (lock != BT_BUSY)
        return lock;
    if (found.holder > 0)
        return bt_fail(error, BT_BUSY,
                       "another bustapd, process %ld, listens on %s; stop it, or use --socket",
                       found.holder, path);
    return bt_fail(error, BT_BUSY, "another bustapd listens on %s; stop it, or use --socket", path);
}

void control_lock_release(int lock, const char *path)
{
    char name[LOCK_NAME_BYTES];
    if (file_lock_name(name, sizeof name, path))
        file_lock_release(lock, AT_FDCWD, name);
}
