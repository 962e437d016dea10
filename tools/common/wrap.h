/* Prose in the width of a terminal. */
#ifndef TOOLS_COMMON_WRAP_H
#define TOOLS_COMMON_WRAP_H

#include <stdio.h>

#define WRAP_COLUMNS 80u

/*
 * Prints text in lines of WRAP_COLUMNS at most, where words allow it, and ends the last one. The
 * first line begins at `column`, the others are indented by it. Blanks and newlines of the text
 * only separate its words.
 */
void wrap_print(const char *text, unsigned column, FILE *out);

#endif
