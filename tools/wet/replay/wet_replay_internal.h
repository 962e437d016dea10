/* Shared by the files of a replay. */
#ifndef TOOLS_WET_REPLAY_WET_REPLAY_INTERNAL_H
#define TOOLS_WET_REPLAY_WET_REPLAY_INTERNAL_H

#include "formats/wet/wet_sequence.h"
#include "tools/wet/replay/wet_registers.h"
#include "tools/wet/replay/wet_replay.h"

/* What a signal handler has interrupted. */
struct wet_saved {
    uint64_t stack; /* address of the handler's frame */
    struct wet_instance last;
    struct wet_registers registers;
};

struct wet_replay_thread {
    uint32_t number;
    struct wet_context context;
    struct wet_registers registers;
    struct wet_calls calls;
    struct wet_instance last; /* executed instruction */
    struct wet_saved *saved;
    size_t saved_count, saved_capacity;
};

struct wet_replay {
    struct wet_trace *trace;
    unsigned wanted;
    bool reads_labels;
    const struct wet_replay_operations *operations;
    void *context;

    size_t next; /* number of the next chunk */
    uint64_t instructions;
    uint64_t *counts; /* by id */
    size_t id_count, port_count;
    struct wet_replay_thread **threads, *thread;
    size_t thread_count, thread_capacity;

    /* of the current chunk */
    struct wet_chunk chunk;
    struct wet_sequence sequence;
    struct wet_cursor events;
    uint32_t last_id;
    bool has_gap;                       /* and no block since then */
    struct wet_outcomes *outcomes;      /* by id */
    struct wet_cursor *outcome_cursors; /* by id */
    struct wet_port *ports;
    struct wet_cursor *label_cursors; /* by port */
    uint64_t *left;                   /* by block: executions still to come */

    /* of the current instruction */
    struct wet_ranges writers;
    struct wet_ranges label; /* of one memory port */
    uint32_t ends[DATA_FLOW_PARTS];

    struct wet_replay_values *values; /* NULL: not wanted */
};

/* --- values (wet_replay_values.c) --------------------------------------------------------------
 * Nothing happens without values. 0 or a negative code. */

int wet_values_new(struct wet_replay *replay);
void wet_values_free(struct wet_replay *replay);
int wet_values_begin(struct wet_replay *replay); /* a chunk */
int wet_values_switch(struct wet_replay *replay, uint32_t thread);
int wet_values_fork(struct wet_replay *replay, uint32_t thread, uint32_t parent);
int wet_values_result(struct wet_replay *replay, uint64_t value);
/* at: the instruction's place in wet_code.ids. *value: valid until the next one; NULL: none. */
int wet_values_get(struct wet_replay *replay, uint32_t at, bool defines, const uint8_t **value);

#endif
