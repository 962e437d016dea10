/* Where the packed form of a capture file goes, and how it takes the place of the file. */
#ifndef TOOLS_PACK_PACK_PLACE_H
#define TOOLS_PACK_PACK_PLACE_H

#include "formats/base/error.h"

struct new_file;

/*
 * Synchronises the file, which is to be named `name`, gives it the mode and the times of the file
 * at path and its name, and removes path if that is another one. At any time, and after a loss of
 * power, one of the two files is there and whole. 0 or a negative code; on failure path remains.
 */
int pack_place_take(const char *path, const char *name, struct new_file *file,
                    struct bt_error *error);

#endif
