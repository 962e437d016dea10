/*
 * Assembles the DCFG: blocks and edges from the flow, edge types, routines, loops, and images with
 * symbols and lines. The result suits all known readers: START, END and UNKNOWN are 1, 2 and 3;
 * blocks have ids from 4 on in order of addresses, except that the block executed first is 4.
 */
#ifndef TOOLS_DCFG_GRAPH_ASSEMBLE_H
#define TOOLS_DCFG_GRAPH_ASSEMBLE_H

#include "formats/dcfg/dcfg.h"
#include "tools/dcfg/graph/edge_types.h"

struct assemble_settings {
    uint64_t process_id;
    const char *unknown; /* name of an image without a file */
    uint64_t memory_max; /* limit of the graph, in bytes */
    enum unknown_branches unknown_branches;
};

/* The id of an edge of the flow's graph in the DCFG and in its trace. */
static inline uint32_t assemble_edge_id(uint32_t edge)
{
    return edge + 1;
}

/*
 * Makes the sealed DCFG of a finished flow; images may be NULL. An image whose first byte was
 * executed begins up to a page lower and may overlap another, because readers take offset 0 for
 * none. The caller frees it with dcfg_free. NULL and BT_MEMORY, BT_DATA (exceeds the format's
 * limits, or code at address 0), or the error of reading the images' names.
 */
int assemble_dcfg(struct dcfg **dcfg, const struct flow_graph *graph, const struct images *images,
                  const struct assemble_settings *settings, struct bt_error *error);

#endif
