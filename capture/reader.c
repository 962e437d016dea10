/* The source thread: fills blocks from the source, keeps the clocks, decides where reading stops.
 */
#include "capture/pipeline_internal.h"
#include "capture/timer.h"
#include "formats/base/clock.h"
#include "formats/base/thread.h"
#include "formats/blocks/block_feed.h"

#include <string.h>

#define POLL_NS  50000000   /* latency of stop and rotate */
#define QUIET_NS 5000000000 /* a stopped board is abandoned after this silence */
#define NS_A_MS  1000000
#define NO_LIMIT UINT64_MAX

struct reader {
    struct capture *capture;
    struct queue_block *block; /* being filled; NULL: none yet */
    bool dropping;             /* the queue is full, and the source must not wait */
    bool rotate;               /* a new file begins with the next block */
    uint64_t snapshots_wanted; /* requests passed on to the trigger */
    uint64_t snapshots;        /* those of windows that have ended */
    bool stopping;             /* the source was stopped; its remaining records are read */
    uint64_t wanted;           /* records left until the limit */
    struct batch pending;      /* loss and gaps of dropped batches, for the next block */
    uint64_t index, tick;      /* after the last record or loss that was read */
    int64_t flush_at;          /* monotonic; when the block has waited long enough */
    int64_t stop_at;           /* monotonic: the limit in time */
    int64_t quiet_ns;          /* time read since the last data, or since the stop */
    struct rotation_timer timer;
    struct reading_end result;
};

/* Requests of other threads since the last call of take_orders(). */
struct orders {
    bool stop, abandoned, rotate, halted;
    uint64_t snapshots;
    int64_t file_began_ns;
};

static struct orders take_orders(struct capture *capture)
{
    struct source_totals totals;
    struct bt_error absent = {0};
    source_totals(capture->source, &totals);
    (void)source_absent(capture->source, &absent);
    struct trigger_counts counts = {.matches = 0};
    if (capture->triggered)
        counts = trigger_counts(capture->source);
    pthread_mutex_lock(&capture->mutex);
    capture->status.trigger = counts;
    struct orders orders = {.stop = capture->stop_wanted,
                            .abandoned = capture->abandoned,
                            .rotate = capture->rotate_wanted,
                            .snapshots = capture->snapshots_wanted,
                            .halted = capture->halted,
                            .file_began_ns = capture->file_began_ns};
    capture->rotate_wanted = false;
    capture->status.source = totals;
    capture->status.absent = absent;
    pthread_mutex_unlock(&capture->mutex);
    return orders;
}

static bool block_has_news(const struct queue_block *block)
{
    return block->batch.count > 0 || batch_has_loss_or_gap(&block->batch) || block->rotate;
}

static void submit(struct reader *reader)
{
    if (!reader->block || !block_has_news(reader->block))
        return;
    queue_put(reader->capture->queue, reader->block);
    reader->block = NULL;
}

static int64_t after(int64_t now, int64_t ns)
{
    return ns < TIMER_NEVER - now ? now + ns : TIMER_NEVER;
}

static int64_t next_flush(const struct reader *reader)
{
    return after(clock_monotonic_ns(), reader->capture->settings.flush_ns);
}

/* Gets a block to fill and adds the loss of records dropped before it. False: no block is free, and
 * the source's records must be dropped. */
static bool obtain(struct reader *reader, bool wait)
{
    if (reader->block)
        return true;
    struct queue_block *block = queue_take_free(reader->capture->queue, wait);
    if (!block)
        return false;
    if (batch_has_loss_or_gap(&reader->pending)) {
        block->batch.lost = reader->pending.lost;
        block->batch.gap = reader->pending.gap;
        block->batch.first_index = reader->index;
        block->batch.first_tick = reader->tick;
        block->batch.last_tick = reader->tick;
        reader->flush_at = next_flush(reader);
        batch_clear(&reader->pending);
    }
    reader->block = block;
    return true;
}

static void drop(struct reader *reader, const struct batch *part)
{
    const struct gap within = {.chosen = part->parts > 0};
    struct loss dropped = {.first_tick = part->first_tick, .last_tick = part->last_tick};
    dropped.count[LOSS_QUEUE] = part->count;
    gap_add(&reader->pending.gap, &part->gap);
    gap_add(&reader->pending.gap, &within);
    loss_add(&reader->pending.lost, &part->lost);
    loss_add(&reader->pending.lost, &dropped);
}

/* Whether part continues exactly where batch ends, so that both can be joined. */
static bool continues(const struct batch *batch, const struct batch *part)
{
    uint64_t lost = loss_total(&part->lost);
    if (batch->count == 0)
        return !batch_has_loss_or_gap(batch) || part->first_index - lost == batch->first_index;
    if (part->count == 0 || lost > 0 || part->gap.milliseconds > 0 ||
        part->first_index != batch->first_index + batch->count)
        return false;
    const uint32_t time = part->feed ? block_feed_time(part->feed, batch->records, batch->count)
                                     : part->records[0].time;
    return time != UINT32_MAX && part->first_tick - batch->last_tick == time;
}

/* Adds part to batch; its records are in place. A chosen gap between them becomes a mark. */
static void join(struct batch *batch, const struct batch *part)
{
    batch->parts += part->parts;
    batch->events |= part->events;
    if (batch->count > 0 && part->gap.chosen) {
        if (batch->feed)
            block_feed_mark(batch->feed, batch->records, batch->count, ATTRIBUTE_PART);
        else
            batch->records[batch->count].attribute |= ATTRIBUTE_PART;
        batch->parts++;
    }
    if (batch->count == 0) {
        loss_add(&batch->lost, &part->lost);
        gap_add(&batch->gap, &part->gap);
        batch->first_index = part->first_index;
        batch->first_tick = part->first_tick;
        batch->host_time_ns = part->host_time_ns;
    }
    batch->count += part->count;
    batch->last_tick = part->last_tick;
}

/* A hole lies between the block and part: part begins the next block. Parts of a feed are records
 * then: executions of blocks leave no hole. */
static void begin_next_block(struct reader *reader, const struct batch *part)
{
    if (part->feed)
        block_feed_cut_records(part->feed, part->feed->base);
    submit(reader);
    if (!obtain(reader, reader->capture->settings.when_full == CAPTURE_WAIT)) {
        drop(reader, part);
        reader->wanted += reader->wanted == NO_LIMIT ? 0 : part->count;
        return;
    }
    /* they were read after the records of the submitted block, which may be this one again */
    memmove(reader->block->batch.records, part->records, part->count * sizeof *part->records);
    if (part->feed)
        block_feed_add_records(reader->block->batch.feed, 0, part->count);
    join(&reader->block->batch, part);
}

static void count_gaps(struct reader *reader, const struct batch *part)
{
    struct capture *capture = reader->capture;
    const struct gap *gap = &part->gap;
    if (gap->milliseconds == 0 && !gap->chosen && part->parts == 0)
        return;
    pthread_mutex_lock(&capture->mutex);
    capture->status.chosen_gaps += gap->chosen + (uint64_t)part->parts;
    capture->status.gaps += gap->milliseconds > 0;
    capture->status.gap_ns += (int64_t)gap->milliseconds * NS_A_MS;
    pthread_mutex_unlock(&capture->mutex);
}

static void take_part(struct reader *reader, const struct batch *part)
{
    count_gaps(reader, part);
    if (reader->dropping) {
        drop(reader, part);
    } else {
        bool first = !block_has_news(reader->block);
        reader->wanted -= reader->wanted == NO_LIMIT ? 0 : part->count;
        if (continues(&reader->block->batch, part)) {
            join(&reader->block->batch, part);
        } else {
            begin_next_block(reader, part);
            first = true;
        }
        if (first)
            reader->flush_at = next_flush(reader);
    }
    reader->index = part->first_index + part->count;
    reader->tick = part->last_tick;
}

/* Room for the next records: after those of the block, or in the spare batch. */
static struct batch room(struct reader *reader)
{
    struct batch part = {.records = reader->capture->spare.records,
                         .capacity = reader->capture->spare.capacity};
    if (!reader->dropping) {
        const struct batch *batch = &reader->block->batch;
        part.records = batch->records + batch->count;
        part.capacity = batch->capacity - batch->count;
        part.feed = batch->feed;
        if (part.feed)
            part.feed->base = batch->count;
        if (part.capacity > reader->wanted)
            part.capacity = (size_t)reader->wanted;
    }
    return part;
}

static bool end_reading(struct reader *reader, enum capture_end end)
{
    reader->result.end = end;
    return false;
}

/* Corrupt input is skipped and reported: in the status and in the last file's closing member. */
static void take_damage(struct reader *reader, const struct bt_error *error)
{
    struct capture *capture = reader->capture;
    if (reader->result.remark.code == 0)
        reader->result.remark = *error;
    pthread_mutex_lock(&capture->mutex);
    capture->status.damaged++;
    if (!capture->status.failed && capture->status.error.code == 0)
        capture->status.error = *error;
    pthread_mutex_unlock(&capture->mutex);
}

/* The next result of the source. Only time spent here counts as silence of the source, not time in
 * which the queue was full or the process was stopped. */
static int next_part(struct reader *reader, struct batch *part, int timeout_ms,
                     struct bt_error *error)
{
    int64_t before = clock_monotonic_ns();
    int result = source_next(reader->capture->source, part, timeout_ms, error);
    int64_t spent = clock_monotonic_ns() - before;
    int64_t limit = 2 * (timeout_ms * (int64_t)NS_A_MS + POLL_NS);
    reader->quiet_ns =
        result == BT_TIMEOUT ? reader->quiet_ns + (spent < limit ? spent : limit) : 0;
    return result;
}

/* Whether a stopped source has neither sent nor ended for too long. */
static bool is_silent(struct reader *reader)
{
    if (reader->quiet_ns < QUIET_NS)
        return false;
    bt_fail(&reader->result.remark, BT_DATA,
            "the board did not end after the stop command; its last requests may be missing");
    return true;
}

/* Notes the window of the block's records; a window that has ended ends its file. False: the record
 * that stops the capture, and its window, were read. */
static bool follow_trigger(struct reader *reader)
{
    const struct source *source = reader->capture->source;
    if (reader->block)
        reader->block->window = trigger_window(source);
    if (trigger_window_ended(source)) {
        uint64_t snapshots = trigger_window(source).snapshots;
        reader->snapshots = snapshots > 0 ? snapshots : reader->snapshots;
        reader->rotate = true;
    }
    return !trigger_is_done(source);
}

/* One call of the source. False: reading has ended. */
static bool read_part(struct reader *reader, int timeout_ms)
{
    struct batch part = room(reader);
    struct bt_error error = {0};
    switch (next_part(reader, &part, timeout_ms, &error)) {
    case 1:
        if (part.count > 0 || batch_has_loss_or_gap(&part)) /* else a filter has removed all */
            take_part(reader, &part);
        if (reader->capture->triggered && !follow_trigger(reader))
            return end_reading(reader, CAPTURE_END_LIMIT);
        if (reader->block && reader->block->batch.count == reader->block->batch.capacity)
            submit(reader);
        return reader->wanted > 0 || end_reading(reader, CAPTURE_END_LIMIT);
    case 0:
        reader->result.source_ended = true;
        return end_reading(reader, reader->stopping ? CAPTURE_END_STOPPED : CAPTURE_END_SOURCE);
    case BT_TIMEOUT:
        return true;
    case BT_NOTE:
        pipeline_note(reader->capture, "%s", error.message);
        return true;
    case BT_DATA:
        take_damage(reader, &error);
        return true;
    default:
        reader->result.remark = error;
        if (!error.code)
            bt_fail(&reader->result.remark, BT_DEVICE, "the source failed");
        return end_reading(reader, CAPTURE_END_DEVICE);
    }
}

/* Milliseconds until something is to be done without the source, rounded up. */
static int poll_timeout_ms(const struct reader *reader, int64_t now)
{
    int64_t left = rotation_timer_left(&reader->timer, now, clock_realtime_ns());
    left = left < POLL_NS ? left : POLL_NS;
    if (reader->stop_at - now < left)
        left = reader->stop_at - now;
    if (reader->block && block_has_news(reader->block) && reader->flush_at - now < left)
        left = reader->flush_at - now;
    return left <= 0 ? 0 : (int)((left + NS_A_MS - 1) / NS_A_MS);
}

/* Stops the source; records in flight are still read. */
static void begin_stop(struct reader *reader)
{
    if (reader->stopping)
        return;
    reader->stopping = true;
    reader->stop_at = TIMER_NEVER;
    reader->quiet_ns = 0;
    source_stop(reader->capture->source, &reader->result.remark);
}

/* One turn: orders, clocks, then the source. False: reading has ended. */
static bool step(struct reader *reader)
{
    struct capture *capture = reader->capture;
    struct orders orders = take_orders(capture);
    int64_t now = clock_monotonic_ns();
    if (orders.halted)
        return end_reading(reader, CAPTURE_END_LIMIT);
    if (orders.abandoned)
        return end_reading(reader, CAPTURE_END_STOPPED);
    if (orders.stop)
        begin_stop(reader);
    if (now >= reader->stop_at)
        return end_reading(reader, CAPTURE_END_LIMIT);
    if (reader->stopping && is_silent(reader))
        return end_reading(reader, CAPTURE_END_STOPPED);
    rotation_timer_file_began(&reader->timer, orders.file_began_ns);
    for (; reader->snapshots_wanted < orders.snapshots; reader->snapshots_wanted++)
        trigger_snapshot(capture->source);
    if (rotation_timer_due(&reader->timer, now, clock_realtime_ns()) || orders.rotate)
        reader->rotate = true;
    if (reader->rotate || now >= reader->flush_at)
        submit(reader);
    reader->dropping = !obtain(reader, capture->settings.when_full == CAPTURE_WAIT);
    if (reader->rotate && !reader->dropping) {
        /* submitted empty at once: the new file does not wait for records */
        reader->block->rotate = true;
        reader->block->snapshots = reader->snapshots;
        reader->rotate = false;
        submit(reader);
        return true;
    }
    return read_part(reader, poll_timeout_ms(reader, now));
}

/* A source that ends without its count has reported the reason just before. Corruption after a
 * counted limit does not concern the capture. */
static void explain_unknown(struct reader *reader, const struct bt_error *reported)
{
    struct source_totals totals;
    source_totals(reader->capture->source, &totals);
    if (!totals.known && reported->code)
        reader->result.remark = *reported;
}

/* Ends a source that may still deliver, and counts the records that are dropped. */
static void drain(struct reader *reader)
{
    struct source *source = reader->capture->source;
    struct batch *part = &reader->capture->spare;
    struct bt_error error = {0};
    struct bt_error reported = {0}; /* last */
    int result = reader->stopping ? 1 : source_stop(source, &error);
    bool goes_on = result >= 0;
    reader->quiet_ns = 0;
    while (goes_on && !is_silent(reader) && !take_orders(reader->capture).abandoned) {
        batch_clear(part);
        result = next_part(reader, part, POLL_NS / NS_A_MS, &error);
        if (result == 1)
            reader->result.after_stop += part->count + loss_total(&part->lost);
        if (result == BT_DATA)
            reported = error;
        goes_on = result == 1 || result == BT_TIMEOUT || result == BT_NOTE || result == BT_DATA;
    }
    reader->result.source_ended = result == 0;
    if (result == 0)
        explain_unknown(reader, &reported);
    if (!goes_on && result < 0)
        reader->result.remark = error;
}

/* Returns whether the source was abandoned. */
static bool publish_end(struct reader *reader)
{
    struct capture *capture = reader->capture;
    struct orders orders = take_orders(capture);
    pthread_mutex_lock(&capture->mutex);
    capture->reading = reader->result;
    pthread_mutex_unlock(&capture->mutex);
    return orders.abandoned;
}

static void start(struct reader *reader, struct capture *capture)
{
    const struct capture_settings *settings = &capture->settings;
    *reader = (struct reader){.capture = capture, .index = capture->info.first_index};
    reader->wanted = settings->stop_records ? settings->stop_records : NO_LIMIT;
    reader->stop_at = TIMER_NEVER;
    if (settings->stop_ns)
        reader->stop_at = after(capture->started_monotonic_ns, settings->stop_ns);
    rotation_timer_start(&reader->timer, settings->rotate_ns, settings->rotate_every_ns,
                         capture->started_monotonic_ns, capture->info.started_ns);
}

void *reader_run(void *argument)
{
    struct capture *capture = argument;
    struct reader reader;
    thread_set_name("reader");
    start(&reader, capture);
    while (step(&reader))
        continue;
    submit(&reader);
    if (batch_has_loss_or_gap(&reader.pending) && obtain(&reader, true))
        submit(&reader);
    if (reader.result.end == CAPTURE_END_LIMIT)
        drain(&reader);
    if (publish_end(&reader)) /* the files do not wait for a board that is slow to close */
        queue_close(capture->queue);
    source_close(capture->source);
    capture->source = NULL;
    queue_close(capture->queue);
    return NULL;
}
