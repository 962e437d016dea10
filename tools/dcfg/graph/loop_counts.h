/* How often the loops of a graph were entered and went round. */
#ifndef TOOLS_DCFG_GRAPH_LOOP_COUNTS_H
#define TOOLS_DCFG_GRAPH_LOOP_COUNTS_H

#include "tools/dcfg/graph/graph_profile.h"

struct loop_count {
    uint32_t parent;       /* a number in process->loops, DCFG_NONE for an outer loop */
    uint32_t depth;        /* 1 for an outer loop */
    uint32_t routine;      /* a number in process->routines */
    uint64_t entries;      /* to the head from outside the loop */
    uint64_t back;         /* to the head from within */
    uint64_t instructions; /* in the loop's blocks, inner loops' too, not in what they call */
};

/*
 * Counts for each of process->loops, in memory of the caller's to free. Returning from a call takes
 * the program to the head from where the call was made: within, if its bypass is a back edge. Of
 * several loops with one head, which a sound graph has none of, the first is counted. NULL and
 * *error without memory.
 */
struct loop_count *loop_counts_make(const struct graph_profile *profile, struct bt_error *error);

#endif
