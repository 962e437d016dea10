/*
 * Natural loops (DCFG 1.00, section 2.15): a back edge goes to a node that dominates its source;
 * its loop is what reaches the source without passing that head. Loops with one head are one loop;
 * two others are nested or have nothing in common.
 */
#ifndef TOOLS_DCFG_GRAPH_LOOPS_H
#define TOOLS_DCFG_GRAPH_LOOPS_H

#include "tools/dcfg/graph/dominators.h"

#define LOOPS_NONE UINT32_MAX /* no loop */

struct loop {
    uint32_t head;
    uint32_t parent;     /* the smallest loop around it, or LOOPS_NONE */
    uint32_t first_node; /* in nodes */
    uint32_t node_count; /* inner loops' nodes included */
    uint32_t first_back_edge;
    uint32_t back_edge_count;
};

struct loops {
    struct loop *loops; /* an inner one is before those around it */
    uint32_t count;
    uint32_t *innermost;  /* by node: the smallest loop around it, or LOOPS_NONE */
    uint32_t *nodes;      /* in an order in which each loop's are together */
    uint32_t *back_edges; /* their sources */
};

/* The loops of what can be reached, in time near linear. 0 or BT_MEMORY; free with loops_clear. */
int loops_find(struct loops *loops, const struct digraph *graph,
               const struct dominators *dominators, struct bt_error *error);
void loops_clear(struct loops *loops);

#endif
