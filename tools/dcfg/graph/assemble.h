/*
 * Puts together what the parts know: blocks and edges from the flow, types, routines and loops,
 * images with their symbols and lines. The result keeps to what everybody's readers accept: START,
 * END and UNKNOWN are 1, 2 and 3, blocks have ids from 4 on, in order of their addresses but for
 * the block executed first, which is 4.
 */
#ifndef TOOLS_DCFG_GRAPH_ASSEMBLE_H
#define TOOLS_DCFG_GRAPH_ASSEMBLE_H

#include "formats/dcfg/dcfg.h"
#include "tools/dcfg/graph/flow.h"
#include "tools/symbols/image.h"

struct assemble_settings {
    uint64_t process_id;
    const char *unknown; /* what an image is called whose file is not known */
    uint64_t memory_max; /* bytes of the graph */
};

/* The id of an edge of the flow's graph in the DCFG, and so in its trace. */
static inline uint32_t assemble_edge_id(uint32_t edge)
{
    return edge + 1;
}

/*
 * Makes the sealed DCFG of a finished flow; images may be NULL. An
 * image whose first byte was executed begins up to a page lower, over what is there: readers take
 * offset 0 for none. 0, BT_MEMORY, BT_DATA (more than the format can hold, or code at address 0) or
 * what reading the images' names brings; dcfg_free is the caller's.
 */
int assemble_dcfg(struct dcfg **dcfg, const struct flow_graph *graph, const struct images *images,
                  const struct assemble_settings *settings, struct bt_error *error);

#endif
