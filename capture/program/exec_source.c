#include "capture/program/exec_source.h"

#include "capture/program/exec_blocks.h"
#include "formats/base/clock.h"

#include <stdlib.h>
#include <string.h>

#define SPARE_RECORDS (TRACE_EXPAND_SOME_MIN + 16u)

struct exec_source {
    struct source source;
    struct message_ring *ring;
    struct capture_info info;
    uint64_t records, tick;

    const uint8_t *message;     /* being read; NULL: none */
    size_t bytes, done;         /* of its content, and of that read so far */
    bool begins_part;           /* its next record begins a part, */
    uint8_t event;              /* and its next fetch has an event */
    bool has_parts, has_events; /* records may have these marks, from now on */

    struct exec_blocks blocks;
    struct trace_expander expander;
    struct record *spare; /* records that did not fit in the batch */
    size_t spare_at, spare_end;
};

static struct exec_source *from(struct source *source)
{
    return (struct exec_source *)source;
}

static size_t room(const struct batch *batch)
{
    return batch->capacity - batch->count;
}

/* --- messages ----------------------------------------------------------------------------------
 */

static struct exec_message head_of(const struct exec_source *exec)
{
    struct exec_message head;
    memcpy(&head, exec->message, sizeof head);
    return head;
}

/* Begins the next message, unless one is being read. False: none is there. */
static bool begin_message(struct exec_source *exec)
{
    size_t bytes;
    if (exec->message)
        return true;
    exec->message = message_ring_front(exec->ring, &bytes);
    if (!exec->message)
        return false;
    const struct exec_message head = head_of(exec);
    exec->bytes = bytes - sizeof head;
    exec->done = 0;
    exec->begins_part = head.begins_part;
    exec->event = head.event;
    exec->has_parts |= head.begins_part;
    exec->has_events |= head.has_events || head.event != EVENT_NONE;
    return true;
}

static const void *content(const struct exec_source *exec)
{
    return exec->message + sizeof(struct exec_message) + exec->done;
}

static void end_message(struct exec_source *exec)
{
    exec->message = NULL;
    message_ring_drop(exec->ring);
}

/* Gives the message's marks to its records. */
static void mark(struct exec_source *exec, struct record *records, size_t count)
{
    size_t at = 0;
    if (count == 0)
        return;
    if (exec->begins_part)
        records[0].attribute |= ATTRIBUTE_PART;
    exec->begins_part = false;
    if (exec->event == EVENT_NONE)
        return;
    while (at < count && records[at].type != REQUEST_FETCH)
        at++;
    if (at == count)
        return;
    records[at].attribute = (uint8_t)((records[at].attribute & ~ATTRIBUTE_EVENT) | exec->event);
    exec->event = EVENT_NONE;
}

/* --- records -----------------------------------------------------------------------------------
 */

/* Counts records that are in place after those of the batch. */
static void add(struct exec_source *exec, struct batch *batch, size_t count, uint64_t time)
{
    const struct record *first = batch->records + batch->count;
    if (batch->count == 0 && count > 0)
        batch->first_tick = exec->tick + first->time;
    batch->count += count;
    exec->tick += time;
}

/* Number of leading records that may follow those of the batch. */
static size_t joinable(const struct batch *batch, const struct record *records, size_t count)
{
    if (count > 0 && batch->count > 0 && records[0].time == UINT32_MAX)
        return 0;
    return count > 0 ? records_until_saturated(records, count) : 0;
}

/* Copies records to the batch. Returns their number. */
static size_t copy(struct exec_source *exec, struct batch *batch, const void *records, size_t count)
{
    struct record *to = batch->records + batch->count;
    count = count < room(batch) ? count : room(batch);
    memcpy(to, records, count * sizeof *to);
    count = joinable(batch, to, count);
    add(exec, batch, count, records_time(to, count));
    return count;
}

/* Copies as many of the spare records as fit. */
static void take_spare(struct exec_source *exec, struct batch *batch)
{
    struct record *to = batch->records + batch->count;
    size_t count = exec->spare_end - exec->spare_at;
    count = count < room(batch) ? count : room(batch);
    memcpy(to, exec->spare + exec->spare_at, count * sizeof *to);
    add(exec, batch, count, records_time(to, count));
    exec->spare_at += count;
}

/* False: the next record begins another batch. */
static bool take_records(struct exec_source *exec, struct batch *batch)
{
    const size_t count = (exec->bytes - exec->done) / sizeof *batch->records;
    struct record *to = batch->records + batch->count;
    const size_t copied = copy(exec, batch, content(exec), count);
    mark(exec, to, copied);
    exec->done += copied * sizeof *to;
    if (copied == count)
        end_message(exec);
    return copied == count || room(batch) == 0;
}

/* Expands entries to `records`. Returns the number of records and their time. */
static size_t expand(struct exec_source *exec, struct record *records, size_t capacity,
                     uint64_t *time)
{
    struct trace_expander *expander = &exec->expander;
    const struct exec_message head = head_of(exec);
    const uint64_t before = expander->instructions;
    const bool was_within = expander->pause.on;
    expander->repetitions = head.repetitions;
    expander->fs_base = head.fs_base;
    expander->processor = head.processor;
    expander->records = records;
    expander->capacity = capacity;
    expander->count = 0;
    exec->done += sizeof(uint32_t) *
                  trace_expand_some(expander, content(exec), (exec->bytes - exec->done) / 4);
    /* fetches have time 1, all others 0; a part of an execution has counted all of them */
    *time = was_within || expander->pause.on ? records_time(records, expander->count)
                                             : expander->instructions - before;
    mark(exec, records, expander->count);
    if (exec->done == exec->bytes) {
        message_ring_set_counted(exec->ring, expander->instructions);
        end_message(exec);
    }
    return expander->count;
}

/* False: the batch has records, and room for few more. The caller may have more room next time. */
static bool take_entries(struct exec_source *exec, struct batch *batch)
{
    uint64_t time;
    if (room(batch) >= TRACE_EXPAND_SOME_MIN) {
        size_t count = expand(exec, batch->records + batch->count, room(batch), &time);
        add(exec, batch, count, time);
        return true;
    }
    if (batch->count > 0)
        return false;
    exec->spare_at = 0;
    exec->spare_end = expand(exec, exec->spare, SPARE_RECORDS, &time);
    return true;
}

/* Reads from one message, or from the spare records. 0: nothing more fits or is there; else 1, or a
 * negative code. */
static int take_some(struct exec_source *exec, struct batch *batch, struct bt_error *error)
{
    int result;
    if (room(batch) == 0)
        return 0;
    if (exec->spare_at < exec->spare_end) {
        take_spare(exec, batch);
        return 1;
    }
    if (!begin_message(exec))
        return 0;
    switch ((enum exec_message_kind)head_of(exec).kind) {
    case EXEC_MESSAGE_RECORDS:
        return take_records(exec, batch);
    case EXEC_MESSAGE_ENTRIES:
        return take_entries(exec, batch);
    case EXEC_MESSAGE_BLOCK:
        result = exec_blocks_add(&exec->blocks, content(exec), exec->bytes, error);
        exec->expander.cache = exec->blocks.cache;
        exec->expander.code = exec->blocks.code;
        end_message(exec);
        return result < 0 ? result : 1;
    case EXEC_MESSAGE_FORGET:
        exec_blocks_forget(&exec->blocks);
        end_message(exec);
        return 1;
    }
    return 0;
}

/* --- the source --------------------------------------------------------------------------------
 */

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
    int result;
    batch_clear(batch);
    do {
        if (!exec->message && exec->spare_at == exec->spare_end &&
            !message_ring_wait(exec->ring, timeout_ms))
            return 0;
        while ((result = take_some(exec, batch, error)) > 0)
            continue;
    } while (result == 0 && batch->count == 0 && timeout_ms < 0);
    if (result < 0)
        return result;
    if (batch->count == 0)
        return bt_fail(error, BT_TIMEOUT, "the program made no references");
    if (exec->has_parts)
        take_marks(batch);
    if (exec->has_events)
        batch->events = records_have_events(batch->records, batch->count);
    batch->first_index = exec->records;
    batch->last_tick = exec->tick;
    batch->host_time_ns = clock_realtime_ns();
    exec->records += batch->count;
    return 1;
}

static const struct capture_info *info(struct source *source)
{
    return &from(source)->info;
}

static void totals(struct source *source, struct source_totals *totals)
{
    uint64_t records = from(source)->records;
    uint64_t filtered = message_ring_filtered(from(source)->ring);
    *totals = (struct source_totals){
        .known = true, .seen = records + filtered, .accepted = records, .filtered = filtered};
}

static int stop(struct source *source, struct bt_error *error)
{
    (void)error;
    message_ring_close(from(source)->ring);
    return 0;
}

static void close_source(struct source *source)
{
    struct exec_source *exec = from(source);
    message_ring_close(exec->ring);
    exec_blocks_free(&exec->blocks);
    free(exec->spare);
    free(exec);
}

static const struct source_operations operations = {
    .next = next, .info = info, .totals = totals, .stop = stop, .close = close_source};

struct source *exec_source_new(struct message_ring *ring, const struct capture_info *information,
                               struct bt_error *error)
{
    struct exec_source *exec = calloc(1, sizeof *exec);
    struct record *spare = malloc(SPARE_RECORDS * sizeof *spare);
    if (!exec || !spare) {
        bt_fail(error, BT_MEMORY, "no memory for a program's records");
        free(exec);
        free(spare);
        return NULL;
    }
    exec->source = (struct source){&operations, true};
    exec->ring = ring;
    exec->info = *information;
    exec->spare = spare;
    trace_expander_init(&exec->expander);
    return &exec->source;
}
