/* Counters of the intervals of a simulation. */
#ifndef TOOLS_CACHE_STUDY_INTERVALS_H
#define TOOLS_CACHE_STUDY_INTERVALS_H

#include "formats/base/named_fields.h"
#include "tools/cache/model/hierarchy.h"
#include "tools/cache/study/phases.h"

#define INTERVALS_MAX 1000000u

/* References and misses of one level and side, over its caches and all kinds. */
struct NAMED_FIELDS interval_level {
    uint64_t references, misses;
};

struct NAMED_FIELDS interval {
    uint64_t first_record; /* number of records before it, the warm-up included */
    uint64_t records;
    uint64_t first_tick; /* as phases.h defines it */
    struct interval_level levels[CACHE_LEVELS][CACHE_SIDES];
    uint64_t memory_references, memory_bytes;
};

/* The intervals, in order. All zero: none. */
struct intervals {
    struct interval *intervals;
    size_t count, capacity;
    struct interval before; /* sums up to the last interval's end */
};

/*
 * Adds the interval that a phase is. parts: the hierarchies among which the sets are divided. 0,
 * BT_MEMORY, or BT_USAGE if there are too many.
 */
int intervals_add(struct intervals *intervals, const struct phases *phases,
                  struct hierarchy *const *parts, unsigned part_count, struct bt_error *error);

/* Adds the counters that another process found for the same intervals. */
void intervals_sum(struct intervals *intervals, const struct interval *more, size_t count);

void intervals_clear(struct intervals *intervals);

#endif
