/* The files of captures, in the order in which they are to be read. */
#ifndef TOOLS_CAPTURES_H
#define TOOLS_CAPTURES_H

#include "formats/base/error.h"

#include <stdbool.h>

struct captures {
    const char **paths;
    int count;
};

/*
 * Puts the files in order: those of a capture together and by their numbers, captures as they were
 * given; what has no header stays where it is. again: what reads them twice ("a trace"),
 * which standard input and pipes cannot be; NULL: nothing does. 0, BT_USAGE, BT_IO, BT_DATA or
 * BT_MEMORY; captures_free in any case.
 */
int captures_order(struct captures *captures, int count, char **paths, const char *again, bool lp64,
                   struct bt_error *error);
void captures_free(struct captures *captures);

#endif
