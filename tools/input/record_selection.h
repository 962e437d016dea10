/*
 * Selects records of a trace by a filter expression (doc/filter.md) and by time. What remains of a
 * batch keeps its ticks, losses and gaps; indices count the remaining records and the losses.
 */
#ifndef TOOLS_INPUT_RECORD_SELECTION_H
#define TOOLS_INPUT_RECORD_SELECTION_H

#include "formats/base/extent.h"
#include "formats/record/batch.h"

/* A part of a trace, in times or ticks since tick 0, both ends included. All zero: the whole trace.
 */
struct time_range {
    const char *text; /* as parsed; NULL: the whole trace */
    bool given;
    struct extent from, to; /* EXTENT_NONE: from the beginning, to the end */
};

/* "1s..2s", "10ms..", "..1Mticks"; text must outlive the range. 0 or BT_USAGE. */
int time_range_parse(struct time_range *range, const char *text, struct bt_error *error);

struct expression;
struct record_selection;

/*
 * filter: text, or NULL for every record; range may be all zero. NULL and *error: BT_USAGE for an
 * invalid filter, BT_MEMORY.
 */
struct record_selection *record_selection_new(const char *filter, const struct time_range *range,
                                              struct bt_error *error);
/* The same with a parsed filter, which the selection takes, also on failure; NULL for every record.
 */
struct record_selection *record_selection_take(struct expression *filter,
                                               const struct time_range *range,
                                               struct bt_error *error);
void record_selection_free(struct record_selection *selection);

/* Takes the clock of a trace, in ticks per second (0: unknown); before its first batch. 0, or
 * BT_USAGE if the selection needs the clock. */
int record_selection_clock(struct record_selection *selection, uint64_t clock_hz,
                           struct bt_error *error);

/* The range in ticks; after record_selection_clock. */
uint64_t record_selection_first_tick(const struct record_selection *selection);
uint64_t record_selection_last_tick(const struct record_selection *selection);

/* Removes the records outside the range from a batch, and a loss unless its interval of ticks
 * overlaps the range. Returns how many records before the range it removed; sets *past if the trace
 * has passed the range. */
size_t record_selection_trim(const struct record_selection *selection, struct batch *batch,
                             bool *past);

/* Removes records that do not match, as batch_filter_put. 0 or BT_MEMORY. */
int record_selection_apply(struct record_selection *selection, struct batch *batch,
                           struct bt_error *error);

/* Moves matching records that a batch was too short for to the next batch, as batch_filter_more. */
bool record_selection_held(struct record_selection *selection, struct batch *batch);

#endif
