#include "formats/base/regular_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

int regular_file_open(const char *path, struct bt_error *error)
{
    struct stat status;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file < 0 || fstat(file, &status) < 0) {
        int result = bt_fail_errno(error, "cannot be opened");
        if (file >= 0)
            close(file);
        return result;
    }
    if (S_ISREG(status.st_mode))
        return file;
    close(file);
    return bt_fail(error, BT_USAGE, "is %s, not a regular file",
                   S_ISDIR(status.st_mode)    ? "a folder"
                   : S_ISFIFO(status.st_mode) ? "a pipe"
                                              : "a device or socket");
}
