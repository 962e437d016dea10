#include "capture/filter_source.h"

#include "formats/record/batch_filter.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct filter_source {
    struct source source; /* first */
    struct source *inner;
    struct expression *expression;
    struct batch_filter filter;
    struct capture_info info;
};

static int filter_next(struct source *source, struct batch *batch, int timeout_ms,
                       struct bt_error *error)
{
    struct filter_source *self = (struct filter_source *)source;
    if (batch->capacity > 0 && batch_filter_more(&self->filter, batch))
        return 1;
    int result = source_next(self->inner, batch, timeout_ms, error);
    if (result == 1 && batch_filter_put(&self->filter, batch, error) < 0)
        return error->code;
    return result;
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
    uint64_t removed =
        self->filter.removed < totals->accepted ? self->filter.removed : totals->accepted;
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
    batch_filter_clear(&self->filter);
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
    self->filter.expression = expression;
    self->info = *source_info(source);
    self->info.host_filters = true;
    snprintf(self->info.board_filter, sizeof self->info.board_filter, "%s", board_filter);
    return &self->source;
}
