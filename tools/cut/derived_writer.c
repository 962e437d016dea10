#include "tools/cut/derived_writer.h"

#include "formats/base/clock.h"
#include "formats/base/saturating.h"
#include "formats/capture/capture_name.h"
#include "formats/capture/capture_writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

/* Room for any member, of records or copied. */
#define MEMBER_BYTES CAPTURE_MEMBER_BYTES_MAX

struct derived_writer {
    int file;
    const char *name; /* the caller's */
    struct capture_info info;
    struct capture_writer *writer; /* NULL before the first member */
    struct record_encoder *encoder;
    uint8_t *member; /* MEMBER_BYTES */
    uint64_t tick;   /* of the last member's end */
    struct batch block;
    struct derived_counts counts;
};

struct derived_writer *derived_writer_new(int fd, const char *name, const struct capture_info *info,
                                          struct bt_error *error)
{
    struct derived_writer *writer = calloc(1, sizeof *writer);
    if (!writer) {
        bt_fail(error, BT_MEMORY, "no memory for %s", name);
        return NULL;
    }
    writer->file = fd;
    writer->name = name;
    writer->info = *info;
    writer->info.derived = true;
    writer->info.file_number = 1;
    writer->info.keep = 0;
    writer->counts.clock_hz = info->clock_hz;
    if (!capture_info_has_id(info) &&
        getrandom(writer->info.id, sizeof info->id, 0) != (ssize_t)sizeof info->id) {
        bt_fail_errno(error, "cannot make an identity for the capture");
        free(writer);
        return NULL;
    }
    writer->encoder = record_encoder_new(
        capture_name_asks_coded(name) ? RECORD_ENGINE_COLUMNS : RECORD_ENGINE_BEST, -1, error);
    writer->member = malloc(MEMBER_BYTES);
    writer->block.capacity = CAPTURE_BLOCK_RECORDS;
    writer->block.records = malloc(writer->block.capacity * sizeof(struct record));
    if (writer->encoder)
        writer->info.version = (uint8_t)record_encoder_version(writer->encoder);
    if (writer->encoder && writer->member && writer->block.records)
        return writer;
    if (writer->encoder)
        bt_fail(error, BT_MEMORY, "no memory for a block");
    derived_writer_free(writer);
    return NULL;
}

void derived_writer_free(struct derived_writer *writer)
{
    if (!writer)
        return;
    capture_writer_free(writer->writer);
    record_encoder_free(writer->encoder);
    free(writer->member);
    free(writer->block.records);
    free(writer);
}

/* The time of day at a tick; now, if the capture does not tell, or a forged tick has none. */
static int64_t time_at(const struct capture_info *info, uint64_t tick)
{
    if (info->clock_hz == 0 || info->started_ns == 0)
        return clock_realtime_ns();
    const double passed = (double)tick * 1e9 / (double)info->clock_hz;
    const double limit = (double)(INT64_MAX / 2);
    if (passed > limit || (double)info->started_ns > limit)
        return clock_realtime_ns();
    return info->started_ns + (int64_t)passed;
}

/* Writes the header, unless it is written. */
static int begin(struct derived_writer *writer, uint64_t first_index, uint64_t tick,
                 struct bt_error *error)
{
    if (writer->writer)
        return 0;
    writer->info.file_started_ns = time_at(&writer->info, tick);
    writer->info.first_index = first_index;
    writer->counts.first_index = writer->counts.end_index = first_index;
    writer->writer = capture_writer_new(writer->file, writer->name, &writer->info, error);
    return writer->writer ? 0 : error->code;
}

/* Writes a member and counts it. */
static int append(struct derived_writer *writer, const struct batch *batch, const uint8_t *bytes,
                  size_t size, struct bt_error *error)
{
    struct derived_counts *counts = &writer->counts;
    int result =
        begin(writer, batch->first_index - loss_total(&batch->lost), batch->first_tick, error);
    if (result == 0)
        result = capture_writer_put(writer->writer, bytes, size, batch, error);
    if (result < 0)
        return result;
    if (batch->count > 0 && counts->records == 0)
        counts->first_tick = batch->first_tick;
    if (batch->count > 0)
        counts->last_tick = batch->last_tick;
    writer->tick = batch->last_tick;
    counts->end_index = batch->first_index + batch->count;
    counts->records += batch->count;
    counts->blocks++;
    loss_add(&counts->lost, &batch->lost);
    return 0;
}

static int compress(struct derived_writer *writer, const struct batch *batch,
                    struct bt_error *error)
{
    size_t size;
    int result =
        capture_put_data_member(writer->encoder, batch, writer->member, MEMBER_BYTES, &size, error);
    return result < 0 ? result : append(writer, batch, writer->member, size, error);
}

static int flush(struct derived_writer *writer, struct bt_error *error)
{
    if (writer->block.count == 0)
        return 0;
    int result = compress(writer, &writer->block, error);
    batch_clear(&writer->block);
    return result;
}

/* Whether a member may hold the block and then the batch. */
static bool continues(const struct batch *block, const struct batch *batch)
{
    return block->count > 0 && batch->count > 0 && loss_total(&batch->lost) == 0 &&
           batch->gap.milliseconds == 0 && !batch->gap.uncounted &&
           batch->first_index == block->first_index + block->count &&
           batch->records[0].time != UINT32_MAX &&
           batch->first_tick - block->last_tick == batch->records[0].time;
}

/* Copies the first records of a batch to the block, which has room; those after them remain. */
static void fill(struct batch *block, struct batch *batch)
{
    const size_t room = block->capacity - block->count;
    const size_t count = batch->count < room ? batch->count : room;
    struct record *records = block->records + block->count;
    memcpy(records, batch->records, count * sizeof *records);
    if (block->count > 0 && batch->gap.chosen) {
        records[0].attribute |= ATTRIBUTE_PART;
        block->parts++;
    }
    if (batch->event != EVENT_NONE) {
        records[0].attribute = (uint8_t)((records[0].attribute & ~ATTRIBUTE_EVENT) | batch->event);
        block->events = true;
    }
    if (block->count == 0) {
        struct record *own = block->records;
        const size_t capacity = block->capacity;
        const bool events = block->events;
        *block = *batch;
        block->records = own;
        block->capacity = capacity;
        block->events = events;
        block->count = 0;
    }
    block->last_tick = batch->first_tick + records_time(records + 1, count - 1);
    block->count += count;
    if (count < batch->count)
        batch->first_tick = block->last_tick + batch->records[count].time;
    batch->records += count;
    batch->count -= count;
    batch->first_index += count;
    batch->lost = (struct loss){.first_tick = 0};
    batch->gap = (struct gap){.milliseconds = 0};
    batch->event = EVENT_NONE;
}

int derived_writer_put(struct derived_writer *writer, const struct batch *batch,
                       struct bt_error *error)
{
    struct batch rest = *batch;
    int result = 0;
    if (batch->count == 0 && !batch_has_loss_or_gap(batch))
        return 0;
    if (!continues(&writer->block, batch) || batch->parts > 0 || batch->events)
        result = flush(writer, error);
    const bool whole = writer->block.count == 0 && batch->count == writer->block.capacity &&
                       batch->event == EVENT_NONE;
    if (result == 0 && (batch->count == 0 || batch->parts > 0 || batch->events || whole))
        return compress(writer, batch, error);
    while (result == 0 && rest.count > 0) {
        fill(&writer->block, &rest);
        if (writer->block.count == writer->block.capacity)
            result = flush(writer, error);
    }
    return result;
}

int derived_writer_copy(struct derived_writer *writer, const struct batch *batch,
                        const uint8_t *bytes, size_t size, bool restated, struct bt_error *error)
{
    int result = flush(writer, error);
    if (restated) {
        memcpy(writer->member, bytes, size);
        capture_restate_data_member(writer->member, batch);
        bytes = writer->member;
    }
    if (result == 0)
        result = append(writer, batch, bytes, size, error);
    writer->counts.copied += result == 0;
    return result;
}

/* Completes the counts of a file that is a whole capture. */
static void make_totals(const struct derived_writer *writer, struct capture_totals *totals,
                        const struct loss *after)
{
    const struct derived_counts *counts = &writer->counts;
    struct source_totals *source = &totals->source;
    if (totals->last_tick < writer->tick || loss_total(after) == 0)
        totals->last_tick = writer->tick;
    totals->ended_ns = time_at(&writer->info, totals->last_tick);
    totals->final = true;
    totals->capture_records = counts->records;
    source->accepted = counts->records;
    for (int stage = 0; stage < LOSS_STAGES; stage++) {
        totals->capture_lost[stage] = counts->lost.count[stage] + after->count[stage];
        source->accepted += totals->capture_lost[stage];
    }
    if (source->lost_bus < totals->capture_lost[LOSS_BUS])
        source->lost_bus = totals->capture_lost[LOSS_BUS];
    source->seen = saturating_add(saturating_add(source->accepted, source->filtered),
                                  saturating_add(source->above_4gib, source->undecoded));
    if (source->seen < UINT64_MAX)
        return;
    *source = (struct source_totals){.known = false};
    snprintf(totals->message, sizeof totals->message, "the counts of the boards are too large");
}

int derived_writer_close(struct derived_writer *writer, struct capture_totals *totals,
                         struct bt_error *error)
{
    struct loss after = {.first_tick = totals->last_tick, .last_tick = totals->last_tick};
    int result = flush(writer, error);
    if (result == 0)
        result = begin(writer, totals->end_index, totals->last_tick, error);
    if (result < 0)
        return result;
    memcpy(after.count, totals->file_lost, sizeof after.count);
    make_totals(writer, totals, &after);
    result = capture_writer_close(writer->writer, totals, error);
    writer->counts.filtered = totals->source.filtered;
    loss_add(&writer->counts.lost, &after);
    writer->counts.end_index = totals->end_index;
    writer->counts.bytes = capture_writer_bytes(writer->writer);
    return result;
}

unsigned derived_writer_version(const struct derived_writer *writer)
{
    return writer->info.version;
}

const struct derived_counts *derived_writer_counts(const struct derived_writer *writer)
{
    return &writer->counts;
}
