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
     * Has the source begin: requests before this are nobody's. Called once, before next, and may
     * take as long as a board takes to answer. NULL: it has begun by itself. 0 or a negative code.
     */
    int (*start)(struct source *source, struct bt_error *error);

    /*
     * Fills batch (records, capacity given) and returns
     *   1           the batch holds records, a loss, or both
     *   0           the source has ended; totals are now final
     *   BT_TIMEOUT  nothing arrived in timeout_ms milliseconds; ask again
     *   BT_NOTE     something harmless to tell; ask again
     *   BT_DATA     input was damaged here; the next call goes on behind it
     *   other < 0   the source is broken; close it
     * It returns as soon as the batch is full, a hole must be told, or timeout_ms has passed with
     * at least one record in the batch. timeout_ms < 0 waits for ever.
     */
    int (*next)(struct source *source, struct batch *batch, int timeout_ms, struct bt_error *error);

    /* Describes the capture: clock, board, bus, filter. Valid until close. */
    const struct capture_info *(*info)(struct source *source);

    /* What the source itself counted so far; final once next has returned 0. */
    void (*totals)(struct source *source, struct source_totals *totals);

    /* Asks the source to end: next goes on until what is under way is delivered, then returns 0. */
    int (*stop)(struct source *source, struct bt_error *error);

    /*
     * Why nothing can come just now though the source has not failed (its board is unplugged and
     * may come back): 0 while it can, or a code and the sentence. NULL: it always can.
     */
    int (*absent)(struct source *source, struct bt_error *error);

    /* Frees the source. NULL is allowed. */
    void (*close)(struct source *source);
};

/* The first member of every source. */
struct source {
    const struct source_operations *operations;
    bool backpressure; /* a late call of next makes the producer wait, and loses nothing */
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
