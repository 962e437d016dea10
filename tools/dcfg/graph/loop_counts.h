/* Entries and iterations of the loops of a graph. */
#ifndef TOOLS_DCFG_GRAPH_LOOP_COUNTS_H
#define TOOLS_DCFG_GRAPH_LOOP_COUNTS_H

#include "tools/dcfg/graph/irreducible.h"

struct loop_count {
    uint32_t parent;       /* index among the counts; DCFG_NONE: an outer loop */
    uint32_t depth;        /* 1 for an outer loop */
    uint32_t routine;      /* index in process->routines; DCFG_NONE: none */
    uint64_t entries;      /* from outside of the loop to its head */
    uint64_t back;         /* from within the loop to its head */
    bool is_no_loop;       /* only gaps of the capture, and handlers, lead back to the head */
    uint64_t instructions; /* of the loop's blocks, including inner loops, without calls */
};

/* Number of iterations: each time the head is executed. An irreducible loop has at least one for
 * each entry. */
uint64_t loop_count_iterations(const struct loop_count *count);

/*
 * Counts each of process->loops, then each of the irreducible loops, unless these are NULL. An
 * irreducible loop is the parent of the loops in it. The caller frees the result. A return to the
 * head counts as coming from the call: from within the loop if its bypass is a back edge; a return
 * from a handler, if a block of the loop was interrupted. After a gap the loop is entered anew. Of
 * several loops with the same head, which a valid graph does not have, the first one is counted.
 * NULL and *error without memory.
 */
struct loop_count *loop_counts_make(const struct graph_profile *profile,
                                    const struct irreducible_loops *irreducible,
                                    struct bt_error *error);

#endif
