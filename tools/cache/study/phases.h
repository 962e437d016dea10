/* The phases of a simulation: a warm-up that is not counted, then intervals of equal length. */
#ifndef TOOLS_CACHE_STUDY_PHASES_H
#define TOOLS_CACHE_STUDY_PHASES_H

#include "formats/base/extent.h"
#include "formats/record/batch.h"

#include <stdbool.h>

struct phases {
    struct extent warm;     /* unit EXTENT_NONE: no warm-up */
    struct extent interval; /* unit EXTENT_NONE: one phase up to the end */
    bool begun;             /* a record was seen */
    bool warming;
    uint64_t records;      /* of this phase so far */
    uint64_t warm_records; /* of the warm-up */
    uint64_t first_record; /* number of records before this phase, the warm-up included */
    uint64_t first_tick;   /* of this phase's first record; with an interval of ticks, the tick at
                              which the phase begins */
    uint64_t last_tick;    /* of this phase's last record */
};

/* Phases of these lengths. */
struct phases phases_begin(const struct extent *warm, const struct extent *interval);

/* clock_hz: ticks per second; 0: unknown. 0, or BT_USAGE if a time is given and the clock unknown.
 */
int phases_clock(struct phases *phases, uint64_t clock_hz, struct bt_error *error);

/*
 * The number of records of a batch, from records[at], that belong to the current phase; they become
 * part of it. *tick is the tick of records[at], and becomes that of the first record that is left.
 * Fewer than all that are left: the phase ends after them; the caller then takes its counters and
 * calls phases_next.
 */
size_t phases_take(struct phases *phases, const struct batch *batch, size_t at, uint64_t *tick);

/* Ends the current phase, and begins the one to which the record of this tick belongs. */
void phases_next(struct phases *phases, uint64_t tick);

/* What a divided batch is given to. Both return 0 or a negative code. */
struct phase_operations {
    /* Takes records of one phase. */
    int (*put)(void *context, const struct record *records, size_t count, struct bt_error *error);
    /* The phase has ended; before phases_next. */
    int (*end)(void *context, struct bt_error *error);
};

/* Puts a batch, divided where phases end. 0, or the code of an operation that failed. */
int phases_divide(struct phases *phases, const struct batch *batch,
                  const struct phase_operations *operations, void *context, struct bt_error *error);

#endif
