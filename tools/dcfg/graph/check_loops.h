/* Compares the loops of a routine with computed ones; for check_routines.c. */
#ifndef TOOLS_DCFG_GRAPH_CHECK_LOOPS_H
#define TOOLS_DCFG_GRAPH_CHECK_LOOPS_H

#include "tools/dcfg/graph/check_internal.h"
#include "tools/dcfg/graph/loops.h"

struct check_loops {
    struct check *check;
    const struct check_process *view;
    uint32_t routine;
    const uint32_t *owner; /* by block: its routine plus 1 */
    const uint32_t *local; /* by block: its number in the routine and in the routine's graph */
};

/* 0 or BT_MEMORY. */
int check_loops(const struct check_loops *loops, const struct digraph *graph,
                const struct dominators *dominators, struct bt_error *error);

#endif
