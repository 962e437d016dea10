#define _GNU_SOURCE /* AT_EACCESS */
#include "formats/base/program_path.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_DEFAULT "/bin:/usr/bin" /* if PATH is not set */

bool program_path_is_program(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode) &&
           faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) == 0;
}

bool program_path_find(char *path, size_t size, const char *name)
{
    const char *folders = getenv("PATH");
    for (const char *at = folders ? folders : PATH_DEFAULT;; at++) {
        size_t length = strcspn(at, ":");
        int bytes =
            snprintf(path, size, "%.*s%s%s", (int)length, at, length > 0 ? "/" : "./", name);
        if (bytes > 0 && (size_t)bytes < size && program_path_is_program(path))
            return true;
        at += length;
        if (*at == '\0')
            return false;
    }
}
