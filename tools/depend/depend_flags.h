/* What compilers need to instrument programs for dependence tracing, and linkers to link them. */
#ifndef TOOLS_DEPEND_DEPEND_FLAGS_H
#define TOOLS_DEPEND_DEPEND_FLAGS_H

#include "formats/base/error.h"

#include <stdio.h>

/*
 * Writes a line of arguments for GCC 12 (the plug-in), or for the linker (the runtime library, and
 * what it needs). folder: of the bustap executable. The files are in the same folder, as in a build
 * tree, or installed in ../lib/bustap. 0; BT_IO if a file is missing: the error says what to do.
 */
int depend_flags_compiler(const char *folder, FILE *out, struct bt_error *error);
int depend_flags_linker(const char *folder, FILE *out, struct bt_error *error);

/* The folder of the running executable, by /proc. 0 or BT_IO. */
int depend_flags_folder(char *folder, size_t size, struct bt_error *error);

#endif
