#include "capture/program/exec_source.h"

#include "formats/base/clock.h"

#include <stdlib.h>

struct exec_source {
    struct source source;
    struct record_ring *ring;
    struct capture_info info;
    uint64_t records, tick;
};

static struct exec_source *from(struct source *source)
{
    return (struct exec_source *)source;
}

/* Moves the mark of the first record to batch->gap and counts the others. */
static void take_marks(struct batch *batch)
{
    struct record *first = batch->records;
    batch->gap.chosen = first->attribute & ATTRIBUTE_PART;
    first->attribute &= (uint8_t)~ATTRIBUTE_PART;
    batch->parts = (uint32_t)records_parts(first, batch->count);
}

static int next(struct source *source, struct batch *batch, int timeout_ms, struct bt_error *error)
{
    struct exec_source *exec = from(source);
    size_t count;
    if (!record_ring_take(exec->ring, batch->records, batch->capacity, timeout_ms, &count))
        return 0;
    if (count == 0)
        return bt_fail(error, BT_TIMEOUT, "the program made no references");
    batch_clear(batch);
    batch->count = count;
    if (record_ring_has_parts(exec->ring))
        take_marks(batch);
    if (record_ring_has_events(exec->ring))
        batch->events = records_have_events(batch->records, count);
    batch->first_index = exec->records;
    batch->first_tick = exec->tick + batch->records[0].time;
    batch->last_tick = exec->tick + records_time(batch->records, count);
    batch->host_time_ns = clock_realtime_ns();
    exec->records += count;
    exec->tick = batch->last_tick;
    return 1;
}

static const struct capture_info *info(struct source *source)
{
    return &from(source)->info;
}

static void totals(struct source *source, struct source_totals *totals)
{
    uint64_t records = from(source)->records;
    uint64_t filtered = record_ring_filtered(from(source)->ring);
    *totals = (struct source_totals){
        .known = true, .seen = records + filtered, .accepted = records, .filtered = filtered};
}

static int stop(struct source *source, struct bt_error *error)
{
    (void)error;
    record_ring_close(from(source)->ring);
    return 0;
}

static void close_source(struct source *source)
{
    record_ring_close(from(source)->ring);
    free(source);
}

static const struct source_operations operations = {
    .next = next, .info = info, .totals = totals, .stop = stop, .close = close_source};

struct source *exec_source_new(struct record_ring *ring, const struct capture_info *information,
                               struct bt_error *error)
{
    struct exec_source *exec = calloc(1, sizeof *exec);
    if (!exec) {
        bt_fail(error, BT_MEMORY, "no memory for a program's records");
        return NULL;
    }
    *exec = (struct exec_source){
        .source = {&operations, true}, .ring = ring, .info = *information, .records = 0, .tick = 0};
    return &exec->source;
}
