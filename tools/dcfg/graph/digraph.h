/* A directed graph of numbered nodes, with successors and predecessors. */
#ifndef TOOLS_DCFG_GRAPH_DIGRAPH_H
#define TOOLS_DCFG_GRAPH_DIGRAPH_H

#include "formats/base/error.h"

#include <stddef.h>
#include <stdint.h>

#define DIGRAPH_NONE UINT32_MAX /* no node */

struct digraph {
    uint32_t nodes;
    uint32_t *first_successor; /* nodes + 1 elements; those of n begin at
                                  successors[first_successor[n]] */
    uint32_t *successors;
    uint32_t *first_predecessor;
    uint32_t *predecessors;
};

/* Makes a graph of edges from sources[i] to targets[i], both below nodes; duplicate edges are
 * allowed. nodes and edges are below 2^32 - 1. 0 or BT_MEMORY; free with digraph_clear. */
int digraph_make(struct digraph *graph, uint32_t nodes, const uint32_t *sources,
                 const uint32_t *targets, size_t edges, struct bt_error *error);
void digraph_clear(struct digraph *graph);

#endif
