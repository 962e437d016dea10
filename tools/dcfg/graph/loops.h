/*
 * Natural loops (DCFG 1.00, section 2.15). A back edge leads to a node that dominates its source;
 * its loop has all nodes that reach the source without passing through that head. Loops with the
 * same head are merged; any two others are nested or disjoint.
 */
#ifndef TOOLS_DCFG_GRAPH_LOOPS_H
#define TOOLS_DCFG_GRAPH_LOOPS_H

#include "tools/dcfg/graph/dominators.h"

#define LOOPS_NONE UINT32_MAX /* no loop */

struct loop {
    uint32_t head;
    uint32_t parent;     /* the smallest enclosing loop, or LOOPS_NONE */
    uint32_t first_node; /* index in nodes */
    uint32_t node_count; /* includes inner loops */
    uint32_t first_back_edge;
    uint32_t back_edge_count;
};

struct loops {
    struct loop *loops; /* inner loops before their outer ones */
    uint32_t count;
    uint32_t *innermost;  /* by node: the smallest loop that contains it, or LOOPS_NONE */
    uint32_t *nodes;      /* the nodes of each loop are contiguous */
    uint32_t *back_edges; /* their sources */
};

/* Finds the loops of the reachable nodes in nearly linear time. 0 or BT_MEMORY; free with
 * loops_clear. */
int loops_find(struct loops *loops, const struct digraph *graph,
               const struct dominators *dominators, struct bt_error *error);
void loops_clear(struct loops *loops);

#endif
