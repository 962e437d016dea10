#define _DEFAULT_SOURCE /* S_ISVTX */
#include "tools/exec/exec_program.h"

#include "tools/common/command.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_DEFAULT "/bin:/usr/bin" /* if PATH is not set */

static bool is_program(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode) &&
           faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) == 0;
}

/* Searches PATH for name. An empty folder is the current one. */
static bool search(char *path, const char *name)
{
    const char *folders = getenv("PATH");
    for (const char *at = folders ? folders : PATH_DEFAULT;; at++) {
        size_t length = strcspn(at, ":");
        int bytes = snprintf(path, EXEC_PROGRAM_BYTES, "%.*s%s%s", (int)length, at,
                             length > 0 ? "/" : "./", name);
        if (bytes > 0 && (size_t)bytes < EXEC_PROGRAM_BYTES && is_program(path))
            return true;
        at += length;
        if (*at == '\0')
            return false;
    }
}

int exec_program_find(char *path, const char *name, struct bt_error *error)
{
    if (!*name)
        return bt_fail(error, BT_USAGE, "the program's name is empty");
    if (strlen(name) >= EXEC_PROGRAM_BYTES)
        return bt_fail(error, BT_USAGE, "the program's name is too long");
    if (strchr(name, '/')) {
        strcpy(path, name);
        struct stat status;
        if (stat(path, &status) != 0) {
            bt_fail_errno(error, "%s", path);
            return error->code = BT_USAGE;
        }
    } else if (!search(path, name)) {
        return bt_fail(error, BT_USAGE, "%s: no such program in the folders of PATH", name);
    }
    return 0;
}

int exec_program_failure(const struct bt_error *error)
{
    int status = command_failure(error);
    return status < STATUS_USAGE ? STATUS_USAGE : status;
}

int exec_program_absolute(char *path, const char *file, struct bt_error *error)
{
    char folder[EXEC_PROGRAM_BYTES] = "";
    const bool absolute = file[0] == '/';
    if (!absolute && !getcwd(folder, sizeof folder))
        return bt_fail_errno(error, "cannot find the current folder");
    int bytes = snprintf(path, EXEC_PROGRAM_BYTES, "%s%s%s", folder, absolute ? "" : "/", file);
    if (bytes < 0 || (size_t)bytes >= EXEC_PROGRAM_BYTES)
        return bt_fail(error, BT_USAGE, "the name %.60s... is too long", file);
    return 0;
}

void exec_program_join(char *command, size_t size, const char *const *arguments)
{
    size_t used = 0;
    command[0] = '\0';
    for (; *arguments && used < size; arguments++)
        used +=
            (size_t)snprintf(command + used, size - used, "%s%s", used > 0 ? " " : "", *arguments);
}
