#include "tools/cut/cut_range.h"

#include <string.h>

static bool within(const struct cut_range *range, uint64_t tick)
{
    return tick >= range->first_tick && tick <= range->last_tick;
}

/* Something is wanted: so is all that follows, up to the end of the part. Intervals of losses may
 * overlap, so that one that follows ends before the part begins. */
static void begin(struct cut_range *range)
{
    range->first_tick = 0;
}

enum cut_fate cut_range_judge(struct cut_range *range, const struct batch *description)
{
    const uint64_t count = description->count;
    if (range->left == 0)
        return CUT_PAST;
    if (count == 0)
        return CUT_PART;
    if (description->last_tick < range->first_tick)
        return CUT_PASSED;
    if (description->first_tick > range->last_tick)
        return CUT_PAST;
    if (!within(range, description->first_tick) || !within(range, description->last_tick))
        return CUT_PART;
    if (range->skip >= count) {
        range->skip -= count;
        return CUT_PASSED;
    }
    if (range->skip > 0 || range->left < count)
        return CUT_PART;
    if (loss_total(&description->lost) > 0 && !within(range, description->lost.last_tick))
        return CUT_PART;
    range->left -= range->left == UINT64_MAX ? 0 : count;
    begin(range);
    return CUT_WHOLE;
}

static void remove_hole(struct batch *batch)
{
    batch->lost = (struct loss){.first_tick = 0};
    batch->gap = (struct gap){.milliseconds = 0};
}

/* Of a batch without records: keeps its loss or gap if it is wanted. After a loss behind the part
 * there is nothing more, although the last known tick is still in it. */
static void trim_empty(struct cut_range *range, struct batch *batch)
{
    const bool lost = loss_total(&batch->lost) > 0;
    const uint64_t tick = lost ? batch->lost.last_tick : batch->last_tick;
    if (range->skip > 0 || !within(range, tick))
        remove_hole(batch);
    else
        begin(range);
    if (tick > range->last_tick)
        range->left = 0;
}

/* Makes the record at `from` the first one. */
static void begin_at(struct batch *batch, size_t from, uint64_t tick)
{
    batch->count -= from;
    batch->first_index += from;
    memmove(batch->records, batch->records + from, batch->count * sizeof *batch->records);
    batch->first_tick = tick;
    remove_hole(batch);
    batch->event = EVENT_NONE;
    if (batch->count == 0 || batch->parts == 0)
        return;
    if (batch->records[0].attribute & ATTRIBUTE_PART) {
        batch->records[0].attribute &= (uint8_t)~ATTRIBUTE_PART;
        batch->gap.chosen = true;
    }
    batch->parts = (uint32_t)records_parts(batch->records, batch->count);
}

void cut_range_trim(struct cut_range *range, struct batch *batch)
{
    size_t from = 0, end = 0;
    uint64_t tick = batch->first_tick, first = tick, last = tick;
    if (batch->count == 0) {
        trim_empty(range, batch);
        return;
    }
    for (size_t i = 0; i < batch->count; i++) {
        tick += i > 0 ? batch->records[i].time : 0;
        if (tick > range->last_tick || (range->skip == 0 && range->left == 0))
            break;
        if (tick < range->first_tick || range->skip > 0) {
            range->skip -= tick >= range->first_tick;
            from = end = i + 1;
            continue;
        }
        range->left -= range->left < UINT64_MAX;
        first = end == from ? tick : first;
        last = tick;
        end = i + 1;
    }
    if (loss_total(&batch->lost) > 0 && batch->lost.last_tick < range->first_tick)
        batch->lost = (struct loss){.first_tick = 0};
    batch->count = end;
    batch->last_tick = last;
    if (end > from)
        begin(range);
    if (from > 0)
        begin_at(batch, from, end > from ? first : last);
    else
        batch->parts = batch->parts ? (uint32_t)records_parts(batch->records, batch->count) : 0;
}

bool cut_range_trim_past(const struct cut_range *range, struct batch *batch, uint64_t tick)
{
    const bool wanted = range->left > 0 && range->skip == 0 && loss_total(&batch->lost) > 0 &&
                        within(range, batch->lost.last_tick);
    batch->count = 0;
    batch->parts = 0;
    batch->events = false;
    batch->gap = (struct gap){.milliseconds = 0};
    batch->first_tick = batch->last_tick = tick;
    return wanted;
}

bool cut_range_has_end(const struct cut_range *range, uint64_t tick)
{
    return range->left > 0 && range->skip == 0 && range->last_tick == UINT64_MAX &&
           tick >= range->first_tick;
}
