/* Whether a command line names a file twice. */
#ifndef TOOLS_INPUT_DISTINCT_FILES_H
#define TOOLS_INPUT_DISTINCT_FILES_H

#include "formats/base/error.h"

/* Checks that count paths are different files, by device and inode; "-" is standard input. Files
 * that are missing are not compared. 0, BT_USAGE or BT_MEMORY. */
int distinct_files_check(int count, char *const *paths, struct bt_error *error);

#endif
