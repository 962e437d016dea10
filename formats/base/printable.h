/*
 * Text from files, servers and command lines, for terminals and logs. Octets that a terminal
 * interprets, or that begin a new line in a log, become '?': the C0 and C1 control characters and
 * DEL, the C1 ones also as raw octets that are not UTF-8.
 */
#ifndef FORMATS_BASE_PRINTABLE_H
#define FORMATS_BASE_PRINTABLE_H

#include <stdio.h>

/* Longer text is cut off by printable(). */
#define PRINTABLE_BYTES 4400u

struct printable_room {
    char text[PRINTABLE_BYTES];
};

/* Replaces in place. Returns text. */
char *printable_make(char *text);

/* The text to show: text itself if there is nothing to replace, else a copy in *room. */
const char *printable_in(struct printable_room *room, const char *text);

/* The same for an argument of printf: valid to the end of the enclosing block. */
#define PRINTABLE(text) printable_in(&(struct printable_room){{0}}, text)

/* Writes text to out, of any length. */
void printable_put(const char *text, FILE *out);

#endif
