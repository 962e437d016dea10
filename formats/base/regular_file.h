/* Opens files that must be regular ones: of programs, and those that other files name. */
#ifndef FORMATS_BASE_REGULAR_FILE_H
#define FORMATS_BASE_REGULAR_FILE_H

#include "formats/base/error.h"

/*
 * Opens a regular file for reading; path may name anything: a pipe without a writer does not block,
 * a terminal does not become the controlling one. The descriptor, or a negative code: BT_USAGE if
 * it is something else. The message has no subject.
 */
int regular_file_open(const char *path, struct bt_error *error);

#endif
