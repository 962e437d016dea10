/* Wraps text to the width of a terminal. */
#ifndef TOOLS_COMMON_WRAP_H
#define TOOLS_COMMON_WRAP_H

#include <stdio.h>

#define WRAP_COLUMNS 80u

/*
 * Prints text in lines of at most WRAP_COLUMNS, except for longer words, and ends the last line.
 * The first line begins at `column`; the others are indented by it. Blanks and newlines in text
 * only separate words.
 */
void wrap_print(const char *text, unsigned column, FILE *out);

#endif
