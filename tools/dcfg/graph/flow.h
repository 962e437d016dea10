/*
 * Builds blocks and edges from instruction fetches, in memory proportional to the graph, not to the
 * stream. DCFG 1.00, sections 2.13 and 2.16, defines the use of blocks and edges.
 *
 * An instruction is identified by address and size: overlapping code with other boundaries and
 * modified code are different instructions. A fetch of size 0, unknown, is of the first
 * instruction at its address, which has the size of a later fetch if it has none. A block is a
 * longest straight-line sequence with one entry and one exit. The graph depends on the order of
 * each processor's fetches, not on their interleaving.
 */
#ifndef TOOLS_DCFG_GRAPH_FLOW_H
#define TOOLS_DCFG_GRAPH_FLOW_H

#include "formats/base/error.h"
#include "formats/base/named_fields.h"
#include "formats/record/sink.h"

#include <stdbool.h>

#define FLOW_PROCESSORS 256u        /* a processor id is an octet */
#define FLOW_START      0xfffffffeu /* source of the edges into each thread's first block */
#define FLOW_END        0xffffffffu /* target of the edges out of each thread's last one */
#define FLOW_NO_EDGE    0xffffffffu

/* Kind of an edge, by addresses and events alone. */
enum flow_kind {
    FLOW_ENTRY,         /* from FLOW_START */
    FLOW_EXIT,          /* to FLOW_END */
    FLOW_NEXT,          /* to the next address */
    FLOW_JUMP,          /* to another address */
    FLOW_SIGNAL,        /* into the handler of a signal */
    FLOW_SIGNAL_RETURN, /* out of it, by rt_sigreturn(2) */
    FLOW_UNKNOWN /* seen only across a loss or a gap: the instructions need not have followed each
                    other */
};

struct flow_block {
    uint64_t count; /* executions by all threads */
    uint64_t size;  /* in bytes */
    uint32_t address;
    uint32_t instructions; /* number of instructions */
    uint32_t last_offset;  /* offset in bytes of the last instruction */
    uint8_t last_size;     /* in bytes */
};

struct NAMED_FIELDS flow_edge {
    uint32_t source; /* index of a block, or FLOW_START */
    uint32_t target; /* index of a block, or FLOW_END */
    uint8_t kind;    /* enum flow_kind */
};

/* A block that a signal interrupted, and the block where execution continued after the handler. */
struct NAMED_FIELDS flow_resumption {
    uint32_t source; /* blocks */
    uint32_t target;
};

/* The finished graph; owned by the flow. */
struct flow_graph {
    const struct flow_block *blocks; /* sorted by address, then by the first instruction's size */
    size_t block_count;
    const struct flow_edge
        *edges; /* sorted by source, then target; each pair once; START is last */
    size_t edge_count;
    const uint64_t *counts; /* [edge * thread_count + thread] */
    size_t thread_count;
    const uint8_t *processors;    /* by thread, ascending; threads of a processor are in order */
    const uint64_t *instructions; /* fetches by thread */
    const struct flow_resumption *resumptions; /* each once, in no order */
    size_t resumption_count;
    uint32_t first_block; /* the block executed first; 0 for an empty graph */
};

struct flow;

/* Makes a flow that uses at most memory_max bytes. NULL and *error if that is too little. */
struct flow *flow_new(uint64_t memory_max, struct bt_error *error);
void flow_free(struct flow *flow);

/*
 * Puts the fetches of a batch; other requests are skipped. A thread is a processor id, until
 * EVENT_THREAD begins another one. The first fetch of a thread after a loss or a gap is reached by
 * a FLOW_UNKNOWN edge, unless the same edge also occurs without one. 0, or BT_MEMORY if the graph
 * exceeds its memory; the flow then accepts no more batches.
 */
int flow_put(struct flow *flow, const struct batch *batch, struct bt_error *error);

/*
 * Templates of blocks, for flow_put_execution. flow_templates_set takes those of other executions;
 * a template whose fetches are not the same in each execution, or follow each other in more than
 * a tick, or have no size, is irregular. NULL and *error without memory; 0 or BT_MEMORY.
 */
struct block_executions;
struct flow_templates;
struct flow_templates *flow_templates_new(struct bt_error *error);
void flow_templates_free(struct flow_templates *templates);
int flow_templates_set(struct flow_templates *templates, const struct block_executions *executions,
                       struct bt_error *error);
bool flow_template_is_regular(const struct flow_templates *templates, uint32_t number);

/* As flow_put of a batch with the records of an execution of a regular template, without loss, gap
 * or event before it. */
int flow_put_execution(struct flow *flow, struct flow_templates *templates, uint32_t number,
                       uint8_t processor, struct bt_error *error);

/* The flow as a sink: its put is flow_put. It is freed with the flow, not closed. */
struct sink *flow_sink(struct flow *flow);

/* Number of fetches so far. */
uint64_t flow_fetches(const struct flow *flow);

/* Iterates over the instructions: *at is 0 at first; returns false at the end. flow_set_size
 * sets the size of the instruction found last, *at, if it is 0, unknown. flow_end_block ends a
 * block after the instruction found last, *at. Both before flow_finish. */
bool flow_next_instruction(const struct flow *flow, uint32_t *at, uint32_t *address, uint8_t *size);
void flow_set_size(struct flow *flow, uint32_t at, uint8_t size);
void flow_end_block(struct flow *flow, uint32_t at);

/*
 * Makes each instruction that shares bytes with another one a block of its own: code that changed,
 * or a branch into an instruction. All other blocks then have bytes of their own, as section 2.13
 * demands. Before flow_finish. 0 or BT_MEMORY.
 */
int flow_part_shared(struct flow *flow, struct bt_error *error);

/* Ends the stream and makes the graph; call once. 0 or BT_MEMORY. */
int flow_finish(struct flow *flow, struct flow_graph *graph, struct bt_error *error);

/* Index of the first block at or after an address; block_count: none. */
uint32_t flow_find_block(const struct flow_graph *graph, uint64_t address);

/* Replays the stream through the finished graph, as edges. A flow supports one replay at a time,
 * because it holds the replay's state. */
struct flow_replay;

struct NAMED_FIELDS flow_step {
    uint32_t thread;
    uint32_t edge; /* index in the graph */
};

/* The flow must be finished and outlive the replay. NULL and *error without memory. */
struct flow_replay *flow_replay_new(struct flow *flow, struct bt_error *error);
void flow_replay_free(struct flow_replay *replay);

/* The edges taken in a batch, in order; steps has room for batch->count + 1, *count becomes their
 * number. 0, or BT_DATA if the stream differs from the graph's. */
int flow_replay_put(struct flow_replay *replay, const struct batch *batch, struct flow_step *steps,
                    size_t *count, struct bt_error *error);

/* The last edge of each thread that has not ended, to FLOW_END; steps has room for FLOW_PROCESSORS.
 * As in flow_replay_put. */
int flow_replay_end(struct flow_replay *replay, struct flow_step *steps, size_t *count,
                    struct bt_error *error);

#endif
