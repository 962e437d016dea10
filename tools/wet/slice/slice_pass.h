/*
 * Reads the chunks of a WET file forwards, as a replay does, but block by block: to find out in
 * what state each chunk begins, and to record what a walk backwards needs of a chunk.
 */
#ifndef TOOLS_WET_SLICE_SLICE_PASS_H
#define TOOLS_WET_SLICE_SLICE_PASS_H

#include "formats/wet/wet_sequence.h"
#include "tools/wet/slice/slice_code.h"
#include "tools/wet/slice/slice_labels.h"

/* An event, with what must be known to undo it. */
struct slice_event {
    uint32_t thread; /* before a switch */
    uint64_t number; /* clone: the new thread; signal: the depth of handlers in it; return: that of
                        the handler that has ended, 0: it is unknown */
    struct wet_instance last; /* clone: the instance that made the thread */
};

/* What happened in a chunk. Zeroed is empty. */
struct slice_record {
    uint32_t *entries; /* blocks and events, numbered as in the sequence */
    size_t entry_count, entry_capacity;
    struct slice_event *events; /* of the entries that are events */
    size_t event_count, event_capacity;
    struct wet_instance *controls; /* of each execution of a block: one for each section */
    size_t control_count, control_capacity;
    uint8_t *tops; /* of x87's stack, before each execution of a block that needs it */
    size_t top_count, top_capacity;
    uint32_t thread; /* that was executed last */
};

void slice_record_clear(struct slice_record *record);

/* What a signal handler has interrupted. */
struct slice_saved {
    uint64_t stack; /* address of the handler's frame */
    struct wet_instance last;
    uint8_t top;
};

struct slice_thread {
    struct wet_context context;
    struct wet_calls calls;
    struct wet_instance last; /* executed instruction; id 0: none */
    uint8_t top;
    struct slice_saved *saved;
    size_t saved_count, saved_capacity;
};

/* The threads at some point. Zeroed: none. */
struct slice_state {
    struct slice_thread **threads; /* by number; NULL: not executed so far */
    size_t count, capacity;
};

void slice_state_clear(struct slice_state *state);

struct slice_pass {
    struct wet_trace *trace;
    const struct slice_code *code;
    bool wants_control;
    struct slice_state state;
    uint32_t thread;  /* the current one */
    uint64_t *counts; /* by id: instances so far; the caller's, but for chunks without a record
                         those of the last instructions of blocks */

    /* private */
    struct wet_chunk chunk;
    struct wet_sequence sequence;
    struct wet_cursor events;
    uint64_t *left; /* by block: executions still to come in the chunk */
    struct slice_labels *labels;
    struct slice_record *record; /* NULL: not wanted */
    uint64_t instructions;       /* in the chunk */
};

/* At the start of the file. The trace and the code are the caller's. 0 or BT_MEMORY; clear it in
 * either case. labels: the caller's, or NULL if no record is wanted. */
int slice_pass_init(struct slice_pass *pass, struct wet_trace *trace, const struct slice_code *code,
                    struct slice_labels *labels, bool wants_control);
void slice_pass_clear(struct slice_pass *pass);

/*
 * Passes a chunk; the state must be that at its begin. record: NULL, or replaced by what happens,
 * with the labels. The chunk's streams, which the labels refer to, remain until the next one. 0,
 * BT_MEMORY, or BT_DATA: the chunk is damaged.
 */
int slice_pass_chunk(struct slice_pass *pass, size_t number, struct slice_record *record,
                     struct bt_error *error);

/* Copies the state into *to, which is empty. 0 or BT_MEMORY. */
int slice_pass_save(const struct slice_pass *pass, struct slice_state *to);

/* Replaces the state by another one, which becomes empty. */
void slice_pass_restore(struct slice_pass *pass, struct slice_state *from);

#endif
