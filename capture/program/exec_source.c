#include "capture/program/exec_source.h"

#include "capture/program/exec_blocks.h"
#include "formats/base/clock.h"
#include "formats/blocks/block_feed.h"

#include <stdlib.h>
#include <string.h>

#define SPARE_RECORDS (TRACE_EXPAND_SOME_MIN + 16u)
#define WORDS_COPIED  1024u /* at a time */

_Static_assert(MESSAGE_RING_BEYOND >= TRACE_EXPAND_BEYOND, "entries are expanded in the ring");

struct exec_source {
    struct source source;
    struct message_ring *ring;
    struct message_taker taker;
    struct capture_info info;
    uint64_t records, tick;

    const uint8_t *message;     /* being read; NULL: none */
    struct exec_message head;   /* its begin; the program may change what is in the ring */
    size_t bytes, done;         /* of its content, and of that read so far */
    bool begins_part;           /* its next record begins a part, */
    uint8_t event;              /* and its next fetch has an event */
    bool has_parts, has_events; /* records may have these marks, from now on */

    struct exec_blocks blocks;
    struct trace_expander expander;
    size_t expanding;     /* number of entries that were to be expanded last */
    struct record *spare; /* records that did not fit in the batch */
    size_t spare_at, spare_end;
    struct bt_error failure; /* to be reported after the records before it; code 0: none */
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

/* Begins the next message, unless one is being read. 1; 0: none is there; or BT_DEVICE. */
static int begin_message(struct exec_source *exec, struct bt_error *error)
{
    struct exec_message *head = &exec->head;
    size_t bytes;
    if (exec->message)
        return 1;
    exec->message = message_ring_front(&exec->taker, &bytes);
    if (!exec->message)
        return exec->taker.overwritten ? exec_overwritten(error) : 0;
    if (bytes >= sizeof *head)
        memcpy(head, exec->message, sizeof *head);
    if (bytes < sizeof *head || head->event & ~ATTRIBUTE_EVENT)
        return exec_overwritten(error);
    exec->bytes = bytes - sizeof *head;
    exec->done = 0;
    exec->begins_part = head->begins_part;
    exec->event = head->event;
    exec->has_parts |= head->begins_part != 0;
    exec->has_events |= head->has_events || head->event != EVENT_NONE;
    return 1;
}

static const void *content(const struct exec_source *exec)
{
    return exec->message + sizeof(struct exec_message) + exec->done;
}

static void end_message(struct exec_source *exec)
{
    exec->message = NULL;
    message_ring_drop(&exec->taker);
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

/* Counts records that are in place after those of the batch, or executions that stand for them;
 * the first one has the time `first`. */
static void count_records(struct exec_source *exec, struct batch *batch, size_t count,
                          uint64_t time, uint32_t first)
{
    if (batch->count == 0 && count > 0)
        batch->first_tick = exec->tick + first;
    batch->count += count;
    exec->tick += time;
}

/* Adds records that are in place after those of the batch. */
static void add(struct exec_source *exec, struct batch *batch, size_t count, uint64_t time)
{
    const struct record *first = batch->records + batch->count;
    if (batch->feed && count > 0)
        block_feed_add_records(batch->feed, batch->feed->base + batch->count, count);
    count_records(exec, batch, count, time, count > 0 ? first->time : 0);
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

/* 1; 0: the next record begins another batch; or BT_DEVICE. */
static int take_records(struct exec_source *exec, struct batch *batch, struct bt_error *error)
{
    const size_t count = (exec->bytes - exec->done) / sizeof *batch->records;
    struct record *to = batch->records + batch->count;
    if (exec->bytes % sizeof *to != 0)
        return exec_overwritten(error);
    const size_t copied = copy(exec, batch, content(exec), count);
    mark(exec, to, copied);
    exec->done += copied * sizeof *to;
    if (copied == count)
        end_message(exec);
    /* a time that saturated may begin another block of the capture, which only records can */
    if (batch->feed && batch->count > 0 && batch->count == copied && to->time == UINT32_MAX)
        return 0;
    return copied == count || room(batch) == 0;
}

/* --- executions of blocks ----------------------------------------------------------------------
 */

static size_t entries_left(const struct exec_source *exec)
{
    return (exec->bytes - exec->done) / sizeof(uint32_t);
}

/* Counts entries as read, and ends the message with the last one. */
static void pass_entries(struct exec_source *exec, size_t count)
{
    exec->done += count * sizeof(uint32_t);
    if (exec->done < exec->bytes)
        return;
    message_ring_set_counted(exec->ring, exec->expander.instructions);
    end_message(exec);
}

/* Expands at most `entries` entries to `records`; *count gets the number of records, *time their
 * time. 0 or BT_DEVICE. */
static int expand(struct exec_source *exec, size_t entries, struct record *records, size_t capacity,
                  size_t *count, uint64_t *time, struct bt_error *error)
{
    struct trace_expander *expander = &exec->expander;
    const uint64_t before = expander->instructions;
    const bool was_within = expander->pause.on;
    expander->repetitions = exec->head.repetitions;
    expander->fs_base = exec->head.fs_base;
    expander->processor = exec->head.processor;
    expander->records = records;
    expander->capacity = capacity;
    expander->count = 0;
    const size_t passed = expander->cache ? trace_expand_some(expander, content(exec), entries)
                                          : TRACE_EXPAND_UNSOUND;
    if (passed == TRACE_EXPAND_UNSOUND)
        return exec_overwritten(error);
    /* fetches have time 1, all others 0; a part of an execution has counted all of them */
    *time = was_within || expander->pause.on ? records_time(records, expander->count)
                                             : expander->instructions - before;
    *count = expander->count;
    mark(exec, records, expander->count);
    pass_entries(exec, passed);
    return 0;
}

/* Expands at most `entries` entries. 1; 0: the batch has records, and room for few more, so the
 * caller may have more room next time; or BT_DEVICE. */
static int take_entries(struct exec_source *exec, struct batch *batch, size_t entries,
                        struct bt_error *error)
{
    uint64_t time;
    size_t count;
    int result;
    exec->expanding = entries;
    if (room(batch) >= TRACE_EXPAND_SOME_MIN) {
        result =
            expand(exec, entries, batch->records + batch->count, room(batch), &count, &time, error);
        if (result == 0)
            add(exec, batch, count, time);
        return result == 0 ? 1 : result;
    }
    if (batch->count > 0)
        return 0;
    exec->spare_at = 0;
    result = expand(exec, entries, exec->spare, SPARE_RECORDS, &exec->spare_end, &time, error);
    return result == 0 ? 1 : result;
}

/* What take_words() has copied to the batch. */
struct words {
    uint32_t *words;
    size_t copied, taken; /* words; `taken` of them are executions to be coded */
    size_t records;       /* that these stand for */
    size_t next;          /* words of the next execution; 0: there is none */
    const struct table_entry *first;
};

/* Copies executions to the batch, and checks the copy, up to one that is to be expanded, or that
 * has more records than there is room for. 0 or BT_DEVICE. */
static int copy_words(struct exec_source *exec, const struct batch *batch, struct words *copy,
                      struct bt_error *error)
{
    const struct block_table *table = exec->blocks.table;
    const uint32_t *entries = content(exec);
    const size_t there = entries_left(exec), most = room(batch);
    const size_t fitting = most * BLOCK_TABLE_WORDS;
    while (copy->taken < there) {
        size_t wanted = copy->taken + (copy->next > 0 ? copy->next : 1);
        if (wanted > there)
            return exec_overwritten(error);
        if (wanted > copy->copied) {
            size_t more = there - copy->copied;
            more = more < WORDS_COPIED ? more : WORDS_COPIED;
            more = more < fitting - copy->copied ? more : fitting - copy->copied;
            more = copy->copied + more < wanted ? wanted - copy->copied : more;
            memcpy(copy->words + copy->copied, entries + copy->copied, more * sizeof *entries);
            copy->copied += more;
        }
        const uint32_t number = copy->words[copy->taken];
        if (number >= table->count)
            return exec_overwritten(error);
        const struct table_entry *entry = block_table_entry(table, number);
        copy->next = entry->words;
        if (!entry->block || copy->records + entry->records > most)
            return 0;
        if (copy->taken + entry->words > copy->copied)
            continue; /* reads the number again, of the copy */
        copy->first = copy->first ? copy->first : entry;
        copy->taken += entry->words;
        copy->records += entry->records;
        exec->expander.instructions += entry->instructions;
        copy->next = 0;
    }
    return 0;
}

/* Adds executions to the batch's feed as they are. What cannot be coded, or does not fit, is
 * expanded: one execution. The same results as of take_entries(). */
static int take_words(struct exec_source *exec, struct batch *batch, struct bt_error *error)
{
    const uint64_t before = exec->expander.instructions;
    struct words copy = {.words = (uint32_t *)(void *)(batch->records + batch->count)};
    if (copy_words(exec, batch, &copy, error) < 0)
        return BT_DEVICE;
    if (copy.taken == 0)
        return take_entries(exec, batch, copy.next, error);
    struct block_segment segment = {.table = exec->blocks.table,
                                    .first = (uint32_t)(batch->feed->base + batch->count),
                                    .count = (uint32_t)copy.taken,
                                    .fs_base = (uint32_t)exec->head.fs_base,
                                    .processor = exec->head.processor,
                                    .marks = exec->event};
    if (exec->begins_part)
        segment.marks |= ATTRIBUTE_PART;
    exec->begins_part = false;
    exec->event = EVENT_NONE;
    block_feed_add_words(batch->feed, &segment);
    count_records(exec, batch, copy.records, exec->expander.instructions - before,
                  copy.first->block->records[0].time);
    pass_entries(exec, copy.taken);
    return 1;
}

/* Whether executions can be added as they are, from here on. */
static bool feeds(const struct exec_source *exec, const struct batch *batch)
{
    return batch->feed && exec->blocks.table && !exec->expander.pause.on &&
           block_feed_has_room(batch->feed);
}

static int take_executions(struct exec_source *exec, struct batch *batch, struct bt_error *error)
{
    const size_t left = entries_left(exec);
    if (exec->bytes % sizeof(uint32_t) != 0)
        return exec_overwritten(error);
    if (feeds(exec, batch))
        return take_words(exec, batch, error);
    const bool resumes = exec->expander.pause.on && exec->expanding < left;
    return take_entries(exec, batch, resumes ? exec->expanding : left, error);
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
    result = begin_message(exec, error);
    if (result <= 0)
        return result;
    switch (exec->head.kind) {
    case EXEC_MESSAGE_RECORDS:
        return take_records(exec, batch, error);
    case EXEC_MESSAGE_ENTRIES:
        return take_executions(exec, batch, error);
    case EXEC_MESSAGE_BLOCK:
        exec->blocks.feeds = batch->feed != NULL;
        result = exec_blocks_add(&exec->blocks, content(exec), exec->bytes, error);
        exec->expander.cache = exec->blocks.cache;
        exec->expander.code = exec->blocks.code;
        end_message(exec);
        return result < 0 ? result : 1;
    case EXEC_MESSAGE_FORGET:
        result = exec_blocks_forget(&exec->blocks, error);
        end_message(exec);
        return result < 0 ? result : 1;
    default:
        return exec_overwritten(error);
    }
}

/* --- the source --------------------------------------------------------------------------------
 */

/* Moves the mark of the first record to batch->gap and counts the others. */
static void take_marks(const struct exec_source *exec, struct batch *batch)
{
    struct record *first = batch->records;
    if (exec->has_parts) {
        batch->gap.chosen = first->attribute & ATTRIBUTE_PART;
        first->attribute &= (uint8_t)~ATTRIBUTE_PART;
        batch->parts = (uint32_t)records_parts(first, batch->count);
    }
    if (exec->has_events)
        batch->events = records_have_events(batch->records, batch->count);
}

/* The same of a segment of the feed, from the batch's first record on. */
static void take_segment_marks(struct batch *batch, struct block_segment *segment)
{
    const size_t base = batch->feed->base;
    const size_t skipped = segment->first < base ? base - segment->first : 0;
    const size_t at = segment->first + skipped - base;
    struct record *records = batch->records + at;
    uint8_t *first = segment->table ? &segment->marks : &records->attribute;
    if (at == 0) {
        batch->gap.chosen = *first & ATTRIBUTE_PART;
        *first &= (uint8_t)~ATTRIBUTE_PART;
    }
    if (segment->table) {
        batch->parts += segment->marks & ATTRIBUTE_PART ? 1 : 0;
        batch->events |= (segment->marks & ATTRIBUTE_EVENT) != 0;
    } else {
        batch->parts += (uint32_t)records_parts(records, segment->count - skipped);
        batch->events |= records_have_events(records, segment->count - skipped);
    }
}

static void take_feed_marks(struct batch *batch)
{
    const struct block_feed *feed = batch->feed;
    size_t i = feed->count;
    while (i > 0 && feed->segments[i - 1].first >= feed->base)
        i--;
    if (i > 0 && !feed->segments[i - 1].table &&
        feed->segments[i - 1].first + feed->segments[i - 1].count > feed->base)
        i--;
    for (; i < feed->count; i++)
        take_segment_marks(batch, &feed->segments[i]);
}

static int next(struct source *source, struct batch *batch, int timeout_ms, struct bt_error *error)
{
    struct exec_source *exec = from(source);
    int result = 0;
    batch_clear(batch);
    if (exec->failure.code)
        return bt_fail(error, exec->failure.code, "%s", exec->failure.message);
    do {
        if (!exec->message && exec->spare_at == exec->spare_end &&
            !message_ring_wait(&exec->taker, timeout_ms))
            return 0;
        while ((result = take_some(exec, batch, &exec->failure)) > 0)
            continue;
    } while (result == 0 && batch->count == 0 && timeout_ms < 0);
    if (result < 0 && batch->count == 0)
        return bt_fail(error, result, "%s", exec->failure.message);
    if (batch->count == 0)
        return bt_fail(error, BT_TIMEOUT, "the program made no references");
    if ((exec->has_parts || exec->has_events) && batch->feed)
        take_feed_marks(batch);
    else if (exec->has_parts || exec->has_events)
        take_marks(exec, batch);
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
    exec->source = (struct source){&operations, .backpressure = true, .feeds = true};
    exec->ring = ring;
    exec->taker = message_taker_of(ring);
    exec->info = *information;
    exec->spare = spare;
    trace_expander_init(&exec->expander);
    return &exec->source;
}
