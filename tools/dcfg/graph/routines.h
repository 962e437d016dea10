/*
 * Routines (DCFG 1.00, section 2.14), their dominators and loops.
 *
 * Entries are nodes entered from outside: targets of entry, call, system call and context change
 * edges, of every edge from another image, and of tail calls. A root before all entries makes one
 * dominator tree: the root's children are the entries, and a routine is all that its entry
 * dominates. So each node is in one routine, each routine has one entry, and a node that several
 * routines jump to is a routine itself.
 */
#ifndef TOOLS_DCFG_GRAPH_ROUTINES_H
#define TOOLS_DCFG_GRAPH_ROUTINES_H

#include "tools/dcfg/graph/loops.h"

#define ROUTINES_OUTSIDE DIGRAPH_NONE /* end of an edge: a special node */

/* Input of routines_find. */
struct routines_graph {
    uint32_t nodes;
    size_t edges;
    const uint32_t *sources; /* by edge: nodes, or ROUTINES_OUTSIDE */
    const uint32_t *targets;
    const uint8_t *types;   /* enum dcfg_edge_type */
    const uint32_t *images; /* by node; NULL: a single image */
    const bool *entered;    /* by node: a tail call enters it; NULL: none does */
};

struct routine {
    uint32_t entry;
    uint32_t first_node, node_count; /* range of nodes */
    uint32_t first_exit, exit_count; /* range of exits */
    uint32_t first_loop, loop_count; /* range of loops.loops; inner loops before their outer ones */
};

struct routines {
    struct routine *routines; /* sorted by entry */
    uint32_t count;
    uint32_t *routine_of; /* by node */
    uint32_t *dominator;  /* by node: the immediate dominator; an entry's is itself */
    uint32_t *nodes;      /* each before the nodes it dominates */
    uint32_t *exits;      /* nodes with an edge that leaves the routine */
    struct loops loops;
};

/* Whether an edge stays within a routine, unless it leads to an entry. */
bool routines_stays(const struct routines_graph *graph, size_t edge);

/* Finds the routines in nearly linear time. 0 or BT_MEMORY; free with routines_clear. */
int routines_find(struct routines *routines, const struct routines_graph *graph,
                  struct bt_error *error);
void routines_clear(struct routines *routines);

#endif
