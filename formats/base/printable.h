/*
 * Text from files, servers and command lines, for terminals and logs: what a terminal would obey,
 * or what would begin a line of its own in a log, becomes '?', octet by octet: the C0 and C1
 * control characters and DEL, the C1 ones also as raw octets that are no UTF-8.
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

/* text as it may be shown: text itself where it has nothing to replace, else a copy in *room. */
const char *printable_in(struct printable_room *room, const char *text);

/* The same for an argument of printf: good to the end of the block it stands in. */
#define PRINTABLE(text) printable_in(&(struct printable_room){{0}}, text)

/* Writes text to out, of any length. */
void printable_put(const char *text, FILE *out);

#endif
