/* The compression workers: a block of records in, a gzip member out. */
#include "capture/pipeline_internal.h"

#include "formats/base/thread.h"

/* Compression takes all processors. The reader of a board that does not wait has priority: records
 * that are not read are lost, blocks that are not compressed are stored. */
#define BEHIND_READER 10

static void compress_block(struct record_encoder *encoder, const struct queue_block *block,
                           struct queue_member *member)
{
    member->batch = block->batch;
    member->batch.records = NULL;
    member->batch.feed = NULL;
    member->rotate = block->rotate;
    member->snapshots = block->snapshots;
    member->window = block->window;
    member->size = 0;
    member->result = 0;
    if (block->batch.count > 0 || batch_has_loss_or_gap(&block->batch))
        member->result = capture_put_data_member(encoder, &block->batch, member->bytes,
                                                 member->capacity, &member->size, &member->error);
}

void *worker_run(void *argument)
{
    struct worker *worker = argument;
    struct queue_block *block;
    struct queue_member *member;
    thread_set_name("worker");
    if (worker->hurry)
        thread_yield_precedence(BEHIND_READER);
    while (queue_take_job(worker->queue, &block, &member)) {
        /* late compression loses records: larger files are better */
        if (worker->hurry)
            record_encoder_hurry(worker->encoder,
                                 queue_fill(worker->queue) * 2 > queue_size(worker->queue));
        compress_block(worker->encoder, block, member);
        queue_job_done(worker->queue, block, member);
    }
    return NULL;
}
