#include "capture/pack/pack_blocks.h"

#include "formats/base/thread.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum slot_state {
    SLOT_EMPTY,  /* the caller's: holds the records of batch, or none */
    SLOT_FILLED, /* no worker has taken it */
    SLOT_BUSY,   /* a worker's */
    SLOT_CODED   /* the caller's: holds a member, or an error */
};

/* A block on its way. */
struct slot {
    enum slot_state state;
    struct batch batch; /* room for block_records, at least */
    bool executed;      /* some of its records were coded as executions of blocks */
    uint8_t *member;
    size_t member_capacity, size;
    struct bt_error error; /* code 0: none */
};

struct worker {
    struct pack_blocks *blocks;
    struct record_encoder *encoder;
    struct record_encoder *executions; /* of engine blocks; NULL before its first use */
    struct record_decoder *decoder;
    uint8_t *other; /* a member that may take the place of a slot's */
    size_t other_capacity;
    struct record *back; /* what the decoder makes of a member */
    size_t back_capacity;
    pthread_t thread;
    bool started;
};

struct pack_blocks {
    size_t block_records;
    pack_sink *sink;
    void *context;
    pthread_mutex_t lock; /* of the slots' states, next_filled and ending */
    pthread_cond_t filled, coded;
    struct slot *slots; /* a ring */
    unsigned slot_count;
    unsigned filling, draining; /* slots: the one being filled, the next to be handed out */
    unsigned next_filled;       /* the next that a worker takes */
    bool ending;
    struct worker *workers; /* without threads one, which is not started */
    unsigned worker_count;
};

/* Gives a buffer room for size bytes; what it held is lost. False without memory. */
static bool reserve_bytes(uint8_t **bytes, size_t *capacity, size_t size)
{
    if (*capacity >= size)
        return true;
    free(*bytes);
    *bytes = malloc(size);
    *capacity = *bytes ? size : 0;
    return *bytes != NULL;
}

/* Codes the block of a slot as executions of blocks, too, and keeps the smaller member. 0 or a
 * negative code. */
static int code_executions(struct worker *worker, struct slot *slot, struct bt_error *error)
{
    const size_t bound = capture_data_member_bound(slot->batch.count);
    if (!worker->executions)
        worker->executions = record_encoder_new(RECORD_ENGINE_BLOCKS, -1, error);
    if (!worker->executions)
        return error->code;
    if (!reserve_bytes(&worker->other, &worker->other_capacity, bound))
        return bt_fail(error, BT_MEMORY, "no memory for a block");
    size_t size;
    const int result = capture_put_data_member(worker->executions, &slot->batch, worker->other,
                                               worker->other_capacity, &size, error);
    if (result < 0 || size >= slot->size)
        return result;
    uint8_t *const larger = slot->member;
    const size_t capacity = slot->member_capacity;
    slot->member = worker->other;
    slot->member_capacity = worker->other_capacity;
    slot->size = size;
    worker->other = larger;
    worker->other_capacity = capacity;
    return 0;
}

/* Codes the block of a slot and compares what its member decodes to. 0 or a negative code. */
static int code_slot(struct worker *worker, struct slot *slot, struct bt_error *error)
{
    const size_t count = slot->batch.count;
    const bool room =
        reserve_bytes(&slot->member, &slot->member_capacity, capture_data_member_bound(count));
    if (worker->back_capacity < count) {
        free(worker->back);
        worker->back = malloc(count * sizeof *worker->back);
        worker->back_capacity = worker->back ? count : 0;
    }
    if (!room || worker->back_capacity < count)
        return bt_fail(error, BT_MEMORY, "no memory for a block");
    int result = capture_put_data_member(worker->encoder, &slot->batch, slot->member,
                                         slot->member_capacity, &slot->size, error);
    if (result == 0 && slot->executed)
        result = code_executions(worker, slot, error);
    if (result < 0 || count == 0)
        return result;
    struct capture_member member;
    if (capture_get_member(&member, slot->member, slot->size, error) != 1 ||
        member.batch.count != count)
        return bt_fail(error, BT_IO, "a block does not have the header that was written");
    result = capture_get_records(worker->decoder, &member, slot->member, worker->back, error);
    if (result == BT_MEMORY)
        return result;
    if (result < 0 || memcmp(worker->back, slot->batch.records, count * sizeof *worker->back) != 0)
        return bt_fail(error, BT_IO,
                       "a block does not decode to its records: the memory of this machine, or "
                       "bustap, is at fault");
    return 0;
}

static void *work(void *argument)
{
    struct worker *worker = argument;
    struct pack_blocks *blocks = worker->blocks;
    thread_set_name("pack");
    pthread_mutex_lock(&blocks->lock);
    for (;;) {
        struct slot *slot = &blocks->slots[blocks->next_filled];
        if (slot->state != SLOT_FILLED) {
            if (blocks->ending)
                break;
            pthread_cond_wait(&blocks->filled, &blocks->lock);
            continue;
        }
        slot->state = SLOT_BUSY;
        blocks->next_filled = (blocks->next_filled + 1) % blocks->slot_count;
        pthread_mutex_unlock(&blocks->lock);
        struct bt_error error = {.code = 0};
        const int result = code_slot(worker, slot, &error);
        pthread_mutex_lock(&blocks->lock);
        slot->error = error;
        slot->error.code = result;
        slot->state = SLOT_CODED;
        pthread_cond_signal(&blocks->coded);
    }
    pthread_mutex_unlock(&blocks->lock);
    return NULL;
}

static int start_worker(struct pack_blocks *blocks, enum record_engine engine, int level,
                        bool thread, struct bt_error *error)
{
    struct worker *worker = &blocks->workers[blocks->worker_count++];
    worker->blocks = blocks;
    worker->encoder = record_encoder_new(engine, level, error);
    worker->decoder = worker->encoder ? record_decoder_new(error) : NULL;
    if (!worker->decoder)
        return error->code;
    if (!thread)
        return 0;
    const int failed = thread_start_without_signals(&worker->thread, work, worker);
    worker->started = failed == 0;
    return failed == 0 ? 0 : bt_fail(error, BT_MEMORY, "cannot start a thread");
}

struct pack_blocks *pack_blocks_new(enum record_engine engine, int level, size_t block_records,
                                    unsigned threads, pack_sink *sink, void *context,
                                    struct bt_error *error)
{
    struct pack_blocks *blocks = calloc(1, sizeof *blocks);
    if (!blocks) {
        bt_fail(error, BT_MEMORY, "no memory for blocks");
        return NULL;
    }
    blocks->block_records = block_records;
    blocks->sink = sink;
    blocks->context = context;
    pthread_mutex_init(&blocks->lock, NULL);
    pthread_cond_init(&blocks->filled, NULL);
    pthread_cond_init(&blocks->coded, NULL);
    blocks->slot_count = threads + 1; /* one is filled while the others are coded */
    blocks->slots = calloc(blocks->slot_count, sizeof *blocks->slots);
    const unsigned workers = threads > 0 ? threads : 1;
    blocks->workers = calloc(workers, sizeof *blocks->workers);
    int result = 0;
    if (!blocks->slots || !blocks->workers)
        result = bt_fail(error, BT_MEMORY, "no memory for blocks");
    for (unsigned i = 0; result == 0 && i < workers; i++)
        result = start_worker(blocks, engine, level, threads > 0, error);
    if (result == 0)
        return blocks;
    pack_blocks_free(blocks);
    return NULL;
}

void pack_blocks_free(struct pack_blocks *blocks)
{
    if (!blocks)
        return;
    pthread_mutex_lock(&blocks->lock);
    blocks->ending = true;
    pthread_cond_broadcast(&blocks->filled);
    pthread_mutex_unlock(&blocks->lock);
    for (unsigned i = 0; i < blocks->worker_count; i++) {
        struct worker *worker = &blocks->workers[i];
        if (worker->started)
            pthread_join(worker->thread, NULL);
        record_encoder_free(worker->encoder);
        record_encoder_free(worker->executions);
        record_decoder_free(worker->decoder);
        free(worker->back);
        free(worker->other);
    }
    for (unsigned i = 0; blocks->slots && i < blocks->slot_count; i++) {
        free(blocks->slots[i].batch.records);
        free(blocks->slots[i].member);
    }
    pthread_cond_destroy(&blocks->coded);
    pthread_cond_destroy(&blocks->filled);
    pthread_mutex_destroy(&blocks->lock);
    free(blocks->workers);
    free(blocks->slots);
    free(blocks);
}

/* Waits for the oldest block and hands it out. 0 or a negative code. */
static int drain(struct pack_blocks *blocks, struct bt_error *error)
{
    struct slot *slot = &blocks->slots[blocks->draining];
    pthread_mutex_lock(&blocks->lock);
    while (slot->state == SLOT_FILLED || slot->state == SLOT_BUSY)
        pthread_cond_wait(&blocks->coded, &blocks->lock);
    const bool empty = slot->state == SLOT_EMPTY;
    slot->state = SLOT_EMPTY;
    pthread_mutex_unlock(&blocks->lock);
    if (empty)
        return 0;
    blocks->draining = (blocks->draining + 1) % blocks->slot_count;
    int result = slot->error.code;
    if (result < 0)
        *error = slot->error;
    else
        result = blocks->sink(blocks->context, &slot->batch, slot->member, slot->size, error);
    batch_clear(&slot->batch);
    slot->executed = false;
    return result;
}

/* Gives the block being filled to the workers. The slot for the next one is empty then. */
static int submit(struct pack_blocks *blocks, struct bt_error *error)
{
    struct slot *slot = &blocks->slots[blocks->filling];
    if (blocks->workers[0].started) {
        pthread_mutex_lock(&blocks->lock);
        slot->state = SLOT_FILLED;
        pthread_cond_signal(&blocks->filled);
        pthread_mutex_unlock(&blocks->lock);
    } else {
        slot->error.code = code_slot(&blocks->workers[0], slot, &slot->error);
        slot->state = SLOT_CODED;
    }
    blocks->filling = (blocks->filling + 1) % blocks->slot_count;
    return blocks->filling == blocks->draining ? drain(blocks, error) : 0;
}

/* Gives a slot room for count records. 0 or BT_MEMORY. */
static int reserve(struct batch *block, size_t count, struct bt_error *error)
{
    if (count <= block->capacity)
        return 0;
    struct record *records = realloc(block->records, count * sizeof *records);
    if (!records)
        return bt_fail(error, BT_MEMORY, "no memory for a block");
    block->records = records;
    block->capacity = count;
    return 0;
}

/* Whether a block may hold what it holds and then the batch. */
static bool continues(const struct batch *block, const struct batch *batch)
{
    return block->count > 0 && batch->count > 0 && !batch_has_loss_or_gap(batch) &&
           batch->first_index == block->first_index + block->count &&
           batch->records[0].time != UINT32_MAX &&
           batch->first_tick - block->last_tick == batch->records[0].time;
}

/* Copies the first count records of a batch to the end of a block; those after them remain. */
static void move(struct batch *block, struct batch *batch, size_t count)
{
    struct record *records = block->records;
    const size_t capacity = block->capacity;
    if (block->count == 0) {
        *block = *batch;
        block->records = records;
        block->capacity = capacity;
        block->count = 0;
        block->parts = 0;
        block->events = false;
    }
    if (count > 0)
        memcpy(records + block->count, batch->records, count * sizeof *records);
    block->parts += batch->parts;
    block->events = block->events || batch->events;
    block->count += count;
    if (count == batch->count) {
        block->last_tick = batch->last_tick;
    } else {
        block->last_tick = batch->first_tick + records_time(batch->records + 1, count - 1);
        batch->first_tick = block->last_tick + batch->records[count].time;
    }
    batch->records += count;
    batch->count -= count;
    batch->first_index += count;
    batch->lost = (struct loss){.first_tick = 0};
    batch->gap = (struct gap){.milliseconds = 0};
}

int pack_blocks_put(struct pack_blocks *blocks, const struct batch *batch, bool executed,
                    struct bt_error *error)
{
    struct batch rest = *batch;
    /* the marks of its records count in its header, and parts of executions are larger: it stays
     * whole */
    const bool whole = batch->parts > 0 || batch->events || batch->count == 0 || executed;
    struct batch *block = &blocks->slots[blocks->filling].batch;
    int result = 0;
    if (block->count > 0 && (!continues(block, batch) || block->count >= blocks->block_records ||
                             (whole && block->count + batch->count > CAPTURE_MEMBER_RECORDS_MAX)))
        result = submit(blocks, error);
    do {
        block = &blocks->slots[blocks->filling].batch;
        const size_t room =
            block->count < blocks->block_records ? blocks->block_records - block->count : 0;
        const size_t count = whole || rest.count < room ? rest.count : room;
        if (result == 0)
            result = reserve(block,
                             block->count + count > blocks->block_records ? block->count + count
                                                                          : blocks->block_records,
                             error);
        if (result < 0)
            return result;
        move(block, &rest, count);
        blocks->slots[blocks->filling].executed |= executed && count > 0;
        if (block->count >= blocks->block_records || block->count == 0)
            result = submit(blocks, error);
    } while (result == 0 && rest.count > 0);
    return result;
}

int pack_blocks_flush(struct pack_blocks *blocks, struct bt_error *error)
{
    int result = blocks->slots[blocks->filling].batch.count > 0 ? submit(blocks, error) : 0;
    while (result == 0 && blocks->draining != blocks->filling)
        result = drain(blocks, error);
    return result;
}
