/* Draws a control-flow graph in Graphviz's language. */
#ifndef TOOLS_DCFG_DOT_GRAPH_H
#define TOOLS_DCFG_DOT_GRAPH_H

#include "tools/dcfg/view_command.h"

#include <stdio.h>

struct dot_choice {
    uint32_t routine; /* to draw, with its callers and callees; DCFG_NONE: all, as clusters */
    uint64_t minimum; /* smallest count of blocks and edges, except bypasses */
    uint32_t most;    /* largest number of blocks: those with the most instructions */
};

/* The part that was drawn. */
struct dot_part {
    uint32_t drawn, blocks; /* of the blocks that routine and minimum leave */
    double share;           /* of their instructions, 0 to 1 */
};

/* Prints a graph for dot(1). If blocks are left out because of `most`, its label says so. 0 or
 * BT_MEMORY. */
int dot_graph(const struct view *view, const struct dot_choice *choice, struct dot_part *part,
              FILE *out, struct bt_error *error);

#endif
