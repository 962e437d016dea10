/*
 * Regions of a graph (region_tree.h) as acyclic graphs, with bounds on how often each edge was
 * taken.
 *
 * What returns to the head of a loop ends one pass through the region and begins the next one, as
 * does a hole of the capture. Where a region has another cycle (an irreducible loop), a depth-first
 * search from the head or entry, in the order of nodes, finds the edges that lead back; they end a
 * pass, too.
 *
 * Bypasses of calls have no counts in a graph: their bounds follow from the returns to their
 * target, each of which counts for a call with that bypass.
 */
#ifndef TOOLS_DCFG_GRAPH_REGION_FLOW_H
#define TOOLS_DCFG_GRAPH_REGION_FLOW_H

#include "tools/dcfg/graph/region_tree.h"

/* Passes from source to target within a region. */
struct region_edge {
    uint32_t region;
    uint32_t source;       /* a node; DCFG_NONE: the pass begins at the target */
    uint32_t target;       /* a node; DCFG_NONE: the pass ends at the source */
    uint64_t lower, upper; /* bounds; upper is not 0 */
};

struct region_flow {
    const struct graph_profile *profile;
    struct region_tree tree;
    uint64_t *upper;           /* by node: bound of its executions; a loop's are its entries */
    struct region_edge *edges; /* sorted by region, then by upper, the highest first */
    size_t edge_count;
};

/* 0 or BT_MEMORY; free with region_flow_clear. */
int region_flow_make(struct region_flow *flow, const struct graph_profile *profile,
                     struct bt_error *error);
void region_flow_clear(struct region_flow *flow);

#endif
