/* Keeps commands from writing over what they read, or what a capture writes. */
#ifndef TOOLS_COMMON_OVERWRITE_H
#define TOOLS_COMMON_OVERWRITE_H

#include "formats/base/error.h"

#include <stdbool.h>

/*
 * Whether what is written to output takes the place of the file at path, by whatever names: "-" is
 * standard output, and as a path standard input. Only regular files are replaced; of two that do
 * not exist yet, the folder and the name count.
 */
bool overwrite_happens(const char *output, const char *path);

/* Sees that output is not the name of a file of a running capture's prefix: 0 or BT_BUSY. */
int overwrite_check_held(const char *output, struct bt_error *error);

/*
 * The same; and that output takes the place of none of the count inputs, before anything is opened
 * for writing; what ("the picture") is how the sentence calls that which is written. 0, BT_USAGE or
 * BT_BUSY.
 */
int overwrite_check(const char *output, int count, char *const *inputs, const char *what,
                    struct bt_error *error);

#endif
