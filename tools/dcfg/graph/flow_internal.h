/*
 * Shared by flow.c, flow_graph.c and flow_replay.c: instructions and the edges between them.
 *
 * Instructions are stored in one array, in runs: each instruction follows its predecessor in the
 * array, in memory and in the stream. A step within a run costs one comparison and counts nothing:
 * its count is the sum of the edges into the instruction minus those out of it. All other steps are
 * edges between two instructions, kept in a ring for each source, the last taken first. Blocks are
 * made only at the end, so that none is ever split.
 */
#ifndef TOOLS_DCFG_GRAPH_FLOW_INTERNAL_H
#define TOOLS_DCFG_GRAPH_FLOW_INTERNAL_H

#include "formats/base/hash_index.h"
#include "tools/dcfg/graph/flow.h"

/* The first two instructions are pseudo-instructions: start and end of each thread. */
#define START_INSTRUCTION 0u
#define END_INSTRUCTION   1u
#define FIRST_INSTRUCTION 2u

/* Flags of an instruction's tag, above the octet of its size. */
#define TAG_USED   0x0100u /* not a hole between runs */
#define TAG_RUN    0x0200u /* continues the run of the previous instruction */
#define TAG_CUT    0x0400u /* a block must end after it */
#define TAG_LEADER 0x0800u /* starts a block; valid once the graph is made */
#define TAG_FIRST                                                                                  \
    0x1000u /* the first instruction made at its address: the one of fetches of size 0 */
#define TAG_ALONE 0x2000u /* a block of its own */
#define TAG_PLAIN (TAG_USED | TAG_RUN | 0xffu)

struct instruction {
    uint32_t address;
    uint16_t tag;
    uint16_t spare;
    uint32_t edge; /* outgoing edge taken last; 0: none */
};

struct edge {
    uint64_t count;  /* by the first thread that took it */
    uint32_t source; /* instructions */
    uint32_t target;
    uint32_t next;   /* next edge of the same source, in a ring */
    uint32_t more;   /* counts of the other threads: flow->more[more * stride]; 0: none */
    uint32_t thread; /* first thread that took it */
    uint8_t ways;    /* bits of enum way: how it was taken */
    bool inside;     /* joins two runs of one block; not part of the graph */
};

/* How control went from an instruction to the next fetched one. */
enum way {
    WAY_STEP = 1, /* by the instruction */
    WAY_SIGNAL = 2,
    WAY_SIGNAL_RETURN = 4,
    WAY_LOST = 8 /* across a loss */
};

/* Instructions that a signal interrupted, whose handlers have not returned; the last one is
 * depth - 1, modulo FLOW_HANDLERS. Handlers left by longjmp(3) stay until they are overwritten. */
#define FLOW_HANDLERS 64u
struct flow_handlers {
    uint32_t interrupted[FLOW_HANDLERS];
    uint32_t depth, count;
};

struct flow_thread {
    uint64_t seen;    /* number of fetches */
    uint64_t lost_at; /* value of `seen` at the last loss */
    uint32_t at;      /* last instruction fetched */
    uint32_t room;    /* index of its next new instruction */
    uint32_t room_end;
    uint32_t number;                /* by order of appearance */
    struct flow_handlers *handlers; /* NULL: no signal so far */
};

/* A thread, by number. */
struct flow_life {
    uint64_t seen; /* number of fetches; valid once it has ended */
    uint8_t processor;
};

/* A signal's interrupted instruction, and the one at which the handler returned. */
struct flow_return {
    uint32_t source;
    uint32_t target;
};

struct flow {
    struct sink sink;                            /* takes fetches, as flow_put does */
    struct flow_thread threads[FLOW_PROCESSORS]; /* the last of each processor */
    struct flow_life *lives;                     /* by thread number */
    uint32_t life_capacity;
    struct flow_return *returns;
    uint32_t return_count;
    uint32_t return_capacity;
    struct hash_index by_return; /* returns, by both instructions */
    struct instruction *instructions;
    struct edge *edges;
    uint64_t *more;            /* rows of `stride` counts */
    struct hash_index by_line; /* first instruction of each run in each line of memory */
    struct hash_index by_ends; /* edges whose source has many, by source and target */
    uint32_t instruction_count;
    uint32_t instruction_capacity;
    uint32_t edge_count;
    uint32_t edge_capacity;
    uint32_t more_count;
    uint32_t more_capacity;
    uint32_t stride;
    uint32_t thread_count;
    uint64_t memory;
    uint64_t memory_max;
    struct bt_error broken; /* error of an earlier call; code 0: none */

    /* the graph, and the mapping of instructions and edges to it */
    struct flow_block *blocks;
    struct flow_edge *graph_edges;
    uint64_t *counts;
    uint32_t *block_of;   /* by instruction: the block that starts or ends there */
    uint32_t *first_of;   /* by block: its first instruction */
    uint32_t *last_of;    /* by block: its last instruction */
    uint32_t *fall_of;    /* by block: the edge to the next block of its run, or FLOW_NO_EDGE */
    uint32_t *graph_edge; /* by edge: the edge of the graph, or FLOW_NO_EDGE */
    uint32_t block_count;
    uint32_t graph_edge_count;
    uint8_t *processors; /* by thread of the graph */
    uint64_t *fetched;
    struct flow_resumption *resumptions;
    uint32_t resumption_count;
    uint32_t first_instruction; /* first instruction of the stream */
};

/* Resizes an array from `have` to `wanted` elements of size bytes, within the flow's memory limit;
 * new elements are zero. Returns the array, or NULL and flow->broken. */
void *flow_resize(struct flow *flow, void *array, size_t have, size_t wanted, size_t size);

/* Whether address directly follows source; false for an instruction of unknown size. */
static inline bool flow_sequential(const struct instruction *source, uint32_t address)
{
    uint32_t size = source->tag & 0xffu;
    return size > 0 && (uint64_t)source->address + size == address;
}

/* Whether a record fetches this instruction. */
static inline bool flow_is(const struct instruction *instruction, const struct record *record)
{
    uint32_t size = instruction->tag & 0xffu;
    return instruction->address == record->address && (instruction->tag & TAG_USED) &&
           (size == record->size || size == 0 ||
            (record->size == 0 && (instruction->tag & TAG_FIRST)));
}

/* Puts a fetch without an event before it that is not the next one of its thread's run. 0 or
 * BT_MEMORY. */
int flow_step(struct flow *flow, struct flow_thread *thread, const struct record *record);

/* Whether a fetch is of the next instruction of the run. */
static inline bool flow_is_next(const struct instruction *next, const struct record *record)
{
    return next->address == record->address &&
           (next->tag & TAG_PLAIN) == (TAG_USED | TAG_RUN | record->size);
}

/* The instruction that a record fetches; 0 if it is new. */
uint32_t flow_find_instruction(const struct flow *flow, const struct record *record);

/* Adds the instruction that a record fetches, at thread->room - 1 afterwards. run: continue the run
 * of the thread's last instruction if there is room after it. 0 or BT_MEMORY. */
int flow_add_instruction(struct flow *flow, struct flow_thread *thread, const struct record *record,
                         bool run);

/* The edge from source to the instruction that record fetches, or 0. *target becomes that
 * instruction, 0 if it is new. */
uint32_t flow_find_edge(struct flow *flow, uint32_t source, const struct record *record,
                        uint32_t *target);

/* Adds a new edge, with count 1. 0 or BT_MEMORY. */
int flow_add_edge(struct flow *flow, uint32_t source, uint32_t target, uint32_t thread,
                  enum way way);

/* The edge from an instruction to END_INSTRUCTION; 0: none. */
uint32_t flow_exit_edge(const struct flow *flow, uint32_t source);

/* Adds a thread of a processor; its number is flow->thread_count - 1. 0 or BT_MEMORY. */
int flow_add_thread(struct flow *flow, uint8_t processor);

/* Adds the edge from the last instruction of a processor's thread, if there is one, to END, and
 * ends the thread. 0 or BT_MEMORY. */
int flow_end_thread(struct flow *flow, struct flow_thread *thread);

/* Notes a signal after the thread's last instruction, or the return of its handler to target. 0 or
 * BT_MEMORY. */
int flow_note_signal(struct flow *flow, struct flow_thread *thread);
int flow_note_return(struct flow *flow, struct flow_thread *thread, uint32_t target);

/* Counts an edge for a thread other than the first one that took it. 0 or BT_MEMORY. */
int flow_count_other(struct flow *flow, struct edge *edge, uint32_t thread);

#endif
