#include "tools/dcfg/graph/fetch_sizes.h"

#include <stdlib.h>

struct fetch_sizes {
    struct sink *to;
    struct batch held; /* the last fetch, and what precedes it; count 0: none */
    struct record last;
};

struct fetch_sizes *fetch_sizes_new(struct sink *to, struct bt_error *error)
{
    struct fetch_sizes *sizes = calloc(1, sizeof *sizes);
    if (!sizes) {
        bt_fail(error, BT_MEMORY, "no memory for the sizes of fetches");
        return NULL;
    }
    sizes->to = to;
    return sizes;
}

void fetch_sizes_free(struct fetch_sizes *sizes)
{
    free(sizes);
}

/* next: the fetch that follows; NULL: unknown. */
static void forget_estimate(struct record *fetch, const struct record *next)
{
    if (!next || next->address != fetch->address + fetch->size)
        fetch->size = 0;
}

static int put_held(struct fetch_sizes *sizes, const struct record *next, struct bt_error *error)
{
    if (sizes->held.count == 0)
        return 0;
    forget_estimate(&sizes->last, next);
    sizes->held.records = &sizes->last;
    int result = sink_put(sizes->to, &sizes->held, error);
    sizes->held.count = 0;
    return result;
}

static size_t keep_fetches(struct record *records, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (records[i].type == REQUEST_FETCH)
            records[kept++] = records[i];
    return kept;
}

int fetch_sizes_put(struct fetch_sizes *sizes, const struct batch *batch, struct bt_error *error)
{
    const bool interrupted = batch_has_loss_or_gap(batch) || batch->event != EVENT_NONE;
    struct batch rest = *batch;
    rest.count = keep_fetches(rest.records, batch->count);
    if (rest.count == 0 && !interrupted)
        return 0;
    int result = put_held(sizes, interrupted ? NULL : rest.records, error);
    if (result != 0 || rest.count == 0)
        return result == 0 ? sink_put(sizes->to, &rest, error) : result;
    for (size_t i = 0; i + 1 < rest.count; i++)
        forget_estimate(&rest.records[i], &rest.records[i + 1]);
    sizes->last = rest.records[rest.count - 1];
    if (--rest.count > 0) {
        result = sink_put(sizes->to, &rest, error);
        rest.gap = (struct gap){.milliseconds = 0};
        rest.event = EVENT_NONE;
    }
    sizes->held = rest;
    sizes->held.count = 1;
    return result;
}

int fetch_sizes_end(struct fetch_sizes *sizes, struct bt_error *error)
{
    return put_held(sizes, NULL, error);
}
