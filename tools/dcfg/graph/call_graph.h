/*
 * Which function calls which, how often, and what that costs in instructions. A function is what
 * has one symbol at the entries of its routines, or a routine without one.
 *
 * A graph has no stacks, so that what a function costs with all it calls is shared among its
 * callers by their counts. Functions that call each other in a circle cost what the circle does:
 * calls within it have no cost of their own.
 */
#ifndef TOOLS_DCFG_GRAPH_CALL_GRAPH_H
#define TOOLS_DCFG_GRAPH_CALL_GRAPH_H

#include "tools/dcfg/graph/graph_profile.h"
#include "tools/dcfg/graph/names.h"

struct call_function {
    uint32_t entry;     /* a block: the first in its memory that a routine begins with */
    uint64_t self;      /* instructions of its blocks */
    uint64_t inclusive; /* of the circle that it is in, if it is in one, and of all called */
};

/* An edge from a function to another, or a call of itself; jumps to others are calls too. */
struct graph_call {
    uint32_t caller, callee; /* functions */
    uint32_t source, target; /* blocks */
    uint64_t count;          /* never 0 */
    uint64_t cost;           /* the share of the callee's instructions and of what it calls */
};

struct call_graph {
    struct call_function *functions; /* in order of images and addresses */
    struct graph_call *calls;        /* by caller */
    uint32_t *function_of;           /* by block */
    uint32_t *blocks;                /* by function, then by address */
    uint32_t *first_block;           /* by function: where its blocks begin; and one more */
    uint32_t *first_call;            /* by function: where its calls begin; and one more */
    uint32_t function_count, call_count;
};

/* Makes the call graph of a process. 0 or BT_MEMORY; free with call_graph_clear. */
int call_graph_make(struct call_graph *graph, const struct graph_profile *profile,
                    const struct names *names, struct bt_error *error);
void call_graph_clear(struct call_graph *graph);

#endif
