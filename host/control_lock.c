#include "host/control_lock.h"

#include "formats/base/file_lock.h"

#include <fcntl.h>
#include <stdio.h>

#define LOCK_NAME_BYTES 128
#define LOCK_MODE       0660

static void put_name(char name[LOCK_NAME_BYTES], const char *path)
{
    snprintf(name, LOCK_NAME_BYTES, "%s.lock", path);
}

int control_lock_take(const char *path, struct bt_error *error)
{
    char name[LOCK_NAME_BYTES];
    long holder;
    put_name(name, path);
    int lock = file_lock_take(AT_FDCWD, name, LOCK_MODE, &holder, error);
    if (lock != BT_BUSY)
        return lock;
    if (holder > 0)
        return bt_fail(error, BT_BUSY,
                       "another bustapd, process %ld, listens on %s; stop it, or use --socket",
                       holder, path);
    return bt_fail(error, BT_BUSY, "another bustapd listens on %s; stop it, or use --socket", path);
}

void control_lock_release(int lock, const char *path)
{
    char name[LOCK_NAME_BYTES];
    put_name(name, path);
    file_lock_release(lock, AT_FDCWD, name);
}
