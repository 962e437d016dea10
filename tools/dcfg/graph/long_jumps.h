/*
 * Returns by a jump: longjmp jumps to the return site of a call of setjmp, in another function.
 * Such an edge becomes a RETURN, "usually from a called routine" (DCFG 1.00, section 2.5). As a
 * branch it would enter a routine at a second place, which section 2.14 forbids, and the rest of
 * the function, with its loops, would be divided into routines.
 */
#ifndef TOOLS_DCFG_GRAPH_LONG_JUMPS_H
#define TOOLS_DCFG_GRAPH_LONG_JUMPS_H

#include "tools/dcfg/graph/tail_calls.h"

/* Changes the types of the indirect jumps out of a block to RETURN if all of them lead to return
 * sites (targets of CALL_BYPASS) in other functions. types are those of graph; the nodes of graph
 * are the blocks of flow. 0 or BT_MEMORY. */
int long_jumps_find(uint8_t *types, const struct function_starts *starts,
                    const struct routines_graph *graph, const struct flow_graph *flow);

#endif
