/* Where `bustap exec` writes the lists of modules of its captures: doc/modules-file.md. */
#ifndef TOOLS_SYMBOLS_MODULE_LIST_PATH_H
#define TOOLS_SYMBOLS_MODULE_LIST_PATH_H

#include "formats/base/error.h"

#include <stdbool.h>
#include <stddef.h>

#define MODULE_LIST_SUFFIX ".modules"

/*
 * The list of a capture, from the path of one of its files or from its prefix. NULL: there is none,
 * or no memory. The caller frees it.
 */
char *module_list_beside(const char *capture);

/* Whether a list may be written to a path: nothing is there, or a list of an earlier program. */
bool module_list_may_write(const char *path);

/*
 * Before another capture is appended to a prefix: gives the lists of the earlier ones, if there are
 * any, names with the present time, so that they remain those of the files until now. Waits for the
 * next second if a file has this one in its name. 0 or BT_IO.
 */
int module_list_set_aside(const char *prefix, struct bt_error *error);

#endif
