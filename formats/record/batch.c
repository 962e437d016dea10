#include "formats/record/batch.h"

#include "formats/base/saturating.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const char *loss_stage_name(enum loss_stage stage)
{
    static const char *const names[LOSS_STAGES] = {"bus", "link", "queue", "disk"};
    return names[stage];
}

char *loss_text(char text[LOSS_TEXT_BYTES], const uint64_t count[LOSS_STAGES])
{
    size_t used = 0;
    text[0] = '\0';
    for (int stage = 0; stage < LOSS_STAGES; stage++)
        if (count[stage] > 0)
            used += (size_t)snprintf(text + used, LOSS_TEXT_BYTES - used, "%s%s %" PRIu64,
                                     used ? ", " : "", loss_stage_name(stage), count[stage]);
    return text;
}

uint64_t loss_total(const struct loss *loss)
{
    uint64_t total = 0;
    for (int stage = 0; stage < LOSS_STAGES; stage++)
        total = saturating_add(total, loss->count[stage]);
    return total;
}

void loss_add(struct loss *loss, const struct loss *more)
{
    uint64_t before = loss_total(loss);
    if (loss_total(more) == 0)
        return;
    for (int stage = 0; stage < LOSS_STAGES; stage++)
        loss->count[stage] = saturating_add(loss->count[stage], more->count[stage]);
    if (before == 0 || more->first_tick < loss->first_tick)
        loss->first_tick = more->first_tick;
    if (before == 0 || more->last_tick > loss->last_tick)
        loss->last_tick = more->last_tick;
}

void gap_add(struct gap *gap, const struct gap *more)
{
    uint64_t sum = (uint64_t)gap->milliseconds + more->milliseconds;
    gap->milliseconds = sum < GAP_MILLISECONDS_MAX ? (uint32_t)sum : GAP_MILLISECONDS_MAX;
    gap->uncounted = gap->uncounted || more->uncounted;
    gap->chosen = gap->chosen || more->chosen;
}

struct gap gap_of_ns(int64_t nanoseconds, bool uncounted)
{
    int64_t milliseconds = nanoseconds / 1000000;
    struct gap gap = {.milliseconds = 1, .uncounted = uncounted};
    if (milliseconds > 1)
        gap.milliseconds =
            milliseconds < GAP_MILLISECONDS_MAX ? (uint32_t)milliseconds : GAP_MILLISECONDS_MAX;
    return gap;
}

bool batch_has_loss_or_gap(const struct batch *batch)
{
    return loss_total(&batch->lost) > 0 || batch->gap.milliseconds > 0 || batch->gap.chosen;
}

void batch_drop(struct batch *batch, size_t count)
{
    struct record *records = batch->records;
    if (count == 0 || batch->count == 0)
        return;
    if (count > batch->count)
        count = batch->count;
    batch->lost = (struct loss){.first_tick = 0};
    batch->gap = (struct gap){.milliseconds = 0};
    batch->event = EVENT_NONE;
    batch->first_index += count;
    batch->count -= count;
    if (batch->count == 0) {
        batch->first_tick = batch->last_tick;
        batch->parts = 0;
        return;
    }
    batch->first_tick += records_time(records + 1, count);
    memmove(records, records + count, batch->count * sizeof *records);
    if (batch->parts > 0) { /* the mark of the first record is the gap before the batch */
        batch->gap.chosen = records[0].attribute & ATTRIBUTE_PART;
        records[0].attribute &= (uint8_t)~ATTRIBUTE_PART;
        batch->parts = (uint32_t)records_parts(records, batch->count);
    }
}

void batch_shorten(struct batch *batch, size_t count)
{
    if (count >= batch->count)
        return;
    batch->count = count;
    batch->last_tick = batch->first_tick;
    if (count > 0)
        batch->last_tick += records_time(batch->records + 1, count - 1);
    else
        batch->event = EVENT_NONE;
    if (batch->parts > 0)
        batch->parts = (uint32_t)records_parts(batch->records, count);
}

void batch_clear(struct batch *batch)
{
    struct record *records = batch->records;
    size_t capacity = batch->capacity, exchangeable = batch->exchangeable;
    struct block_feed *feed = batch->feed;
    memset(batch, 0, sizeof *batch);
    batch->records = records;
    batch->capacity = capacity;
    batch->exchangeable = exchangeable;
    batch->feed = feed;
}
