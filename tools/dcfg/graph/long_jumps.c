#include "tools/dcfg/graph/long_jumps.h"

#include "formats/dcfg/dcfg_edge_type.h"

#include <stdlib.h>

/* What is known of a block, as bits. */
enum note {
    NOTE_RETURN_SITE = 1, /* calls return to it */
    NOTE_OTHER_JUMPS = 2  /* an indirect jump out of it is no return */
};

static bool leaves_function(const struct function_starts *starts,
                            const struct routines_graph *graph, const struct flow_graph *flow,
                            size_t edge)
{
    uint32_t from = graph->images[graph->sources[edge]];
    uint32_t to = graph->images[graph->targets[edge]];
    const struct flow_block *source = &flow->blocks[graph->sources[edge]];
    const struct flow_block *target = &flow->blocks[graph->targets[edge]];
    return from != to ||
           function_starts_find(starts, from, (uint64_t)source->address + source->last_offset) !=
               function_starts_find(starts, to, target->address);
}

int long_jumps_find(uint8_t *types, const struct function_starts *starts,
                    const struct routines_graph *graph, const struct flow_graph *flow)
{
    uint8_t *notes = calloc(graph->nodes + 1u, 1);
    if (!notes)
        return BT_MEMORY;
    for (size_t e = 0; e < graph->edges; e++)
        if (types[e] == DCFG_EDGE_CALL_BYPASS)
            notes[graph->targets[e]] |= NOTE_RETURN_SITE;
    for (size_t e = 0; e < graph->edges; e++)
        if (types[e] == DCFG_EDGE_INDIRECT_UNCONDITIONAL_BRANCH &&
            (!(notes[graph->targets[e]] & NOTE_RETURN_SITE) ||
             !leaves_function(starts, graph, flow, e)))
            notes[graph->sources[e]] |= NOTE_OTHER_JUMPS;
    for (size_t e = 0; e < graph->edges; e++)
        if (types[e] == DCFG_EDGE_INDIRECT_UNCONDITIONAL_BRANCH &&
            !(notes[graph->sources[e]] & NOTE_OTHER_JUMPS))
            types[e] = DCFG_EDGE_RETURN;
    free(notes);
    return 0;
}
