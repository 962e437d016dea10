/*
 * Sources of records: boards, files, executed programs, generators. Pull: the caller asks for the
 * next batch in a buffer of its own; there are no callbacks.
 */
#ifndef FORMATS_RECORD_SOURCE_H
#define FORMATS_RECORD_SOURCE_H

#include "formats/base/error.h"
#include "formats/base/named_fields.h"
#include "formats/record/batch.h"
#include "formats/record/capture_info.h"

struct source;

struct NAMED_FIELDS source_operations {
    /*
     * Starts the source: requests before this are not delivered. Called once, before next; may wait
     * for a board's answer. NULL: the source needs no start. 0 or a negative code.
     */
    int (*start)(struct source *source, struct bt_error *error);

    /*
     * Fills batch (records, capacity given) and returns
     *   1           the batch holds records, a loss, or both; or nothing, if a filter has removed
     *               all its records
     *   0           the end of the source; totals are now final
     *   BT_TIMEOUT  nothing arrived in timeout_ms milliseconds; ask again
     *   BT_NOTE     a harmless condition to report; ask again
     *   BT_DATA     corrupt input; the next call continues after it
     *   other < 0   the source is broken; close it
     * It returns when the batch is full, when a loss or gap follows, or when timeout_ms has passed
     * and the batch has a record. timeout_ms < 0 waits for ever.
     */
    int (*next)(struct source *source, struct batch *batch, int timeout_ms, struct bt_error *error);

    /* Describes the capture: clock, board, bus, filter. Valid until close. */
    const struct capture_info *(*info)(struct source *source);

    /* The source's own counts so far; final after next has returned 0. */
    void (*totals)(struct source *source, struct source_totals *totals);

    /* Asks the source to end: next delivers the requests in transit, then returns 0. */
    int (*stop)(struct source *source, struct bt_error *error);

    /*
     * Why the source delivers nothing at present although it has not failed (its board is unplugged
     * and may return): 0 if it can deliver, or a code and the sentence. NULL: it always can.
     */
    int (*absent)(struct source *source, struct bt_error *error);

    /* Frees the source. NULL is allowed. */
    void (*close)(struct source *source);
};

/* The first member of every source. */
struct source {
    const struct source_operations *operations;
    bool backpressure; /* a late call of next makes the producer wait, and loses nothing */
    bool feeds;        /* fills a batch's feed, if it has one, where blocks can be coded as such */
};

static inline int source_start(struct source *source, struct bt_error *error)
{
    return source->operations->start ? source->operations->start(source, error) : 0;
}

static inline int source_next(struct source *source, struct batch *batch, int timeout_ms,
                              struct bt_error *error)
{
    return source->operations->next(source, batch, timeout_ms, error);
}

static inline const struct capture_info *source_info(struct source *source)
{
    return source->operations->info(source);
}

static inline void source_totals(struct source *source, struct source_totals *totals)
{
    source->operations->totals(source, totals);
}

static inline int source_stop(struct source *source, struct bt_error *error)
{
    return source->operations->stop(source, error);
}

static inline int source_absent(struct source *source, struct bt_error *error)
{
    return source->operations->absent ? source->operations->absent(source, error) : 0;
}

static inline void source_close(struct source *source)
{
    if (source)
        source->operations->close(source);
}

#endif
