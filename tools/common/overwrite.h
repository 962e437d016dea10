/* Keeps commands from writing over what they read, or what a capture writes. */
#ifndef TOOLS_COMMON_OVERWRITE_H
#define TOOLS_COMMON_OVERWRITE_H

#include "formats/base/error.h"

#include <stdbool.h>

/*
 * Whether writing to output overwrites the file at path, also under another name. "-" is standard
 * output, as a path standard input. Only regular files are overwritten; files that do not exist yet
 * are compared by folder and name.
 */
bool overwrite_happens(const char *output, const char *path);

/* Checks that output is not a file of a running capture's prefix: 0 or BT_BUSY. */
int overwrite_check_held(const char *output, struct bt_error *error);

/*
 * The same, and checks that output overwrites none of the count inputs; call it before opening
 * anything for writing. what ("the picture") names the output in the message. 0, BT_USAGE or
 * BT_BUSY.
 */
int overwrite_check(const char *output, int count, char *const *inputs, const char *what,
                    struct bt_error *error);

#endif
