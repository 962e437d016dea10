#include "tests/support/random_capture.h"

#include "formats/capture/capture_writer.h"
#include "formats/capture/trace_reader.h"
#include "tests/support/random.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BLOCK_RECORDS 60u
#define STARTED_NS    INT64_C(1795214700000000000)

struct maker {
    struct trace_items *items;
    uint64_t random;
    bool program;
    uint64_t index, tick;
    bool follows;      /* a record precedes, without a loss since */
    struct loss after; /* of closing members, since the last block */
    struct capture_writer *writer;
    struct capture_totals totals;
    struct record_encoder *encoder;
    struct record records[BLOCK_RECORDS];
    uint8_t member[65536];
};

static void require(bool condition, const char *what)
{
    if (condition)
        return;
    fprintf(stderr, "random_capture: %s\n", what);
    abort();
}

static uint64_t below(struct maker *maker, uint64_t limit)
{
    return random_below(&maker->random, limit);
}

static void random_counts(struct maker *maker, uint64_t counts[LOSS_STAGES])
{
    for (int stage = 0; stage < LOSS_STAGES; stage++)
        counts[stage] = below(maker, 3) == 0 ? below(maker, 5) : 0;
    counts[below(maker, LOSS_STAGES)]++;
}

static struct record random_record(struct maker *maker)
{
    static const uint8_t types[] = {REQUEST_FETCH, REQUEST_MEMREAD, REQUEST_MEMWRITE};
    return (struct record){.address = (uint32_t)below(maker, 64) * 64,
                           .type = types[below(maker, 3)],
                           .size = (uint8_t)(4u << below(maker, 2)),
                           .attribute = (uint8_t)below(maker, 4),
                           .processor = (uint8_t)below(maker, 4),
                           .time = (uint32_t)(below(maker, 4) == 0 ? 0 : below(maker, 30))};
}

/* Decides what is before the records of a block: loss, gap, and the tick of the first record. */
static void random_beginning(struct maker *maker, struct batch *block)
{
    uint64_t tick = maker->tick;
    if (below(maker, 3) == 0 || (block->count == 0 && below(maker, 2) == 0)) {
        random_counts(maker, block->lost.count);
        block->lost.first_tick = tick + below(maker, 50);
        block->lost.last_tick = tick = block->lost.first_tick + below(maker, 50);
    }
    if (below(maker, 5) == 0 || (block->count == 0 && loss_total(&block->lost) == 0))
        block->gap.milliseconds = 1 + (uint32_t)below(maker, 90);
    if (maker->program && block->count > 0)
        block->gap.chosen = below(maker, 5) == 0;
    maker->index += loss_total(&block->lost);
    block->first_index = maker->index;
    block->first_tick = block->last_tick = maker->tick;
    if (block->count == 0)
        return;
    struct record *first = block->records;
    const bool saturated = below(maker, 10) == 0;
    const bool follows =
        maker->follows && loss_total(&block->lost) == 0 && block->gap.milliseconds == 0;
    if (saturated)
        first->time = UINT32_MAX;
    block->first_tick = follows && !saturated ? maker->tick + first->time
                        : saturated           ? tick + UINT32_MAX + below(maker, 9)
                                              : tick + below(maker, 40);
}

/* Adds the items of a block; marks its records. */
static void add_items(struct maker *maker, struct batch *block)
{
    struct loss lost = block->lost;
    if (loss_total(&maker->after) > 0) {
        struct loss hole = maker->after;
        hole.first_tick = maker->tick;
        hole.last_tick = loss_total(&lost) > 0 ? lost.first_tick : block->first_tick;
        loss_add(&lost, &hole);
    }
    struct trace_item item = {
        .index = block->first_index, .tick = block->first_tick, .lost = lost, .gap = block->gap};
    struct trace_items *items = maker->items;
    if (block->count == 0)
        items->items[items->count++] = item;
    for (size_t i = 0; i < block->count; i++) {
        struct record *record = &block->records[i];
        item.is_record = true;
        item.record = *record;
        item.event = EVENT_NONE;
        if (i > 0) {
            item.tick += record->time;
            item.lost = (struct loss){.first_tick = 0};
            item.gap = (struct gap){.chosen = maker->program && below(maker, 9) == 0};
        }
        if (maker->program && record->type == REQUEST_FETCH && below(maker, 9) == 0)
            item.event = (uint8_t)((1 + below(maker, 3)) << 4);
        item.index = block->first_index + i;
        items->items[items->count++] = item;
        record->attribute |= item.event;
        block->events |= item.event != EVENT_NONE;
        if (i > 0 && item.gap.chosen) {
            record->attribute |= ATTRIBUTE_PART;
            block->parts++;
        }
    }
    block->last_tick = item.tick;
}

static void put_block(struct maker *maker)
{
    struct batch block = {.records = maker->records, .count = below(maker, BLOCK_RECORDS)};
    size_t size;
    block.count = below(maker, 6) == 0 ? 0 : block.count + 1;
    for (size_t i = 0; i < block.count; i++)
        block.records[i] = random_record(maker);
    random_beginning(maker, &block);
    add_items(maker, &block);
    require(capture_put_data_member(maker->encoder, &block, maker->member, sizeof maker->member,
                                    &size, NULL) == 0 &&
                capture_writer_put(maker->writer, maker->member, size, &block, NULL) == 0,
            "cannot write a block");
    maker->index += block.count;
    maker->tick = block.last_tick;
    maker->follows = block.count > 0;
    maker->after = (struct loss){.first_tick = 0};
    maker->totals.capture_records += block.count;
    for (int stage = 0; stage < LOSS_STAGES; stage++)
        maker->totals.capture_lost[stage] += block.lost.count[stage];
}

static void close_file(struct maker *maker, bool last)
{
    struct capture_totals *totals = &maker->totals;
    struct loss after = {.first_tick = maker->tick, .last_tick = maker->tick};
    if (below(maker, 3) == 0) {
        random_counts(maker, after.count);
        after.last_tick += below(maker, 100);
        maker->follows = false;
    }
    loss_add(&maker->after, &after);
    memcpy(totals->file_lost, after.count, sizeof after.count);
    for (int stage = 0; stage < LOSS_STAGES; stage++)
        totals->capture_lost[stage] += after.count[stage];
    maker->index += loss_total(&after);
    totals->final = last;
    totals->end = last ? CAPTURE_END_STOPPED : CAPTURE_END_ROTATED;
    totals->last_tick = after.last_tick;
    totals->source = (struct source_totals){.known = last,
                                            .seen = maker->index,
                                            .accepted = maker->index,
                                            .lost_bus = totals->capture_lost[LOSS_BUS]};
    require(capture_writer_close(maker->writer, totals, NULL) == 0, "cannot close a file");
    if (last)
        maker->items->after = maker->after;
}

static void put_file(struct maker *maker, const char *prefix, int number, bool last, uint64_t seed)
{
    struct capture_info info = {.clock_hz = 66000000,
                                .board = "made for a test",
                                .started_ns = STARTED_NS,
                                .file_number = (uint32_t)number,
                                .first_index = maker->index};
    uint64_t id = random_seed(seed);
    char name[4096];
    random_fill(&id, info.id, sizeof info.id);
    /* files of a capture may differ in version */
    info.version = (uint8_t)(1 + (seed + (uint64_t)number) % CAPTURE_VERSION_CODED);
    maker->encoder = record_encoder_new(seed % 4 == 1 && info.version == CAPTURE_VERSION_CODED
                                            ? RECORD_ENGINE_COLUMNS
                                            : RECORD_ENGINE_ZLIB,
                                        1, NULL);
    require(maker->encoder, "no memory");
    record_encoder_set_version(maker->encoder, info.version);
    strcpy(info.bus, maker->program ? CAPTURE_BUS_PROGRAM : "p6");
    snprintf(name, sizeof name, "%s_%d.byu.gz", prefix, number);
    const int file = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    maker->writer = capture_writer_new(file, name, &info, NULL);
    require(maker->writer, "cannot create a file");
    for (uint64_t blocks = below(maker, 5); blocks > 0; blocks--)
        put_block(maker);
    close_file(maker, last);
    capture_writer_free(maker->writer);
    record_encoder_free(maker->encoder);
    close(file);
}

int random_capture_write(struct trace_items *items, const char *prefix, uint64_t seed, bool program)
{
    struct maker *maker = calloc(1, sizeof *maker);
    require(maker, "no memory");
    maker->items = items;
    maker->random = random_seed(seed);
    maker->program = program;
    items->count = 0;
    const int files = 1 + (int)below(maker, RANDOM_CAPTURE_FILES);
    for (int number = 1; number <= files; number++)
        put_file(maker, prefix, number, number == files, seed);
    free(maker);
    return files;
}

/* --- reading --------------------------------------------------------------------------------- */

static void take_batch(struct trace_items *items, const struct batch *batch)
{
    struct trace_item item = {.index = batch->first_index,
                              .tick = batch->first_tick,
                              .lost = batch->lost,
                              .gap = batch->gap,
                              .event = batch->event};
    require(items->count + batch->count < TRACE_ITEMS_MAX, "too many records");
    if (batch->count == 0)
        items->items[items->count++] = item;
    for (size_t i = 0; i < batch->count; i++) {
        item.is_record = true;
        item.record = batch->records[i];
        item.tick += i > 0 ? item.record.time : 0;
        item.index = batch->first_index + i;
        items->items[items->count++] = item;
        item.lost = (struct loss){.first_tick = 0};
        item.gap = (struct gap){.milliseconds = 0};
        item.event = EVENT_NONE;
    }
}

void trace_items_read(struct trace_items *items, const char *path)
{
    struct record records[BLOCK_RECORDS];
    struct batch batch = {.records = records, .capacity = BLOCK_RECORDS};
    struct trace_reader *reader;
    struct loss lost = {.first_tick = 0};
    items->count = 0;
    require(trace_reader_open(&reader, path, 0, NULL) == 0, "cannot open a file");
    while (source_next(trace_reader_source(reader), &batch, -1, NULL) == 1) {
        take_batch(items, &batch);
        loss_add(&lost, &batch.lost);
    }
    const struct capture_totals *closing = trace_reader_closing(reader);
    require(closing, "a file has no closing member");
    items->after = (struct loss){.first_tick = closing->last_tick};
    for (int stage = 0; stage < LOSS_STAGES; stage++)
        items->after.count[stage] = closing->file_lost[stage] - lost.count[stage];
    source_close(trace_reader_source(reader));
}

void trace_items_join(struct trace_items *items)
{
    struct loss lost = {.first_tick = 0};
    struct gap gap = {.milliseconds = 0};
    size_t kept = 0;
    for (size_t i = 0; i < items->count; i++) {
        struct trace_item item = items->items[i];
        loss_add(&lost, &item.lost);
        gap_add(&gap, &item.gap);
        if (!item.is_record)
            continue;
        item.lost = lost;
        item.gap = gap;
        items->items[kept++] = item;
        lost = (struct loss){.first_tick = 0};
        gap = (struct gap){.milliseconds = 0};
    }
    items->count = kept;
    loss_add(&items->after, &lost);
}

/* --- comparing ------------------------------------------------------------------------------- */

static bool same_loss(const struct loss *a, const struct loss *b, bool interval)
{
    return memcmp(a->count, b->count, sizeof a->count) == 0 &&
           (!interval || loss_total(a) == 0 ||
            (a->first_tick == b->first_tick && a->last_tick == b->last_tick));
}

static bool same_record(const struct record *a, const struct record *b)
{
    return a->address == b->address && a->type == b->type && a->size == b->size &&
           a->attribute == b->attribute && a->processor == b->processor;
}

static void print_item(const char *what, const struct trace_item *item)
{
    printf("\n%s: index %" PRIu64 ", tick %" PRIu64 ", type %u, attribute %u, lost %" PRIu64
           " (%" PRIu64 " to %" PRIu64 "), gap %u%s, event %u",
           what, item->index, item->tick, item->record.type, item->record.attribute,
           loss_total(&item->lost), item->lost.first_tick, item->lost.last_tick,
           item->gap.milliseconds, item->gap.chosen ? " chosen" : "", item->event);
}

bool trace_items_equal(const struct trace_items *got, const struct trace_items *wanted)
{
    for (size_t i = 0; i < got->count && i < wanted->count; i++) {
        const struct trace_item *a = &got->items[i], *b = &wanted->items[i];
        if (a->index == b->index && a->tick == b->tick && same_record(&a->record, &b->record) &&
            same_loss(&a->lost, &b->lost, true) && a->gap.milliseconds == b->gap.milliseconds &&
            a->gap.chosen == b->gap.chosen && a->event == b->event)
            continue;
        printf("\nitem %zu differs", i);
        print_item("got", a);
        print_item("wanted", b);
        return false;
    }
    if (got->count != wanted->count || !same_loss(&got->after, &wanted->after, false)) {
        printf("\ngot %zu records and %" PRIu64 " lost after them, wanted %zu and %" PRIu64,
               got->count, loss_total(&got->after), wanted->count, loss_total(&wanted->after));
        return false;
    }
    return true;
}
