/* Functions that compilers have inlined, by a program's debug information. */
#ifndef TOOLS_SYMBOLS_INLINED_H
#define TOOLS_SYMBOLS_INLINED_H

#include <stdbool.h>
#include <stddef.h>

/* Whether a function is inlined anywhere in the ELF file: the name of the first function that
 * contains it becomes caller, shortened if it is too long. False, if that is not known. */
bool inlined_into(const char *path, const char *function, char *caller, size_t size);

#endif
