/*
 * Chunks of a WET file: what a part of the execution did, in streams. Specified in doc/wet-file.md,
 * "Chunks".
 */
#ifndef FORMATS_WET_WET_CHUNK_H
#define FORMATS_WET_WET_CHUNK_H

#include "formats/base/error.h"
#include "formats/wet/wet_bytes.h"

/* Numbers in the sequence that are no blocks: events of the current thread. Their arguments are
 * numbers in the stream of events. */
enum wet_event {
    WET_EVENT_SWITCH = 1, /* argument: the thread that executes next, from 0 */
    WET_EVENT_CLONE,      /* argument: a new thread, made by the thread's last instruction */
    WET_EVENT_SIGNAL,     /* argument: address of the frame; a handler begins */
    WET_EVENT_RETURN,     /* argument: address of the frame; the handler has ended */
    WET_EVENT_RESULT,     /* argument: rax; the thread's system call has returned */
    WET_EVENT_GAP         /* no argument: what follows does not follow from what was before */
};
#define WET_FIRST_BLOCK 8u     /* block n is n + WET_FIRST_BLOCK - 1 in the sequence */
#define WET_THREADS     65536u /* threads have numbers below this */

/* The streams of a chunk. */
enum wet_stream {
    WET_STREAM_SEQUENCE, /* wet_sequence.h */
    WET_STREAM_EVENTS,
    WET_STREAM_OUTCOME_INDEX, /* for each instruction with outcomes, ascending: difference of its id
                                 to that before it, bytes of its outcomes */
    WET_STREAM_OUTCOMES,      /* wet_outcomes */
    WET_STREAM_LABEL_INDEX,   /* for each port with labels, ascending: difference of its id to that
                                 before it, number of its memory operand among those read, bytes of
                                 its labels */
    WET_STREAM_LABELS,        /* wet_labels.h */
    WET_STREAM_VALUES,        /* the first of those of tools/wet/values/value_coder.h */
    WET_STREAMS = WET_STREAM_VALUES + 3
};
#define WET_VALUE_STREAMS (WET_STREAMS - WET_STREAM_VALUES)

/* Bytes of one instruction's outcomes, or of a port's labels, within a stream. */
struct wet_extent {
    uint32_t id;
    uint32_t operand; /* of labels */
    size_t offset, size;
};

/* Zeroed is empty. */
struct wet_chunk {
    struct wet_bytes streams[WET_STREAMS];
};

void wet_chunk_clear(struct wet_chunk *chunk); /* frees the memory */
void wet_chunk_empty(struct wet_chunk *chunk); /* keeps it */

/* Replaces the streams of a chunk by those of another one. 0 or BT_MEMORY. */
int wet_chunk_copy(struct wet_chunk *to, const struct wet_chunk *from);

/* Appends raw bytes to a stream; without memory it says so. */
void wet_bytes_append(struct wet_bytes *to, const uint8_t *bytes, size_t size);

/* Appends outcomes, or labels, of one instruction or port to a stream and its index. They must come
 * ascending by id, then operand. *last: the id before; 0 at first. */
void wet_chunk_put_outcomes(struct wet_chunk *chunk, uint32_t id, const struct wet_bytes *bytes,
                            uint32_t *last);
void wet_chunk_put_labels(struct wet_chunk *chunk, uint32_t id, uint32_t operand,
                          const struct wet_bytes *bytes, uint32_t *last);

/* Reads the index of outcomes (labels: true for labels) into an array that the caller frees. 0,
 * BT_MEMORY, or BT_DATA. `ids`: number of instructions plus 1. */
int wet_chunk_index(const struct wet_chunk *chunk, bool labels, uint32_t ids,
                    struct wet_extent **extents, size_t *count, struct bt_error *error);

/* Appends the content of a CHUNK member: each stream's size, then the streams. 0 or BT_MEMORY. */
int wet_chunk_put(const struct wet_chunk *chunk, struct wet_bytes *to);

/* Replaces the streams by those of a member's content. 0, BT_MEMORY, or BT_DATA. */
int wet_chunk_get(struct wet_chunk *chunk, const struct wet_bytes *content, struct bt_error *error);

/*
 * Outcomes of one instruction: whether the conditional definitions of each execution took place
 * (doc/wet.md, "Conditional definitions"). Stored as lengths of runs: of true, false, true ...
 */
struct wet_outcomes {
    bool current; /* writing and reading: the run's outcome. Zeroed, then true at the start */
    bool has_run; /* a run has begun */
    uint64_t run; /* so far, or still to be read */
};

/* Adds the outcome of the next execution; finish ends the chunk's. Without memory *to says so. */
void wet_outcomes_put(struct wet_outcomes *outcomes, bool outcome, struct wet_bytes *to);
void wet_outcomes_finish(struct wet_outcomes *outcomes, struct wet_bytes *to);

/* Reads the outcome of the next execution. 0, or BT_DATA: there is none. */
int wet_outcomes_get(struct wet_outcomes *outcomes, struct wet_cursor *from, bool *outcome);

#endif
