/*
 * Routines (DCFG 1.00, section 2.14), their dominators and their loops.
 *
 * Entries are what is entered from outside: targets of entry, call, system call and context change
 * edges, and of every edge from another image. A root before all of them makes one tree of
 * dominators: what hangs on the root are the routines' entries, and a routine is what its entry
 * dominates. So each node is in one routine, a routine is entered at one node alone, and a node
 * that several routines jump to has a routine of its own.
 */
#ifndef TOOLS_DCFG_GRAPH_ROUTINES_H
#define TOOLS_DCFG_GRAPH_ROUTINES_H

#include "tools/dcfg/graph/loops.h"

#define ROUTINES_OUTSIDE DIGRAPH_NONE /* as an edge's end: a special node */

/* What routines are found in. */
struct routines_graph {
    uint32_t nodes;
    size_t edges;
    const uint32_t *sources; /* by edge: nodes, or ROUTINES_OUTSIDE */
    const uint32_t *targets;
    const uint8_t *types;   /* enum dcfg_edge_type */
    const uint32_t *images; /* by node; NULL: all are in one */
};

struct routine {
    uint32_t entry;
    uint32_t first_node, node_count; /* in nodes */
    uint32_t first_exit, exit_count; /* in exits */
    uint32_t first_loop, loop_count; /* in loops.loops; an inner one is before those around it */
};

struct routines {
    struct routine *routines; /* in order of their entries */
    uint32_t count;
    uint32_t *routine_of; /* by node */
    uint32_t *dominator;  /* by node: the immediate one; the entry's is itself */
    uint32_t *nodes;      /* each before those it dominates */
    uint32_t *exits;      /* nodes with an edge to what is not in their routine */
    struct loops loops;
};

/* Finds the routines, in time near linear. 0 or BT_MEMORY; free with routines_clear. */
int routines_find(struct routines *routines, const struct routines_graph *graph,
                  struct bt_error *error);
void routines_clear(struct routines *routines);

#endif
