#include "tools/input/record_selection.h"

#include "formats/base/grow.h"
#include "formats/base/quantity.h"
#include "formats/record/expression.h"

#include <stdlib.h>
#include <string.h>

#define WORD_BYTES 64u

struct record_selection {
    struct expression *expression; /* NULL: every record */
    struct time_range range;
    uint64_t first_tick, last_tick; /* of the range */
    uint64_t removed;               /* records that did not match, so far */
    uint32_t time;                  /* of those since the last one that did */
    uint64_t *selected;             /* bits of a batch */
    size_t selected_capacity;
    struct batch held; /* count 0: nothing; owns its records, of which `capacity` have room */
};

/* --- ranges --- */

/* One end of a range; an empty one keeps *value. */
static int parse_end(uint64_t *value, bool *is_ticks, const char *text, struct bt_error *error)
{
    static const char tail[] = "ticks";
    const size_t size = strlen(text), tail_size = sizeof tail - 1;
    char word[WORD_BYTES];
    int64_t nanoseconds;
    if (size == 0)
        return 0;
    *is_ticks = size > tail_size && strcmp(text + size - tail_size, tail) == 0;
    if (*is_ticks) {
        memcpy(word, text, size - tail_size);
        word[size - tail_size] = '\0';
        return quantity_count(value, word, error);
    }
    const int result = quantity_duration(&nanoseconds, text, error);
    if (result == 0 && nanoseconds < 0)
        return bt_fail(error, BT_USAGE, "'%.40s' is before the beginning", text);
    if (result == 0)
        *value = (uint64_t)nanoseconds;
    return result;
}

int time_range_parse(struct time_range *range, const char *text, struct bt_error *error)
{
    const char *dots = strstr(text, "..");
    char from[WORD_BYTES];
    *range = (struct time_range){.text = text, .given = true, .to = UINT64_MAX};
    if (!dots || dots - text >= WORD_BYTES || strlen(dots + 2) >= WORD_BYTES || strlen(text) == 2)
        return bt_fail(error, BT_USAGE,
                       "'%.40s' is no range of time: 1s..2s is one, and 10ms.. or ..1Mticks", text);
    memcpy(from, text, (size_t)(dots - text));
    from[dots - text] = '\0';
    if (parse_end(&range->from, &range->from_is_ticks, from, error) < 0 ||
        parse_end(&range->to, &range->to_is_ticks, dots + 2, error) < 0)
        return error->code;
    if (range->from > range->to && range->from_is_ticks == range->to_is_ticks)
        return bt_fail(error, BT_USAGE, "'%.40s' ends before it begins", text);
    return 0;
}

static uint64_t in_ticks(uint64_t value, bool is_ticks, uint64_t clock_hz)
{
    if (is_ticks || value == 0 || value == UINT64_MAX)
        return value;
    const long double ticks = (long double)value * (long double)clock_hz / 1e9L;
    return ticks < 0x1p63L ? (uint64_t)(ticks + 0.5L) : UINT64_MAX;
}

/* --- selections --- */

struct record_selection *record_selection_new(const char *filter, const struct time_range *range,
                                              struct bt_error *error)
{
    struct record_selection *selection = calloc(1, sizeof *selection);
    if (!selection) {
        bt_fail(error, BT_MEMORY, "no memory for a filter");
        return NULL;
    }
    selection->range = *range;
    if (filter && expression_parse(&selection->expression, filter, NULL, error) < 0) {
        record_selection_free(selection);
        return NULL;
    }
    return selection;
}

void record_selection_free(struct record_selection *selection)
{
    if (!selection)
        return;
    expression_free(selection->expression);
    free(selection->selected);
    free(selection->held.records);
    free(selection);
}

int record_selection_clock(struct record_selection *selection, uint64_t clock_hz,
                           struct bt_error *error)
{
    const struct time_range *range = &selection->range;
    const bool needs = range->given && ((range->from > 0 && !range->from_is_ticks) ||
                                        (range->to < UINT64_MAX && !range->to_is_ticks));
    if (needs && clock_hz == 0)
        return bt_fail(error, BT_USAGE,
                       "the trace does not specify its clock: give --time in ticks");
    selection->first_tick = in_ticks(range->from, range->from_is_ticks, clock_hz);
    selection->last_tick =
        range->given ? in_ticks(range->to, range->to_is_ticks, clock_hz) : UINT64_MAX;
    return selection->expression ? expression_clock(selection->expression, clock_hz, error) : 0;
}

uint64_t record_selection_first_tick(const struct record_selection *selection)
{
    return selection->first_tick;
}

uint64_t record_selection_last_tick(const struct record_selection *selection)
{
    return selection->last_tick;
}

size_t record_selection_trim(const struct record_selection *selection, struct batch *batch,
                             bool *past)
{
    uint64_t tick = batch->first_tick;
    size_t before = 0;
    if (!selection->range.given)
        return 0;
    while (before < batch->count && tick < selection->first_tick) {
        before++;
        tick += before < batch->count ? batch->records[before].time : 0;
    }
    if (before > 0) {
        batch->count -= before;
        batch->first_index += before;
        memmove(batch->records, batch->records + before, batch->count * sizeof *batch->records);
        batch->first_tick = tick;
        batch->event = EVENT_NONE;
    }
    if (before > 0 || tick < selection->first_tick) {
        batch->lost = (struct loss){.first_tick = 0};
        batch->gap = (struct gap){.milliseconds = 0};
    }
    size_t kept = 0;
    for (; kept < batch->count && tick <= selection->last_tick; kept++) {
        batch->last_tick = tick;
        tick += kept + 1 < batch->count ? batch->records[kept + 1].time : 0;
    }
    *past =
        kept < batch->count || (batch->count == 0 && before == 0 && tick > selection->last_tick);
    if (kept == 0 && *past) { /* what was lost before it may lie behind the range */
        batch->lost = (struct loss){.first_tick = 0};
        batch->gap = (struct gap){.milliseconds = 0};
    }
    batch->count = kept;
    return before;
}

static uint32_t add_time(uint32_t a, uint32_t b)
{
    return a < UINT32_MAX - b ? a + b : UINT32_MAX;
}

/* Holds the records from `from` on; tick is that of the first of them. */
static int hold(struct record_selection *selection, const struct batch *batch, size_t from,
                uint64_t tick, struct bt_error *error)
{
    struct batch *held = &selection->held;
    const size_t count = batch->count - from;
    struct record *records = held->records;
    if (count > held->capacity) {
        records = realloc(records, count * sizeof *records);
        if (!records)
            return bt_fail(error, BT_MEMORY, "no memory for a filter");
        held->capacity = count;
    }
    memcpy(records, batch->records + from, count * sizeof *records);
    *held = (struct batch){.records = records,
                           .capacity = held->capacity,
                           .count = count,
                           .first_index = batch->first_index + from,
                           .first_tick = tick,
                           .last_tick = batch->last_tick,
                           .parts = batch->parts,
                           .events = batch->events,
                           .host_time_ns = batch->host_time_ns};
    return 0;
}

int record_selection_apply(struct record_selection *selection, struct batch *batch,
                           struct bt_error *error)
{
    struct record *records = batch->records;
    uint64_t tick = batch->first_tick, first_tick = tick, last_tick = tick;
    size_t kept = 0, i = 0;
    if (!selection->expression)
        return 0;
    uint64_t *selected = grow_array(selection->selected, &selection->selected_capacity,
                                    batch->count / 64 + 1, sizeof *selected);
    if (!selected)
        return bt_fail(error, BT_MEMORY, "no memory for a filter");
    selection->selected = selected;
    if (expression_select(selection->expression, batch, batch->first_index, selected) ==
            batch->count &&
        selection->time == 0) {
        batch->first_index -= selection->removed;
        return 0;
    }
    for (; i < batch->count; i++) {
        const uint32_t time = add_time(selection->time, records[i].time);
        tick += i ? records[i].time : 0;
        if (!(selected[i / 64] >> i % 64 & 1)) {
            selection->time = time;
            continue;
        }
        if (kept > 0 && time == UINT32_MAX) { /* only a batch's first tick says how long that was */
            if (hold(selection, batch, i, tick, error) < 0)
                return error->code;
            break;
        }
        first_tick = kept ? first_tick : tick;
        last_tick = tick;
        records[kept] = records[i];
        records[kept++].time = time;
        selection->time = 0;
    }
    batch->first_index -= selection->removed;
    selection->removed += i - kept;
    batch->count = kept;
    batch->first_tick = first_tick;
    batch->last_tick = last_tick;
    return 0;
}

bool record_selection_held(struct record_selection *selection, struct batch *batch)
{
    struct batch *held = &selection->held;
    if (held->count == 0)
        return false;
    struct record *records = batch->records;
    memcpy(records, held->records, held->count * sizeof *records);
    *batch = *held;
    batch->records = records;
    held->count = 0;
    return true;
}
