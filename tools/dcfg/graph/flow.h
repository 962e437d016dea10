/*
 * From instruction fetches to blocks and edges: what the stream of each processor says of its
 * control flow, in memory proportional to the graph, not to the stream. DCFG 1.00, sections 2.13
 * and 2.16, says what the blocks and edges are for.
 *
 * An instruction is an address and a size: code that overlaps with other boundaries, and code that
 * was changed, are other instructions. A block is the longest row of instructions at successive
 * addresses that was only ever entered at its first and left behind its last one. The graph depends
 * on what each processor fetched in which order, not on how their fetches interleave.
 */
#ifndef TOOLS_DCFG_GRAPH_FLOW_H
#define TOOLS_DCFG_GRAPH_FLOW_H

#include "formats/base/error.h"
#include "formats/base/named_fields.h"
#include "formats/record/sink.h"

#include <stdbool.h>

#define FLOW_THREADS_MAX 256u        /* a processor id is an octet */
#define FLOW_START       0xfffffffeu /* source of the edges into each thread's first block */
#define FLOW_END         0xffffffffu /* target of the edges out of each thread's last one */
#define FLOW_NO_EDGE     0xffffffffu

/* What is known of an edge from addresses alone. */
enum flow_kind {
    FLOW_ENTRY,  /* from FLOW_START */
    FLOW_EXIT,   /* to FLOW_END */
    FLOW_NEXT,   /* to the next address */
    FLOW_JUMP,   /* to another address */
    FLOW_UNKNOWN /* only ever seen across a loss or a gap: not what followed, but what came next */
};

struct flow_block {
    uint64_t count; /* executions, by all threads */
    uint64_t size;  /* bytes */
    uint32_t address;
    uint32_t instructions; /* how many */
    uint32_t last_offset;  /* of the last instruction, bytes from the first one */
    uint8_t last_size;     /* bytes of the last instruction */
};

struct NAMED_FIELDS flow_edge {
    uint32_t source; /* index of a block, or FLOW_START */
    uint32_t target; /* index of a block, or FLOW_END */
    uint8_t kind;    /* enum flow_kind */
};

/* The finished graph. All of it belongs to the flow. */
struct flow_graph {
    const struct flow_block *blocks; /* in order of address, then of the first instruction's size */
    size_t block_count;
    const struct flow_edge *edges; /* by source, then target, each pair once; START is last */
    size_t edge_count;
    const uint64_t *counts; /* [edge * thread_count + thread] */
    size_t thread_count;
    const uint8_t *processors;    /* [thread]: ascending */
    const uint64_t *instructions; /* [thread]: fetched */
    uint32_t first_block;         /* the block executed first; 0 where there is none */
};

struct flow;

/* A flow that uses at most memory_max bytes. NULL and *error if there are not even a few. */
struct flow *flow_new(uint64_t memory_max, struct bt_error *error);
void flow_free(struct flow *flow);

/*
 * Takes the fetches of a batch; other requests are passed over. A thread is a processor id. The
 * first fetch of each thread behind a loss or a gap is reached by an edge that is FLOW_UNKNOWN,
 * unless the same edge is also seen without one. 0, or BT_MEMORY if the graph outgrows its memory;
 * nothing can be put any more then.
 */
int flow_put(struct flow *flow, const struct batch *batch, struct bt_error *error);

/* The flow as a sink: its put is flow_put. It is freed with the flow, not closed. */
struct sink *flow_sink(struct flow *flow);

/* Fetches taken so far. */
uint64_t flow_fetches(const struct flow *flow);

/*
 * The instructions, for whoever knows what they do: calls next with *at = 0 at first until it
 * returns false. flow_end_block says that a block must end behind the instruction found last, *at;
 * before flow_finish.
 */
bool flow_next_instruction(const struct flow *flow, uint32_t *at, uint32_t *address, uint8_t *size);
void flow_end_block(struct flow *flow, uint32_t at);

/* Ends the stream and makes the graph, once. 0 or BT_MEMORY. */
int flow_finish(struct flow *flow, struct flow_graph *graph, struct bt_error *error);

/*
 * The walk through the finished graph: the same stream again, as edges. One replay at a time for a
 * flow, which it keeps its places in.
 */
struct flow_replay;

struct NAMED_FIELDS flow_step {
    uint32_t thread;
    uint32_t edge; /* index in the graph */
};

/* NULL and *error (no memory) on failure. The flow is finished and outlives the replay. */
struct flow_replay *flow_replay_new(struct flow *flow, struct bt_error *error);
void flow_replay_free(struct flow_replay *replay);

/*
 * The edges taken in a batch, in order; steps has room for batch->count. *count gets how many. 0,
 * or BT_DATA if this is not the stream that the graph was made of.
 */
int flow_replay_put(struct flow_replay *replay, const struct batch *batch, struct flow_step *steps,
                    size_t *count, struct bt_error *error);

/* The last edge of each thread, to FLOW_END; steps has room for thread_count. As flow_replay_put.
 */
int flow_replay_end(struct flow_replay *replay, struct flow_step *steps, size_t *count,
                    struct bt_error *error);

#endif
