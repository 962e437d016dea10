/*
 * Types of the edges of a flow (DCFG 1.00, section 2.5), and its bypass edges.
 *
 * If the image of an edge's source is known, its last instruction determines the type; an edge that
 * this instruction cannot take is a context change. Without an image, an edge to the next address
 * is FALL_THROUGH; any other has the type that unknown_code.h finds, or is BRANCH, "any unknown
 * type of branch". UNKNOWN, "any unknown type of edge", is for edges seen only across a loss, which
 * control may never have taken.
 *
 * Signals are known from the capture's events, with and without an image: CONTEXT_CHANGE leads into
 * a handler, CONTEXT_CHANGE_RETURN out of it, and CONTEXT_CHANGE_BYPASS from the interrupted block
 * to the one where execution continued.
 *
 * Other bypasses are found without a call stack: the block after a call is reached by a bypass
 * exactly if a return goes there. Their counts are 0, because the call and the return are counted
 * (section 2.16). If a call is followed directly by the block after it, the callee is not in the
 * stream; that edge is the bypass and has its count.
 */
#ifndef TOOLS_DCFG_GRAPH_EDGE_TYPES_H
#define TOOLS_DCFG_GRAPH_EDGE_TYPES_H

#include "formats/base/named_fields.h"
#include "tools/dcfg/graph/flow.h"
#include "tools/dcfg/graph/unknown_code.h"
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

/* Comparison of the fetched instructions with the images; each instruction counts once. */
struct image_matches {
    uint64_t instructions; /* all instructions */
    uint64_t outside;      /* in no image */
    uint64_t different;    /* the image has a different or no instruction there */
};

/* Ends blocks after branches and at the bounds of images; call before flow_finish. images may be
 * NULL. */
void edge_types_end_blocks(struct flow *flow, const struct images *images,
                           struct image_matches *matches);

/* 0 or BT_MEMORY; free with edge_types_clear. images may be NULL. */
int edge_types_find(struct edge_types *types, const struct flow_graph *graph,
                    const struct images *images, enum unknown_branches unknown,
                    struct bt_error *error);
void edge_types_clear(struct edge_types *types);

#endif
