/* Shared by the files of the recorder. */
#ifndef TOOLS_WET_RECORD_RECORDER_INTERNAL_H
#define TOOLS_WET_RECORD_RECORDER_INTERNAL_H

#include "tools/wet/record/recorder.h"

#define RECORDER_SIGNALS 64u /* signals before a thread's next instruction; frames of handlers */

/* A handler that has not returned. */
struct record_frame {
    uint64_t address;
    uint32_t last_id; /* executed before it; 0: none */
};

struct record_thread {
    uint32_t number;
    struct wet_context context;
    uint32_t last_id; /* executed last; 0: nothing precedes what comes next */
    bool has_event;   /* the next block may begin an edge that the sequence does not tell */
    bool has_call;    /* the instruction executed last is a system call */
    uint32_t call_id; /* that instruction */
    uint64_t call_instance;
    uint64_t signals[RECORDER_SIGNALS]; /* frames, delivered since then */
    unsigned signal_count;
    struct record_frame frames[RECORDER_SIGNALS];
    unsigned frame_count;
};

struct recorder {
    struct recorder_settings settings;
    struct record_code code;
    struct shadow shadow;
    struct wet_sequence sequence;
    struct wet_chunk chunk;
    struct record_texts texts;

    struct record_block **blocks; /* by number of the translated block */
    size_t block_capacity;
    unsigned flushes; /* of the code cache, when they were made */

    struct record_thread **threads; /* by number */
    size_t thread_count, thread_capacity, threads_run;
    struct record_thread *by_processor[RECORDER_PROCESSORS];
    struct record_thread *current; /* NULL: none yet */
    bool has_gap;                  /* before the next instruction */

    uint64_t left;                             /* blocks until limits are checked */
    uint64_t left_checked;                     /* what `left` was then */
    uint64_t chunk_blocks, chunk_instructions; /* of the current chunk, up to then */
    uint64_t port_bytes;                       /* of labels and outcomes in it, about */
    uint64_t instructions, blocks_executed;    /* before the current chunk */
    uint64_t unknown_calls;

    struct wet_ranges ranges; /* the label that is being collected */
    struct record *records;   /* of specials */
    bool is_stopped, out_of_memory, has_sink_failed;
    struct bt_error error;
};

/* Stops recording. error: NULL: no memory. Returns its code. */
int recorder_stop(struct recorder *recorder, const struct bt_error *error);

/* --- chunks (recorder_chunk.c) -----------------------------------------------------------------
 */

/* Adds the executions that are counted in `blocks` to those of the code. */
void recorder_fold(struct recorder *recorder);

/* `left` is 0, or the chunk ends: counts the blocks since, ends a full chunk. 0 or negative. */
int recorder_check(struct recorder *recorder);

/* --- threads and events (recorder_events.c) ----------------------------------------------------
 */

/* The thread of a processor, perhaps a new one. NULL: recording has stopped. */
struct record_thread *recorder_thread_of(struct recorder *recorder, unsigned processor);

/* Makes the thread the one that the sequence is of. */
void recorder_switch(struct recorder *recorder, struct record_thread *thread);

/* A thread executes something next: puts the events before it. */
void recorder_arrive(struct recorder *recorder, struct record_thread *thread);

/* --- references (recorder_references.c) --------------------------------------------------------
 */

/* An execution of a block. */
struct record_execution {
    struct recorder *recorder;
    struct trace_expander *expander;
    const struct record_block *block;
    const uint32_t *entries;
};

/* What the fast paths of reads and writes leave. */
void recorder_read(struct recorder *recorder, const struct record_operation *operation,
                   uint32_t address);
void recorder_write(struct recorder *recorder, uint32_t id, uint64_t instance, uint32_t address,
                    uint64_t size);
void recorder_rare(const struct record_execution *execution,
                   const struct record_operation *operation);

#endif
