/*
 * The bounded queue in the middle of a capture, with everything it holds allocated at the start:
 *
 *   source thread:  queue_take_free -> fill -> queue_put
 *   workers:        queue_take_job  -> compress -> queue_job_done
 *   writer thread:  queue_take_member (in the order of queue_put) -> write -> queue_release
 *
 * Free blocks are reused last in, first out, so that a capture that keeps up touches little memory.
 * A worker gets a block only together with its member, and members are assigned in order: the
 * oldest block therefore never waits for room.
 */
#ifndef CAPTURE_QUEUE_H
#define CAPTURE_QUEUE_H

#include "capture/trigger_source.h"
#include "formats/base/error.h"
#include "formats/record/batch.h"

#include <stdbool.h>

struct queue;

/* Records on their way to a worker. */
struct queue_block {
    struct batch batch;
    bool rotate;                  /* a new file begins before this block */
    uint64_t snapshots;           /* that many snapshots are complete with the file before */
    struct trigger_window window; /* of its records, so far */
    struct queue_block *next;
};

/* A compressed block on its way to the writer. */
struct queue_member {
    struct batch batch; /* what the member holds; records is NULL */
    bool rotate;
    uint64_t snapshots;
    struct trigger_window window;
    uint8_t *bytes;
    size_t capacity;
    size_t size; /* 0: nothing is to be written */
    int result;  /* of the compression: 0 or a negative code, with error */
    struct bt_error error;
    bool done;
};

struct queue_sizes {
    size_t blocks;
    size_t block_records;
    size_t members;
    size_t member_bytes;
    size_t segments; /* room in each block's feed; 0: blocks hold records only */
};

/* NULL and *error on failure. */
struct queue *queue_new(const struct queue_sizes *sizes, struct bt_error *error);

/* Faults in the memory of all blocks and members now, not while records arrive. */
void queue_touch(struct queue *queue);
void queue_free(struct queue *queue);

/* An empty block. wait: blocks until there is one; else NULL if there is none. */
struct queue_block *queue_take_free(struct queue *queue, bool wait);
void queue_put(struct queue *queue, struct queue_block *block);
/* Nothing more will be put. */
void queue_close(struct queue *queue);

/* Waits for work; false once the queue is closed and empty. */
bool queue_take_job(struct queue *queue, struct queue_block **block, struct queue_member **member);
/* Releases the block and passes the member on. */
void queue_job_done(struct queue *queue, struct queue_block *block, struct queue_member *member);

/* Waits for the next member in order; NULL once the queue is closed and empty. */
struct queue_member *queue_take_member(struct queue *queue);
void queue_release(struct queue *queue, struct queue_member *member);

/* Blocks that are in use: being filled, waiting, or being compressed. */
size_t queue_fill(struct queue *queue);
size_t queue_size(const struct queue *queue);

#endif
