/* Reads the captures that a graph is built from. */
#ifndef TOOLS_DCFG_CAPTURES_READ_H
#define TOOLS_DCFG_CAPTURES_READ_H

#include "tools/dcfg/graph/build.h"
#include "tools/input/captures.h"
#include "tools/input/transfer.h"

/*
 * Reads all files into the build, from beginning to end. What is damaged is a hole for the build,
 * is told unless it has been, and raises transfer->status. 0, what the build says, why a file
 * cannot be read, or BT_USAGE where there are several traces and concatenate does not say so.
 */
int captures_read(const struct captures *captures, bool concatenate, struct transfer *transfer,
                  struct build *build, bool told, struct bt_error *error);

#endif
