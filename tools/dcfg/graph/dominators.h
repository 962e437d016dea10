/*
 * Dominators: a node dominates another one if every path from the root to that node contains it.
 * The nearest of a node's dominators is its immediate one; the immediate dominators form a tree.
 *
 * The algorithm is that of Lengauer and Tarjan ("A Fast Algorithm for Finding Dominators in a
 * Flowgraph", 1979) with path compression: O(edges * log nodes) for any graph.
 */
#ifndef TOOLS_DCFG_GRAPH_DOMINATORS_H
#define TOOLS_DCFG_GRAPH_DOMINATORS_H

#include "tools/dcfg/graph/digraph.h"

#include <stdbool.h>

struct dominators {
    uint32_t *immediate; /* by node; the root's is the root; DIGRAPH_NONE: unreachable */
    uint32_t *preorder;  /* reachable nodes, each before the nodes it dominates */
    uint32_t *begin;     /* by node: its index in preorder */
    uint32_t *end;       /* by node: index after the last node it dominates */
    uint32_t reached;    /* number of nodes in preorder */
};

/* 0 or BT_MEMORY; free with dominators_clear. */
int dominators_find(struct dominators *dominators, const struct digraph *graph, uint32_t root,
                    struct bt_error *error);
void dominators_clear(struct dominators *dominators);

static inline bool dominators_reached(const struct dominators *dominators, uint32_t node)
{
    return dominators->immediate[node] != DIGRAPH_NONE;
}

/* Whether a dominates b; a node dominates itself. Both are reachable. */
static inline bool dominates(const struct dominators *dominators, uint32_t a, uint32_t b)
{
    return dominators->begin[a] <= dominators->begin[b] &&
           dominators->begin[b] < dominators->end[a];
}

#endif
