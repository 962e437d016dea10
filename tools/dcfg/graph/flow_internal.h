/*
 * What flow.c, flow_graph.c and flow_replay.c share: the instructions and the edges between them.
 *
 * Instructions lie in one array in runs: each follows the one before it both in the array and in
 * memory, and did so in the stream too. Going on in a run costs one comparison, and counts nothing:
 * how often it happened is what came into an instruction less what left it on edges. Everything
 * else that happened is an edge between two instructions, found in the ring of its source's edges,
 * the one taken last first. There are no blocks until the end; so none is ever split.
 */
#ifndef TOOLS_DCFG_GRAPH_FLOW_INTERNAL_H
#define TOOLS_DCFG_GRAPH_FLOW_INTERNAL_H

#include "formats/base/named_fields.h"
#include "tools/dcfg/graph/flow.h"

/* The first two instructions are none: where every thread starts, and where it ends. */
#define START_INSTRUCTION 0u
#define END_INSTRUCTION   1u
#define FIRST_INSTRUCTION 2u

/* In an instruction's tag, above the octet of its size. */
#define TAG_USED   0x0100u /* not a hole between runs */
#define TAG_RUN    0x0200u /* goes on the run of the instruction before it */
#define TAG_CUT    0x0400u /* a block must end behind it */
#define TAG_LEADER 0x0800u /* starts a block; once the graph is made */
#define TAG_PLAIN  (TAG_USED | TAG_RUN | 0xffu)

struct instruction {
    uint32_t address;
    uint16_t tag;
    uint16_t spare;
    uint32_t edge; /* the one taken last of those that leave here; 0 for none */
};

struct edge {
    uint64_t count;  /* of the thread that took it first */
    uint32_t source; /* instructions */
    uint32_t target;
    uint32_t next;  /* the next edge of the same source, in a ring */
    uint32_t more;  /* the counts of the other threads: more * stride in flow->more; 0 for none */
    uint8_t thread; /* the one that took it first */
    bool known;     /* taken without a loss in between */
    bool inside;    /* joins two runs of one block, is none of the graph */
};

/* A run in a line of memory. */
struct NAMED_FIELDS flow_line {
    uint32_t line;
    uint32_t instruction; /* the run's first one there; 0 in an empty slot */
};

struct flow_thread {
    uint64_t seen;    /* fetches */
    uint64_t lost_at; /* what seen was at the last loss */
    uint32_t at;      /* the instruction fetched last */
    uint32_t room;    /* where its next new instructions go, */
    uint32_t room_end;
    uint8_t number; /* by first appearance */
};

struct flow {
    struct sink sink;                             /* takes fetches, as flow_put does */
    struct flow_thread threads[FLOW_THREADS_MAX]; /* by processor */
    struct instruction *instructions;
    struct edge *edges;
    uint64_t *more;          /* rows of stride counts */
    struct flow_line *lines; /* where instructions are, by address: a table */
    uint32_t *edge_table;    /* of those whose source has many */
    uint32_t instruction_count;
    uint32_t instruction_capacity;
    uint32_t edge_count;
    uint32_t edge_capacity;
    uint32_t more_count;
    uint32_t more_capacity;
    uint32_t stride;
    uint32_t line_slots; /* powers of two */
    uint32_t line_count;
    uint32_t edge_slots;
    uint32_t edges_in_table;
    uint32_t thread_count;
    uint64_t memory;
    uint64_t memory_max;
    struct bt_error broken; /* code is not 0 once something failed */

    /* the graph, and the way from instructions and edges to it */
    struct flow_block *blocks;
    struct flow_edge *graph_edges;
    uint64_t *counts;
    uint32_t *block_of;   /* by instruction: the block that starts or ends there */
    uint32_t *first_of;   /* by block: its first and last instruction */
    uint32_t *last_of;    /* */
    uint32_t *fall_of;    /* by block: the edge that goes on its run, or FLOW_NO_EDGE */
    uint32_t *graph_edge; /* by edge: the edge of the graph, or FLOW_NO_EDGE */
    uint32_t block_count;
    uint32_t graph_edge_count;
    uint8_t processors[FLOW_THREADS_MAX];
    uint64_t fetched[FLOW_THREADS_MAX];
    uint32_t first_instruction; /* fetched first of all */
};

/*
 * Makes room for wanted elements of size bytes in an array of have, within the memory of the flow;
 * what is new is zero. Returns the array, or NULL and flow->broken.
 */
void *flow_resize(struct flow *flow, void *array, size_t have, size_t wanted, size_t size);

/* Whether target is at the address behind source; never behind an instruction without a size. */
static inline bool flow_sequential(const struct instruction *source, uint32_t address)
{
    uint32_t size = source->tag & 0xffu;
    return size > 0 && (uint64_t)source->address + size == address;
}

/* Whether an instruction is the one that a record fetches. */
static inline bool flow_is(const struct instruction *instruction, const struct record *record)
{
    return instruction->address == record->address &&
           (instruction->tag & (TAG_USED | 0xffu)) == (TAG_USED | record->size);
}

/* The instruction that a record fetches, 0 if there is none yet. */
uint32_t flow_find_instruction(const struct flow *flow, const struct record *record);

/*
 * Makes the instruction that a record fetches, at thread->room - 1 then; run: it may go on the run
 * of the thread's last instruction, and does if there is room behind it. 0 or BT_MEMORY.
 */
int flow_add_instruction(struct flow *flow, struct flow_thread *thread, const struct record *record,
                         bool run);

/*
 * The edge from source to the instruction that record fetches, if it was taken before; else 0.
 * *target gets that instruction, 0 if there is none yet.
 */
uint32_t flow_find_edge(struct flow *flow, uint32_t source, const struct record *record,
                        uint32_t *target);

/* Makes an edge that there is none of, taken once. 0 or BT_MEMORY. */
int flow_add_edge(struct flow *flow, uint32_t source, uint32_t target, uint32_t thread, bool known);

/* Counts an edge for another thread than the one that took it first. 0 or BT_MEMORY. */
int flow_count_other(struct flow *flow, struct edge *edge, uint32_t thread);

#endif
