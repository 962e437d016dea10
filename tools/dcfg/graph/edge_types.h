/*
 * What the edges of a flow are (DCFG 1.00, section 2.5), and those that nobody took: the bypasses.
 *
 * Where the image of an edge's source is known, its last instruction says what the edge is; what
 * that instruction cannot do is a change of context. Where it is not known, going on at the next
 * address is FALL_THROUGH, and anything else is BRANCH, "any unknown type of branch": control went
 * elsewhere, and nothing tells how. UNKNOWN, "any unknown type of edge", is kept for edges that
 * were only seen across a loss: not even that control went this way is known of them.
 *
 * Bypasses are found in the graph, without a stack of calls: the block behind a call comes back
 * from it exactly if a return goes there. Their counts are 0, since the call and the return have
 * them (section 2.16). Where a call is followed by the block behind it, whatever was called is not
 * in the stream; then that edge is the bypass, and has its count.
 */
#ifndef TOOLS_DCFG_GRAPH_EDGE_TYPES_H
#define TOOLS_DCFG_GRAPH_EDGE_TYPES_H

#include "formats/base/named_fields.h"
#include "tools/dcfg/graph/flow.h"
#include "tools/symbols/image.h"

struct NAMED_FIELDS edge_bypass {
    uint32_t source; /* blocks */
    uint32_t target;
    uint8_t type; /* enum dcfg_edge_type */
};

struct edge_types {
    uint8_t *types; /* enum dcfg_edge_type, by edge of the flow's graph */
    struct edge_bypass *bypasses;
    size_t bypass_count;
};

/* What the images have of the instructions that were fetched, each counted once. */
struct image_matches {
    uint64_t instructions; /* all */
    uint64_t outside;      /* in no image */
    uint64_t different;    /* in one that has another instruction there, or none */
};

/* Ends blocks behind branches, and where an image begins or ends; before flow_finish. images may be
 * NULL. */
void edge_types_end_blocks(struct flow *flow, const struct images *images,
                           struct image_matches *matches);

/* 0 or BT_MEMORY; free with edge_types_clear. images may be NULL. */
int edge_types_find(struct edge_types *types, const struct flow_graph *graph,
                    const struct images *images, struct bt_error *error);
void edge_types_clear(struct edge_types *types);

#endif
