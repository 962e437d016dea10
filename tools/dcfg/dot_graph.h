/* Draws a control-flow graph in Graphviz's language. */
#ifndef TOOLS_DCFG_DOT_GRAPH_H
#define TOOLS_DCFG_DOT_GRAPH_H

#include "tools/dcfg/view_command.h"

#include <stdio.h>

/*
 * Prints a graph for dot(1): the routine with that number, its callers and callees; or all routines
 * as clusters (DCFG_NONE). Omits blocks and edges with counts below minimum, and bypasses between
 * them. 0 or BT_MEMORY.
 */
int dot_graph(const struct view *view, uint32_t routine, uint64_t minimum, FILE *out,
              struct bt_error *error);

#endif
