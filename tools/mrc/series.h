/* Counts for one curve: of a processor, of a kind of request, or of all. */
#ifndef TOOLS_MRC_SERIES_H
#define TOOLS_MRC_SERIES_H

#include "formats/base/named_fields.h"
#include "tools/mrc/histogram.h"

#include <stdbool.h>

#define SERIES_WINDOW_COUNTS_MAX ((size_t)1 << 26) /* of all series of a study together */

#define SERIES_WEIGHT                                                                              \
    65536.0 /* of a reference, in the groups of a sample of a fixed number of lines */

struct series {
    uint64_t references; /* including those in windows and those to lines that are not sampled */
    uint64_t cold;       /* first references to lines; without windows */
    struct histogram distances;
    uint64_t
        *windows; /* [window * (buckets + 1) + bucket]; the last bucket counts cold references */
    size_t window_count;        /* one more than the last window with a count */
    size_t window_capacity;     /* allocated windows */
    uint64_t first_window;      /* first window with a count */
    size_t *window_counts_left; /* counts of windows that may still be allocated, for all series
                                   of a study */
    uint64_t *groups; /* of a sample: [group * (BUCKETS_DISTANCE + 1) + bucket]; last bucket: cold
                         references. With a fixed number of lines, in SERIES_WEIGHT, and the only
                         counts */
};

/* *window_counts_left is shared by the series of a study, and outlives them. NULL and *error
 * without memory. */
struct series *series_new(bool sampled, size_t *window_counts_left, struct bt_error *error);
void series_free(struct series *series);

/* The counts of a window (buckets + 1), allocated on first use. NULL and *error if memory or
 * *window_counts_left does not suffice. */
uint64_t *series_window(struct series *series, uint64_t window, unsigned buckets,
                        struct bt_error *error);

/* A growing array. Zero-initialised: empty. Free values with free(). */
struct NAMED_FIELDS numbers {
    uint64_t *values;
    size_t count, capacity;
};

/* Appends. 0 or BT_MEMORY. */
int numbers_put(struct numbers *numbers, uint64_t value, struct bt_error *error);

/* Appends the series in the form that series_add_packed reads. */
int series_pack(const struct series *series, unsigned buckets, struct numbers *numbers,
                struct bt_error *error);

/* Adds a packed series with the same number of buckets, which begins at numbers->values[*place];
 * *place moves past it. 0, BT_MEMORY, or BT_DATA if the values are corrupt. */
int series_add_packed(struct series *series, unsigned buckets, const struct numbers *numbers,
                      size_t *place, struct bt_error *error);

#endif
