#include "formats/record/batch_filter.h"

#include "formats/base/grow.h"

#include <stdlib.h>
#include <string.h>

static uint32_t add_time(uint32_t a, uint32_t b)
{
    return a < UINT32_MAX - b ? a + b : UINT32_MAX;
}

/*
 * Copies the records from `at` on that match to batch->records, which may be the same ones: up to
 * `room`, and up to a time that does not fit. bit: that of records[0]; filter->tick: the tick of
 * records[at]. Returns how many records are examined, `at` included.
 */
static size_t keep(struct batch_filter *filter, const struct record *records, size_t at,
                   size_t count, size_t bit, struct batch *batch, size_t room)
{
    uint64_t tick = filter->tick;
    size_t kept = 0, i = at;
    batch->first_tick = batch->last_tick = tick;
    for (; i < count; i++) {
        const uint32_t time = add_time(filter->time, records[i].time);
        tick += i > at ? records[i].time : 0;
        if (!(filter->selected[(bit + i) / 64] >> (bit + i) % 64 & 1)) {
            filter->time = time;
            continue;
        }
        if (kept == room || (kept > 0 && time == UINT32_MAX))
            break;
        batch->first_tick = kept ? batch->first_tick : tick;
        batch->last_tick = tick;
        batch->records[kept] = records[i];
        batch->records[kept++].time = time;
        filter->time = 0;
    }
    batch->count = kept;
    batch->first_index -= filter->removed;
    filter->removed += i - at - kept;
    filter->tick = tick;
    return i;
}

/* Keeps the records of a batch from `from` on. */
static int hold(struct batch_filter *filter, const struct batch *batch, size_t count, size_t from,
                uint64_t index)
{
    struct batch *rest = &filter->rest;
    struct record *records =
        grow_array(rest->records, &rest->capacity, count - from, sizeof *records);
    if (!records)
        return BT_MEMORY;
    memcpy(records, batch->records + from, (count - from) * sizeof *records);
    *rest = (struct batch){.records = records,
                           .capacity = rest->capacity,
                           .count = count - from,
                           .first_index = index + from,
                           .parts = batch->parts,
                           .events = batch->events,
                           .host_time_ns = batch->host_time_ns};
    filter->rest_at = 0;
    filter->rest_bit = from;
    return 0;
}

int batch_filter_put(struct batch_filter *filter, struct batch *batch, struct bt_error *error)
{
    const size_t count = batch->count;
    const uint64_t index = batch->first_index;
    uint64_t *selected =
        grow_array(filter->selected, &filter->selected_capacity, count / 64 + 1, sizeof *selected);
    if (!selected)
        return bt_fail(error, BT_MEMORY, "no memory for a filter");
    filter->selected = selected;
    if (expression_select(filter->expression, batch, index, selected) == count &&
        filter->time == 0) {
        batch->first_index -= filter->removed;
        return 0;
    }
    filter->tick = batch->first_tick;
    const size_t done = keep(filter, batch->records, 0, count, 0, batch, count);
    if (done < count && hold(filter, batch, count, done, index) < 0)
        return bt_fail(error, BT_MEMORY, "no memory for a filter");
    return 0;
}

bool batch_filter_more(struct batch_filter *filter, struct batch *batch)
{
    struct batch *rest = &filter->rest;
    struct record *records = batch->records;
    const size_t capacity = batch->capacity;
    if (rest->count == 0)
        return false;
    *batch = *rest;
    batch->records = records;
    batch->capacity = capacity;
    batch->first_index += filter->rest_at;
    filter->rest_at = keep(filter, rest->records, filter->rest_at, rest->count, filter->rest_bit,
                           batch, capacity);
    if (filter->rest_at == rest->count)
        rest->count = 0;
    return true;
}

void batch_filter_clear(struct batch_filter *filter)
{
    free(filter->selected);
    free(filter->rest.records);
    *filter = (struct batch_filter){.expression = NULL};
}
