#include "capture/filter_source.h"

#include "formats/base/grow.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct filter_source {
    struct source source; /* first */
    struct source *inner;
    struct expression *expression;
    struct capture_info info;
    uint64_t removed;   /* records so far */
    uint32_t time;      /* of the records removed since the last one that was kept */
    uint64_t *selected; /* bits of a batch */
    size_t selected_capacity;

    /* Records of the inner source that follow a batch which ended because of a saturated time. */
    struct record *spare;
    size_t spare_at, spare_count, spare_capacity;
    uint64_t spare_index, spare_tick; /* of spare[spare_at], in the inner source */
    int64_t spare_host_ns;
};

static uint32_t add_time(uint32_t a, uint32_t b)
{
    return a < UINT32_MAX - b ? a + b : UINT32_MAX;
}

/* Keeps the records from `from` on for the next batch. Those of a batch that came from the spare
 * records are there. 0 or BT_MEMORY. */
static int put_back(struct filter_source *self, const struct batch *batch, size_t from,
                    uint64_t tick, bool was_spare)
{
    const size_t count = batch->count - from;
    if (was_spare) {
        self->spare_at -= count;
        self->spare_count += count;
    } else {
        struct record *spare =
            grow_array(self->spare, &self->spare_capacity, count, sizeof *self->spare);
        if (!spare)
            return BT_MEMORY;
        self->spare = spare;
        memcpy(spare, batch->records + from, count * sizeof *spare);
        self->spare_at = 0;
        self->spare_count = count;
    }
    self->spare_index = batch->first_index + from;
    self->spare_tick = tick;
    self->spare_host_ns = batch->host_time_ns;
    return 0;
}

/* Fills the batch with spare records. */
static void take_spare(struct filter_source *self, struct batch *batch)
{
    size_t count = self->spare_count < batch->capacity ? self->spare_count : batch->capacity;
    batch_clear(batch);
    memcpy(batch->records, self->spare + self->spare_at, count * sizeof *batch->records);
    batch->count = count;
    batch->first_index = self->spare_index;
    batch->first_tick = self->spare_tick;
    batch->last_tick = self->spare_tick + records_time(batch->records + 1, count - 1);
    batch->host_time_ns = self->spare_host_ns;
    self->spare_at += count;
    self->spare_count -= count;
    self->spare_index += count;
    if (self->spare_count > 0)
        self->spare_tick = batch->last_tick + self->spare[self->spare_at].time;
}

/* Removes records from the batch, whose matches are in self->selected. 0 or BT_MEMORY. */
static int remove_records(struct filter_source *self, struct batch *batch, bool was_spare)
{
    struct record *records = batch->records;
    uint64_t tick = batch->first_tick;
    uint64_t first_tick = tick; /* of the batch that is left; without records the first known */
    uint64_t last_tick = tick;
    size_t kept = 0;
    size_t i;
    for (i = 0; i < batch->count; i++) {
        const uint32_t time = add_time(self->time, records[i].time);
        tick += i ? records[i].time : 0;
        if (!(self->selected[i / 64] >> i % 64 & 1)) {
            self->time = time;
            continue;
        }
        if (kept > 0 && time == UINT32_MAX) { /* only a batch's first tick says how long that was */
            if (put_back(self, batch, i, tick, was_spare) < 0)
                return BT_MEMORY;
            break;
        }
        first_tick = kept ? first_tick : tick;
        last_tick = tick;
        records[kept] = records[i];
        records[kept++].time = time;
        self->time = 0;
    }
    batch->first_index -= self->removed;
    self->removed += i - kept;
    batch->count = kept;
    batch->first_tick = first_tick;
    batch->last_tick = last_tick;
    return 0;
}

static int filter_next(struct source *source, struct batch *batch, int timeout_ms,
                       struct bt_error *error)
{
    struct filter_source *self = (struct filter_source *)source;
    const bool was_spare = self->spare_count > 0 && batch->capacity > 0;
    int result = 1;
    if (was_spare)
        take_spare(self, batch);
    else
        result = source_next(self->inner, batch, timeout_ms, error);
    if (result != 1)
        return result;
    uint64_t *selected = grow_array(self->selected, &self->selected_capacity, batch->count / 64 + 1,
                                    sizeof *selected);
    if (selected) {
        self->selected = selected;
        (void)expression_select(self->expression, batch, batch->first_index, selected);
        if (remove_records(self, batch, was_spare) == 0)
            return 1;
    }
    return bt_fail(error, BT_MEMORY, "no memory for the filter of a capture");
}

static int filter_start(struct source *source, struct bt_error *error)
{
    return source_start(((struct filter_source *)source)->inner, error);
}

static const struct capture_info *filter_info(struct source *source)
{
    return &((struct filter_source *)source)->info;
}

/* Until the end the inner source's counts may be older than its records. */
static void filter_totals(struct source *source, struct source_totals *totals)
{
    const struct filter_source *self = (const struct filter_source *)source;
    source_totals(self->inner, totals);
    uint64_t removed = self->removed < totals->accepted ? self->removed : totals->accepted;
    totals->accepted -= removed;
    totals->filtered += removed;
    totals->removed = removed;
}

static int filter_stop(struct source *source, struct bt_error *error)
{
    return source_stop(((struct filter_source *)source)->inner, error);
}

static int filter_absent(struct source *source, struct bt_error *error)
{
    return source_absent(((struct filter_source *)source)->inner, error);
}

static void filter_close(struct source *source)
{
    struct filter_source *self = (struct filter_source *)source;
    source_close(self->inner);
    expression_free(self->expression);
    free(self->selected);
    free(self->spare);
    free(self);
}

struct source *filter_source_new(struct source *source, struct expression *expression,
                                 const char *board_filter, struct bt_error *error)
{
    static const struct source_operations operations = {.start = filter_start,
                                                        .next = filter_next,
                                                        .info = filter_info,
                                                        .totals = filter_totals,
                                                        .stop = filter_stop,
                                                        .absent = filter_absent,
                                                        .close = filter_close};
    struct filter_source *self = calloc(1, sizeof *self);
    int result = self ? expression_clock(expression, source_info(source)->clock_hz, error)
                      : bt_fail(error, BT_MEMORY, "no memory for the filter of a capture");
    if (result < 0) {
        source_close(source);
        expression_free(expression);
        free(self);
        return NULL;
    }
    self->source.operations = &operations;
    self->source.backpressure = source->backpressure;
    self->inner = source;
    self->expression = expression;
    self->info = *source_info(source);
    self->info.host_filters = true;
    snprintf(self->info.board_filter, sizeof self->info.board_filter, "%s", board_filter);
    return &self->source;
}
