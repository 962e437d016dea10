#include "tools/pack/pack_place.h"

#include "formats/base/new_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Synchronises the folder of path: its names are on the disk. Failures are those of file systems
 * that cannot, and do not matter. */
static void synchronise_folder(const char *path)
{
    const char *slash = strrchr(path, '/');
    const size_t length = slash ? (size_t)(slash - path) + 1 : 0;
    char *folder = malloc(length + 2);
    if (!folder)
        return;
    memcpy(folder, path, length);
    strcpy(folder + length, ".");
    const int descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    free(folder);
    if (descriptor < 0)
        return;
    (void)file_synchronise(descriptor);
    close(descriptor);
}

int pack_place_take(const char *path, const char *name, struct new_file *file,
                    struct bt_error *error)
{
    struct stat status;
    const int descriptor = new_file_descriptor(file);
    if (stat(path, &status) != 0)
        return bt_fail_errno(error, "cannot examine %s", path);
    const struct timespec times[2] = {status.st_atim, status.st_mtim};
    if (fchmod(descriptor, status.st_mode & 07777) != 0 || futimens(descriptor, times) != 0)
        return bt_fail_errno(error, "cannot set mode and times of %s", name);
    int result = new_file_synchronise(file, error);
    if (result == 0)
        result = new_file_commit(file, error);
    if (result < 0)
        return result;
    synchronise_folder(name);
    if (strcmp(path, name) != 0 && unlink(path) != 0)
        return bt_fail_errno(error, "%s is complete, but %s cannot be removed", name, path);
    synchronise_folder(name);
    return 0;
}
