#define _DEFAULT_SOURCE /* readlink, strsep's relatives */
#include "capture/exec/kernel/own_file.h"

#include <limits.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

static const struct {
    const char *name;
    enum own_file file;
} files[] = {{"exe", OWN_EXE},         {"maps", OWN_MAPS}, {"cmdline", OWN_CMDLINE},
             {"environ", OWN_ENVIRON}, {"auxv", OWN_AUXV}, {"mem", OWN_MEM}};

/* Reads a link, with a NUL; false: it cannot be read, or is too long. */
static bool read_text(const char *link, char *text, size_t size)
{
    ssize_t length = readlink(link, text, size);
    if (length < 0 || (size_t)length >= size)
        return false;
    text[length] = '\0';
    return true;
}

/* Removes the last component of a path and returns it; NULL: there is none. */
static const char *cut(char *path)
{
    char *slash = strrchr(path, '/');
    if (!slash)
        return NULL;
    *slash = '\0';
    return slash + 1;
}

/* Whether a folder, /proc/PID or /proc/PID/task/TID, is of the calling process. */
static bool is_own(char *folder)
{
    char link[PATH_MAX + sizeof "/self"], self[32];
    const char *number = cut(folder);
    size_t length = strlen(folder);
    if (length > 5 && strcmp(folder + length - 5, "/task") == 0) {
        cut(folder);
        number = cut(folder);
    }
    snprintf(link, sizeof link, "%s/self", folder);
    return number && read_text(link, self, sizeof self) && strcmp(number, self) == 0;
}

enum own_file own_file_of(int descriptor)
{
    struct statfs system;
    char link[64], path[PATH_MAX];
    if (fstatfs(descriptor, &system) != 0 || system.f_type != PROC_SUPER_MAGIC)
        return OWN_NONE;
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    const char *name = read_text(link, path, sizeof path) ? cut(path) : NULL;
    for (size_t i = 0; name && i < sizeof files / sizeof *files; i++) {
        if (strcmp(name, files[i].name) != 0)
            continue;
        if (is_own(path))
            return files[i].file;
        return files[i].file == OWN_MEM ? OWN_NOT_MEM : OWN_NONE;
    }
    return OWN_NONE;
}
