/* Recognizes lists of modules by their content: doc/modules-file.md. */
#ifndef TOOLS_COMMON_MODULE_LIST_TEXT_H
#define TOOLS_COMMON_MODULE_LIST_TEXT_H

#include <stdbool.h>

/* Whether a regular file is a list that is not empty: its first line that is not empty has an
 * absolute path and a hexadecimal address. False for what cannot be read, and for pipes, which are
 * not opened. */
bool module_list_is(const char *path);

/*
 * Removes lists of modules from *count operands that are captures, as a pattern PREFIX* gives them
 * to a command, and reports each on standard error. If all operands are lists, they stay. Returns
 * the number of lists that are left.
 */
int module_list_skip(int *count, char **operands);

#endif
