/* Sinks of records: files, dumps, counters, converters. The counterpart of formats/record/source.h.
 */
#ifndef FORMATS_RECORD_SINK_H
#define FORMATS_RECORD_SINK_H

#include "formats/base/error.h"
#include "formats/record/batch.h"

struct sink;

struct sink_operations {
    /* Takes one batch, which the caller keeps. 0, or a negative bt_code: the sink has failed.
     */
    int (*put)(struct sink *sink, const struct batch *batch, struct bt_error *error);

    /* Completes the output (flush, totals) and frees the sink. 0 or a negative bt_code. */
    int (*close)(struct sink *sink, struct bt_error *error);
};

/* The first member of every sink. */
struct sink {
    const struct sink_operations *operations;
};

/* The close of a sink that is a part of something else, which frees it. */
static inline int sink_close_nothing(struct sink *sink, struct bt_error *error)
{
    (void)sink;
    (void)error;
    return 0;
}

static inline int sink_put(struct sink *sink, const struct batch *batch, struct bt_error *error)
{
    return sink->operations->put(sink, batch, error);
}

static inline int sink_close(struct sink *sink, struct bt_error *error)
{
    return sink ? sink->operations->close(sink, error) : 0;
}

#endif
