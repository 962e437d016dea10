#include "tools/input/record_selection.h"

#include "formats/record/batch_filter.h"
#include "formats/record/expression.h"

#include <stdlib.h>
#include <string.h>

#define WORD_BYTES 64u

struct record_selection {
    struct expression *expression; /* NULL: every record */
    struct time_range range;
    uint64_t first_tick, last_tick; /* of the range */
    struct batch_filter filter;     /* with that expression */
};

/* --- ranges --- */

/* One end of a range, which may be empty. */
static int parse_end(struct extent *end, const char *text, struct bt_error *error)
{
    *end = (struct extent){.unit = EXTENT_NONE};
    return *text ? extent_parse_time(end, text, error) : 0;
}

int time_range_parse(struct time_range *range, const char *text, struct bt_error *error)
{
    const char *dots = strstr(text, "..");
    char from[WORD_BYTES];
    *range = (struct time_range){.text = text, .given = true};
    if (!dots || dots - text >= WORD_BYTES || strlen(text) == 2)
        return bt_fail(error, BT_USAGE,
                       "'%.40s' is not a time range such as 1s..2s, 10ms.. or ..1Mticks", text);
    memcpy(from, text, (size_t)(dots - text));
    from[dots - text] = '\0';
    if (parse_end(&range->from, from, error) < 0 || parse_end(&range->to, dots + 2, error) < 0)
        return error->code;
    if (range->from.unit == range->to.unit && range->from.length > range->to.length)
        return bt_fail(error, BT_USAGE, "'%.40s' ends before it begins", text);
    return 0;
}

/* The tick of an end; `open`: of one that is not given. */
static uint64_t in_ticks(const struct extent *end, uint64_t open, uint64_t clock_hz)
{
    if (end->unit == EXTENT_NONE)
        return open;
    if (end->unit == EXTENT_TICKS)
        return end->length;
    const long double ticks = (long double)end->length * (long double)clock_hz / 1e9L;
    return ticks < 0x1p63L ? (uint64_t)(ticks + 0.5L) : UINT64_MAX;
}

static bool needs_clock(const struct extent *end)
{
    return end->unit == EXTENT_TIME && end->length > 0;
}

/* --- selections --- */

struct record_selection *record_selection_take(struct expression *filter,
                                               const struct time_range *range,
                                               struct bt_error *error)
{
    struct record_selection *selection = calloc(1, sizeof *selection);
    if (!selection) {
        expression_free(filter);
        bt_fail(error, BT_MEMORY, "no memory for a filter");
        return NULL;
    }
    selection->range = *range;
    selection->expression = filter;
    selection->filter.expression = filter;
    return selection;
}

struct record_selection *record_selection_new(const char *filter, const struct time_range *range,
                                              struct bt_error *error)
{
    struct expression *expression = NULL;
    if (filter && expression_parse(&expression, filter, NULL, error) < 0)
        return NULL;
    return record_selection_take(expression, range, error);
}

void record_selection_free(struct record_selection *selection)
{
    if (!selection)
        return;
    expression_free(selection->expression);
    batch_filter_clear(&selection->filter);
    free(selection);
}

int record_selection_clock(struct record_selection *selection, uint64_t clock_hz,
                           struct bt_error *error)
{
    const struct time_range *range = &selection->range;
    if (clock_hz == 0 && (needs_clock(&range->from) || needs_clock(&range->to)))
        return bt_fail(error, BT_USAGE,
                       "the trace does not specify its clock: give --time in ticks");
    selection->first_tick = in_ticks(&range->from, 0, clock_hz);
    selection->last_tick = in_ticks(&range->to, UINT64_MAX, clock_hz);
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

/* How many records of the batch have a tick below `end`. */
static size_t records_below(const struct batch *batch, uint64_t end)
{
    uint64_t tick = batch->first_tick;
    size_t count = 0;
    if (batch->count > 0 && batch->last_tick < end)
        return batch->count;
    while (count < batch->count && tick < end) {
        count++;
        tick += count < batch->count ? batch->records[count].time : 0;
    }
    return count;
}

/* Whether requests that may have been within the range are among those lost. */
static bool lost_within(const struct record_selection *selection, const struct loss *lost)
{
    return lost->first_tick <= selection->last_tick && lost->last_tick >= selection->first_tick;
}

size_t record_selection_trim(const struct record_selection *selection, struct batch *batch,
                             bool *past)
{
    *past = false;
    if (!selection->range.given)
        return 0;
    const uint64_t last = selection->last_tick;
    const bool empty = batch->count == 0;
    const size_t before = records_below(batch, selection->first_tick);
    batch_drop(batch, before);
    const size_t kept = last < UINT64_MAX ? records_below(batch, last + 1) : batch->count;
    *past = kept < batch->count || (empty && batch->first_tick > last);
    batch_shorten(batch, kept);
    if (!lost_within(selection, &batch->lost))
        batch->lost = (struct loss){.first_tick = 0};
    if (empty ? batch->first_tick < selection->first_tick || *past : kept == 0)
        batch->gap = (struct gap){.milliseconds = 0};
    return before;
}

int record_selection_apply(struct record_selection *selection, struct batch *batch,
                           struct bt_error *error)
{
    return selection->expression ? batch_filter_put(&selection->filter, batch, error) : 0;
}

bool record_selection_held(struct record_selection *selection, struct batch *batch)
{
    return batch_filter_more(&selection->filter, batch);
}
