/* Programs in the folders of PATH. */
#ifndef FORMATS_BASE_PROGRAM_PATH_H
#define FORMATS_BASE_PROGRAM_PATH_H

#include <stdbool.h>
#include <stddef.h>

/* Whether a path is a file that this process may execute. */
bool program_path_is_program(const char *path);

/* Searches for a name without a slash in the folders of PATH, as execvp() does: an empty folder is
 * the current one, and without PATH /bin and /usr/bin are searched. path, of size bytes, becomes
 * the first program found. Returns whether there is one. */
bool program_path_find(char *path, size_t size, const char *name);

#endif
