#define _DEFAULT_SOURCE /* S_ISVTX */
#include "tools/exec/exec_program.h"

#include "formats/base/program_path.h"
#include "formats/base/suffix.h"
#include "tools/common/command.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Whether this is a file that may be executed, or one that may not. */
static bool is_file(const char *name, bool executable)
{
    struct stat status;
    return stat(name, &status) == 0 && S_ISREG(status.st_mode) &&
           ((status.st_mode & (S_IXUSR | S_IXGRP | S_IXOTH)) != 0) == executable;
}

/* By its name, and because it cannot be meant as a program. */
static bool is_capture(const char *name)
{
    return (suffix_is(name, ".byu", strncmp) || suffix_is(name, ".byu.gz", strncmp) ||
            suffix_is(name, ".byb", strncmp)) &&
           is_file(name, false);
}

int exec_program_find(char *path, const char *name, struct bt_error *error)
{
    struct stat status;
    if (!*name)
        return bt_fail(error, BT_USAGE, "the program's name is empty");
    if (strlen(name) >= EXEC_PROGRAM_BYTES)
        return bt_fail(error, BT_USAGE, "the program's name is too long");
    const bool in_path = !strchr(name, '/');
    if (in_path && program_path_find(path, EXEC_PROGRAM_BYTES, name))
        return 0;
    if (is_capture(name))
        return bt_fail(error, BT_USAGE,
                       "%s is a capture, not a program: 'bustap dcfg build' and 'bustap top' "
                       "read captures",
                       name);
    const bool here = is_file(name, true);
    if (in_path)
        return bt_fail(error, BT_USAGE, "%s: no such program in the folders of PATH%s%s", name,
                       here ? "; run that in this folder as ./" : "", here ? name : "");
    strcpy(path, name);
    if (stat(path, &status) != 0) {
        bt_fail_errno(error, "%s", path);
        return error->code = BT_USAGE;
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
