/* Lists of modules for files that are made of captures: doc/modules-file.md. */
#ifndef TOOLS_SYMBOLS_MODULE_LIST_COPY_H
#define TOOLS_SYMBOLS_MODULE_LIST_COPY_H

#include "formats/base/error.h"

#include <stdbool.h>

/*
 * Copies the list of count captures for a file made of them: FILE.modules. Captures without a list
 * do not matter. A list says nothing about processes, so that different ones are not joined. moved:
 * ticks of the file are not those of the captures. replace: the file has replaced another one,
 * whose list goes with it. A file there that is no list stays. 0; BT_NOTE with the reason why none
 * is copied; or BT_IO.
 */
int module_list_copy(int count, char *const *captures, const char *file, bool moved, bool replace,
                     struct bt_error *error);

#endif
