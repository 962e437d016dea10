#include "capture/queue.h"

#include "formats/blocks/block_feed.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

struct queue {
    struct queue_sizes sizes;
    struct queue_block *blocks;
    struct queue_member *members;
    struct record *records; /* of all blocks */
    uint8_t *bytes;         /* of all members */
    pthread_mutex_t mutex;  /* guards everything below */
    pthread_cond_t block_freed;
    pthread_cond_t job_ready;
    pthread_cond_t member_done;
    struct queue_block *free; /* a stack */
    size_t free_count;
    struct queue_block *first; /* waiting blocks, oldest first */
    struct queue_block *last;
    uint64_t taken; /* members handed to workers so far: member n is members[n % sizes.members] */
    uint64_t released; /* members the writer is done with */
    bool closed;
};

/* One piece of memory for all records, one for all members: untouched pages cost nothing. */
static bool allocate_blocks(struct queue *queue)
{
    size_t records = queue->sizes.block_records;
    queue->blocks = calloc(queue->sizes.blocks, sizeof *queue->blocks);
    queue->records = malloc(queue->sizes.blocks * records * sizeof *queue->records);
    if (!queue->blocks || !queue->records)
        return false;
    for (size_t i = queue->sizes.blocks; i-- > 0;) {
        struct queue_block *block = &queue->blocks[i];
        block->batch.records = queue->records + i * records;
        block->batch.capacity = records;
        block->next = queue->free;
        queue->free = block;
        queue->free_count++;
    }
    return true;
}

/* Each block has a feed, if the source fills it. */
static bool allocate_feeds(struct queue *queue)
{
    for (size_t i = 0; i < queue->sizes.blocks && queue->sizes.segments > 0; i++) {
        queue->blocks[i].batch.feed = block_feed_new(queue->sizes.segments);
        if (!queue->blocks[i].batch.feed)
            return false;
    }
    return true;
}

static bool allocate_members(struct queue *queue)
{
    size_t capacity = queue->sizes.member_bytes;
    queue->members = calloc(queue->sizes.members, sizeof *queue->members);
    queue->bytes = malloc(queue->sizes.members * capacity);
    if (!queue->members || !queue->bytes)
        return false;
    for (size_t i = 0; i < queue->sizes.members; i++) {
        queue->members[i].bytes = queue->bytes + i * capacity;
        queue->members[i].capacity = capacity;
    }
    return true;
}

struct queue *queue_new(const struct queue_sizes *sizes, struct bt_error *error)
{
    struct queue *queue = calloc(1, sizeof *queue);
    if (!queue) {
        bt_fail(error, BT_MEMORY, "no memory for a capture's queue");
        return NULL;
    }
    queue->sizes = *sizes;
    pthread_mutex_init(&queue->mutex, NULL);
    pthread_cond_init(&queue->block_freed, NULL);
    pthread_cond_init(&queue->job_ready, NULL);
    pthread_cond_init(&queue->member_done, NULL);
    if (!allocate_blocks(queue) || !allocate_feeds(queue) || !allocate_members(queue)) {
        bt_fail(error, BT_MEMORY, "no memory for a capture's queue of %zu blocks of %zu records",
                sizes->blocks, sizes->block_records);
        queue_free(queue);
        return NULL;
    }
    return queue;
}

static void touch(void *memory, size_t size)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    for (size_t at = 0; at < size; at += page)
        ((volatile uint8_t *)memory)[at] = 0;
}

void queue_touch(struct queue *queue)
{
    const struct queue_sizes *sizes = &queue->sizes;
    touch(queue->records, sizes->blocks * sizes->block_records * sizeof *queue->records);
    touch(queue->bytes, sizes->members * sizes->member_bytes);
}

void queue_free(struct queue *queue)
{
    if (!queue)
        return;
    for (size_t i = 0; queue->blocks && i < queue->sizes.blocks; i++)
        block_feed_free(queue->blocks[i].batch.feed);
    free(queue->records);
    free(queue->bytes);
    free(queue->blocks);
    free(queue->members);
    pthread_cond_destroy(&queue->member_done);
    pthread_cond_destroy(&queue->job_ready);
    pthread_cond_destroy(&queue->block_freed);
    pthread_mutex_destroy(&queue->mutex);
    free(queue);
}

struct queue_block *queue_take_free(struct queue *queue, bool wait)
{
    pthread_mutex_lock(&queue->mutex);
    while (wait && !queue->free)
        pthread_cond_wait(&queue->block_freed, &queue->mutex);
    struct queue_block *block = queue->free;
    if (block) {
        queue->free = block->next;
        queue->free_count--;
        block->next = NULL;
        block->rotate = false;
        block->snapshots = 0;
        block->window = (struct trigger_window){.matches = 0};
        batch_clear(&block->batch);
    }
    pthread_mutex_unlock(&queue->mutex);
    return block;
}

void queue_put(struct queue *queue, struct queue_block *block)
{
    pthread_mutex_lock(&queue->mutex);
    block->next = NULL;
    if (queue->first)
        queue->last->next = block;
    else
        queue->first = block;
    queue->last = block;
    pthread_cond_signal(&queue->job_ready);
    pthread_mutex_unlock(&queue->mutex);
}

void queue_close(struct queue *queue)
{
    pthread_mutex_lock(&queue->mutex);
    queue->closed = true;
    pthread_cond_broadcast(&queue->job_ready);
    pthread_cond_broadcast(&queue->member_done);
    pthread_mutex_unlock(&queue->mutex);
}

static bool job_is_possible(const struct queue *queue)
{
    return queue->first && queue->taken - queue->released < queue->sizes.members;
}

bool queue_take_job(struct queue *queue, struct queue_block **block, struct queue_member **member)
{
    pthread_mutex_lock(&queue->mutex);
    while (!job_is_possible(queue) && (queue->first || !queue->closed))
        pthread_cond_wait(&queue->job_ready, &queue->mutex);
    bool found = queue->first != NULL;
    if (found) {
        *block = queue->first;
        *member = &queue->members[queue->taken++ % queue->sizes.members];
        queue->first = (*block)->next;
        if (!queue->first && queue->closed)
            pthread_cond_broadcast(&queue->job_ready); /* there will be no other job */
    }
    pthread_mutex_unlock(&queue->mutex);
    return found;
}

void queue_job_done(struct queue *queue, struct queue_block *block, struct queue_member *member)
{
    if (block->batch.feed)
        block_feed_clear(block->batch.feed);
    pthread_mutex_lock(&queue->mutex);
    block->next = queue->free;
    queue->free = block;
    queue->free_count++;
    member->done = true;
    pthread_cond_signal(&queue->block_freed);
    pthread_cond_signal(&queue->member_done);
    pthread_mutex_unlock(&queue->mutex);
}

struct queue_member *queue_take_member(struct queue *queue)
{
    pthread_mutex_lock(&queue->mutex);
    struct queue_member *next = &queue->members[queue->released % queue->sizes.members];
    while (!next->done && !(queue->closed && !queue->first && queue->taken == queue->released))
        pthread_cond_wait(&queue->member_done, &queue->mutex);
    bool done = next->done;
    pthread_mutex_unlock(&queue->mutex);
    return done ? next : NULL;
}

void queue_release(struct queue *queue, struct queue_member *member)
{
    pthread_mutex_lock(&queue->mutex);
    member->done = false;
    queue->released++;
    pthread_cond_signal(&queue->job_ready);
    pthread_mutex_unlock(&queue->mutex);
}

size_t queue_fill(struct queue *queue)
{
    pthread_mutex_lock(&queue->mutex);
    size_t fill = queue->sizes.blocks - queue->free_count;
    pthread_mutex_unlock(&queue->mutex);
    return fill;
}

size_t queue_size(const struct queue *queue)
{
    return queue->sizes.blocks;
}
