/*
 * Call graph with counts and costs in instructions. A function consists of the routines whose
 * entries have the same symbol, or of one routine without a symbol.
 *
 * A graph has no call stacks: the inclusive cost of a function is divided among its callers in
 * proportion to their counts. Functions that call each other recursively share the cost of the
 * whole cycle; calls within it have no cost.
 */
#ifndef TOOLS_DCFG_GRAPH_CALL_GRAPH_H
#define TOOLS_DCFG_GRAPH_CALL_GRAPH_H

#include "tools/dcfg/graph/graph_profile.h"
#include "tools/dcfg/graph/names.h"

struct call_function {
    uint32_t entry;     /* first block, by address, that is a routine's entry */
    uint64_t self;      /* instructions of its blocks */
    uint64_t inclusive; /* including callees; for a recursive function, of the whole cycle */
    uint64_t entered;   /* times: calls, also by itself; jumps from other functions; starts of
                           threads. Saturates */
};

/* A call from one function to another or itself; jumps between functions count as calls. */
struct graph_call {
    uint32_t caller, callee; /* functions */
    uint32_t source, target; /* blocks */
    uint64_t count;          /* not 0 */
    uint64_t cost;           /* share of the callee's inclusive cost */
};

struct call_graph {
    struct call_function *functions; /* in order of images and addresses */
    struct graph_call *calls;        /* sorted by caller */
    uint32_t *function_of;           /* by block */
    uint32_t *blocks;                /* sorted by function, then by address */
    uint32_t *first_block;           /* by function, and one more: index of its first block */
    uint32_t *first_call;            /* by function, and one more: index of its first call */
    uint32_t function_count, call_count;
};

/* Makes the call graph of a process. 0 or BT_MEMORY; free with call_graph_clear. */
int call_graph_make(struct call_graph *graph, const struct graph_profile *profile,
                    const struct names *names, struct bt_error *error);
void call_graph_clear(struct call_graph *graph);

#endif
