/*
 * Dominators: a node dominates another if every way from the root to that one goes through it. The
 * immediate dominator is the nearest of them; together they are a tree.
 *
 * The algorithm is Lengauer's and Tarjan's ("A Fast Algorithm for Finding Dominators in a
 * Flowgraph", 1979) with path compression: O(edges * log nodes) whatever the graph.
 */
#ifndef TOOLS_DCFG_GRAPH_DOMINATORS_H
#define TOOLS_DCFG_GRAPH_DOMINATORS_H

#include "tools/dcfg/graph/digraph.h"

#include <stdbool.h>

struct dominators {
    uint32_t *immediate; /* by node; the root's is the root; DIGRAPH_NONE where no way leads */
    uint32_t *preorder;  /* the nodes that can be reached, each before those it dominates */
    uint32_t *begin;     /* by node: its place in preorder, */
    uint32_t *end;       /* and the first place behind those it dominates */
    uint32_t reached;    /* how many are in preorder */
};

/* 0 or BT_MEMORY; free with dominators_clear. */
int dominators_find(struct dominators *dominators, const struct digraph *graph, uint32_t root,
                    struct bt_error *error);
void dominators_clear(struct dominators *dominators);

static inline bool dominators_reached(const struct dominators *dominators, uint32_t node)
{
    return dominators->immediate[node] != DIGRAPH_NONE;
}

/* Whether a dominates b, which it does if it is b. Both can be reached. */
static inline bool dominates(const struct dominators *dominators, uint32_t a, uint32_t b)
{
    return dominators->begin[a] <= dominators->begin[b] &&
           dominators->begin[b] < dominators->end[a];
}

#endif
