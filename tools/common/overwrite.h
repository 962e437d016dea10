/* Prevents commands from overwriting their inputs and the files of a running capture. */
#ifndef TOOLS_COMMON_OVERWRITE_H
#define TOOLS_COMMON_OVERWRITE_H

#include "formats/base/error.h"

#include <stdbool.h>

struct new_file;

/*
 * Whether writing to output overwrites the file at path, also through another name of it. "-" means
 * standard output as output, standard input as path. Only regular files can be overwritten; missing
 * files are compared by folder and name.
 */
bool overwrite_happens(const char *output, const char *path);

/* Checks that output is not a file of a running capture: 0 or BT_BUSY. */
int overwrite_check_held(const char *output, struct bt_error *error);

/*
 * The same, and checks that output overwrites none of the count inputs; call it before opening
 * anything for writing. what ("the picture") names the output in the message. 0, BT_USAGE or
 * BT_BUSY.
 */
int overwrite_check(const char *output, int count, char *const *inputs, const char *what,
                    struct bt_error *error);

/* Whether output may be made: 0, or BT_IO if a regular file of the name exists and force is not
 * given. "-", pipes and devices are not replaced by writing to them. */
int overwrite_check_exists(const char *output, bool force, struct bt_error *error);

/* Begins a new file of the name output; an existing one is an error unless force, and stays
 * unchanged until the new file is complete. NULL and *error. */
struct new_file *overwrite_begin(const char *output, bool force, struct bt_error *error);

#endif
