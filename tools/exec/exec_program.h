/* Finds the file of a program. */
#ifndef TOOLS_EXEC_EXEC_PROGRAM_H
#define TOOLS_EXEC_EXEC_PROGRAM_H

#include "formats/base/error.h"

#include <stddef.h>

#define EXEC_PROGRAM_BYTES 4096u

/*
 * Finds a program as a shell does: a name with a slash is a path, any other is searched for in the
 * folders of PATH. path has room for EXEC_PROGRAM_BYTES. 0, or BT_USAGE: not found.
 */
int exec_program_find(char *path, const char *name, struct bt_error *error);

/* Makes a file's path absolute, for programs that change their folder. path has room for
 * EXEC_PROGRAM_BYTES. 0, BT_USAGE (too long) or BT_IO. */
int exec_program_absolute(char *path, const char *file, struct bt_error *error);

/* Joins a program and its arguments (NULL ends them) with blanks, cut off at size bytes. */
void exec_program_join(char *command, size_t size, const char *const *arguments);

/* Reports why a program could not start. Returns the exit status, 2 or 3, never STATUS_DATA. */
int exec_program_failure(const struct bt_error *error);

#endif
