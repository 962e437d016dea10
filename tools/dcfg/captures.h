/* The captures that a graph is built from: their files in order, read as often as need be. */
#ifndef TOOLS_DCFG_CAPTURES_H
#define TOOLS_DCFG_CAPTURES_H

#include "tools/cfg/build.h"
#include "tools/transfer.h"

struct captures {
    const char **paths;
    int count;
};

/*
 * Puts the files in order: those of a capture together and by their numbers, captures as they were
 * given; what has no header stays where it is. again: they will be read twice, which standard
 * input and pipes cannot be. 0, BT_USAGE, BT_IO, BT_DATA or BT_MEMORY; captures_free in any case.
 */
int captures_order(struct captures *captures, int count, char **paths, bool again, bool lp64,
                   struct bt_error *error);
void captures_free(struct captures *captures);

/*
 * Reads all files into the build, from beginning to end. What is damaged is a hole for the build,
 * is told unless it has been, and raises transfer->status. 0, what the build says, or why a file
 * cannot be read.
 */
int captures_read(const struct captures *captures, struct transfer *transfer, struct build *build,
                  bool told, struct bt_error *error);

#endif
