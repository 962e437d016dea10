/* A control-flow graph as Graphviz draws it. */
#ifndef TOOLS_DCFG_DOT_GRAPH_H
#define TOOLS_DCFG_DOT_GRAPH_H

#include "tools/dcfg/view_command.h"

#include <stdio.h>

/*
 * Prints a graph in the language of dot(1): the routine with that number, what calls it and what it
 * calls; or all, a cluster for each routine (DCFG_NONE). Blocks and edges with a lower count than
 * minimum are left out, and bypasses between them. 0 or BT_MEMORY.
 */
int dot_graph(const struct view *view, uint32_t routine, uint64_t minimum, FILE *out,
              struct bt_error *error);

#endif
