/* What is counted for one curve: a processor's, a kind of request's, or all together. */
#ifndef TOOLS_MRC_SERIES_H
#define TOOLS_MRC_SERIES_H

#include "formats/base/named_fields.h"
#include "tools/mrc/histogram.h"

#include <stdbool.h>

#define SERIES_WINDOW_COUNTS_MAX ((size_t)1 << 24) /* counts over all windows */

struct series {
    uint64_t references; /* in windows of time too, and those that are not followed */
    uint64_t cold;       /* references of lines that were not referenced before; not of windows */
    struct histogram distances;
    uint64_t *windows;      /* [window * (buckets + 1) + bucket]; the last bucket: cold */
    size_t window_count;    /* up to the last one that anything was counted in */
    size_t window_capacity; /* that there is room for */
    uint64_t first_window;  /* that there are counts for, where there are any */
    uint64_t *groups;       /* of a sample: [group * (BUCKETS_DISTANCE + 1) + bucket]; last: cold */
};

struct series *series_new(bool sampled, struct bt_error *error);
void series_free(struct series *series);

/* The counts of a window (buckets + 1), made if need be. NULL and *error where there are too many
 * or no memory. */
uint64_t *series_window(struct series *series, uint64_t window, unsigned buckets,
                        struct bt_error *error);

/* A growing row of numbers. All zero is empty; free values with free(). */
struct NAMED_FIELDS numbers {
    uint64_t *values;
    size_t count, capacity;
};

/* Appends. 0 or BT_MEMORY. */
int numbers_put(struct numbers *numbers, uint64_t value, struct bt_error *error);

/* Appends all that the series counts, as numbers that series_add_packed understands. */
int series_pack(const struct series *series, unsigned buckets, struct numbers *numbers,
                struct bt_error *error);

/* Adds what a series of the same buckets packed, from numbers->values[*place] on, and moves *place
 * behind it. 0, BT_MEMORY, or BT_DATA where that cannot be. */
int series_add_packed(struct series *series, unsigned buckets, const struct numbers *numbers,
                      size_t *place, struct bt_error *error);

#endif
