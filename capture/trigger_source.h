/*
 * Keeps the records around triggers, as a flight recorder does: a source in front of the pipeline
 * remembers recent records in a buffer of bounded size, and passes on those of windows around
 * matches; the others are removed, as a filter removes records. Windows that overlap or touch are
 * joined.
 */
#ifndef CAPTURE_TRIGGER_SOURCE_H
#define CAPTURE_TRIGGER_SOURCE_H

#include "formats/record/source.h"

#include <stddef.h>

#define TRIGGER_TEXT_BYTES 256u

/* All zero: no trigger. */
struct trigger_settings {
    char trigger[TRIGGER_TEXT_BYTES]; /* expression of doc/filter.md; empty: none */
    char stop_on[TRIGGER_TEXT_BYTES]; /* a match ends the capture after its window; empty: none */
    uint64_t pre_records, post_records;
    uint64_t pre_ticks, post_ticks; /* not 0: instead of records */
    int64_t pre_ns, post_ns;        /* likewise */
    uint64_t ring_bytes; /* size of the buffer; without a trigger: keep records only for snapshots.
                            0: as much as pre_records needs, or TRIGGER_RING_BYTES with
                            pre_ticks or pre_ns */
};
#define TRIGGER_RING_BYTES ((uint64_t)64 << 20)
#define TRIGGER_RING_MIN   ((uint64_t)4 << 10)
#define TRIGGER_RING_MAX   ((uint64_t)16 << 30)

/* Whether the settings leave records out: files then are windows. */
bool trigger_selects(const struct trigger_settings *settings);

/* Whether the settings need a trigger source. */
bool trigger_is_used(const struct trigger_settings *settings);

/* Whether a snapshot would hold anything. */
bool trigger_keeps_records(const struct trigger_settings *settings);

/* Checks expressions, sizes and what excludes what. 0 or BT_USAGE. */
int trigger_check(const struct trigger_settings *settings, struct bt_error *error);

/* The memory that a source with these settings uses at most, in bytes, without its losses. */
uint64_t trigger_memory(const struct trigger_settings *settings);

/* The matches of a window. Indices count the records that are left out, too: those in the
 * capture's files are lower by `omitted`. */
struct trigger_window {
    uint64_t omitted; /* records left out before it; set once it passes on a record */
    uint64_t matches; /* 0: none yet, or a snapshot */
    uint64_t first_index, first_tick;
    uint64_t last_index, last_tick;
    uint64_t snapshots; /* not 0: it holds one, and so many were requested until then */
};

/* Counts since the start. */
struct trigger_counts {
    uint64_t matches;
    uint64_t windows;       /* snapshots included */
    uint64_t outside;       /* records in no window so far */
    uint64_t short_windows; /* the buffer was too small for what is wanted before the match */
    bool stopped; /* by stop_on, whose match is at, with the records that are left out counted: */
    uint64_t stop_index, stop_tick;
};

/* Takes ownership of source, also on failure. NULL and *error: BT_USAGE if a time is given and the
 * clock is unknown, or BT_MEMORY. */
struct source *trigger_source_new(struct source *source, const struct trigger_settings *settings,
                                  struct bt_error *error);

/* Whether the last call of next found that a window has ended; its records were passed on before.
 */
bool trigger_window_ended(const struct source *source);

/* The window of the records passed on last. */
struct trigger_window trigger_window(const struct source *source);

struct trigger_counts trigger_counts(const struct source *source);

/* Whether stop_on has matched and all records up to the end of its window were passed on. What next
 * returns then is after the stop. */
bool trigger_is_done(const struct source *source);

/* Requests that what the buffer holds becomes a window, or the window's end. Called by the thread
 * that calls next. */
void trigger_snapshot(struct source *source);

#endif
