/* The phases of a simulation: a warm-up that is not counted, then intervals of equal length. */
#ifndef TOOLS_CACHE_PHASES_H
#define TOOLS_CACHE_PHASES_H

#include "formats/record/batch.h"
#include "tools/input/extent.h"

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

/* Whether a length is a time, which phases_clock must change into ticks before the first record. */
bool phases_need_clock(const struct phases *phases);

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

#endif
