/*
 * The calls of a thread that have not returned, and in each the branches that still decide what is
 * executed (B. Xin and X. Zhang, "Efficient Online Detection of Dynamic Control Dependence", 2007).
 * doc/wet.md, "Control".
 */
#ifndef TOOLS_WET_REPLAY_WET_CALLS_H
#define TOOLS_WET_REPLAY_WET_CALLS_H

#include "tools/wet/replay/wet_graph.h"

struct wet_instance {
    uint32_t id; /* 0: none */
    uint64_t instance;
};

/* A branch, and the node where it no longer decides. */
struct wet_deciding {
    uint32_t node, next; /* next WET_NODE_NONE: the function's end */
    struct wet_instance branch;
};

struct wet_frame {
    struct wet_instance call; /* none: of the first function, and of signal handlers */
    uint64_t back;            /* address after the call */
    uint32_t partition;       /* of the code that the call executes; UINT32_MAX: none yet */
    uint32_t base;            /* its branches begin here */
    bool is_signal;           /* a handler */
    uint8_t ending;           /* of a handler: of what it has interrupted, as in struct wet_calls */
    uint64_t stack;           /* of a handler: address of its frame */
};

struct wet_calls {
    struct wet_frame *frames; /* the first one is always there */
    uint32_t count, capacity;
    struct wet_deciding *branches;
    uint32_t branch_count, branch_capacity;
    uint8_t ending;   /* enum decode_kind of the last instruction executed */
    uint64_t address; /* of that instruction */
};

/* Makes the first frame, which `call` made. 0 or BT_MEMORY; clear it in either case. */
int wet_calls_init(struct wet_calls *calls, struct wet_instance call);
void wet_calls_clear(struct wet_calls *calls);
/* Replaces *to. 0 or BT_MEMORY. */
int wet_calls_copy(struct wet_calls *to, const struct wet_calls *from);

/* The graph was made again of more code: nodes have other numbers. */
void wet_calls_renumber(struct wet_calls *calls, const struct wet_graph *graph);

/* Execution arrives at the first instruction of a block: it returns from calls, or jumps. */
void wet_calls_arrive(struct wet_calls *calls, const struct wet_graph *graph,
                      const struct wet_code *code, uint32_t id);

/* An instruction begins a node: branches end that no longer decide. Returns what decided that it is
 * executed. */
struct wet_instance wet_calls_decided(struct wet_calls *calls, const struct wet_graph *graph,
                                      uint32_t node, bool begins_node);

/* The same, without an answer. */
static inline void wet_calls_pass(struct wet_calls *calls, uint32_t node)
{
    const uint32_t base = calls->frames[calls->count - 1].base;
    while (calls->branch_count > base && calls->branches[calls->branch_count - 1].next == node)
        calls->branch_count--;
}

/* The same as wet_calls_decided() for a node, or none, of a function where all paths end. */
static inline struct wet_instance wet_calls_decided_in(struct wet_calls *calls, uint32_t node,
                                                       bool begins_node)
{
    const struct wet_frame *top = &calls->frames[calls->count - 1];
    if (begins_node)
        wet_calls_pass(calls, node);
    return calls->branch_count > top->base ? calls->branches[calls->branch_count - 1].branch
                                           : top->call;
}

/* The last instruction of a block was executed. 0 or BT_MEMORY. */
int wet_calls_leave(struct wet_calls *calls, const struct wet_graph *graph,
                    const struct wet_flow *flow, const struct wet_instruction *instruction,
                    struct wet_instance last);

/* A signal handler begins. 0 or BT_MEMORY. */
int wet_calls_signal(struct wet_calls *calls, uint64_t stack);

/* The handler with a frame has ended, and what it has interrupted continues. False: there is none
 * such. */
bool wet_calls_return(struct wet_calls *calls, uint64_t stack);

#endif
