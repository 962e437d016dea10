/* Exact counts of distances, in four bytes each; counts above 2^32 have carries. */
#ifndef TOOLS_MRC_HISTOGRAM_H
#define TOOLS_MRC_HISTOGRAM_H

#include "formats/base/error.h"

#include <stddef.h>
#include <stdint.h>

/* Zero-initialised: empty. */
struct histogram {
    uint32_t *counts; /* modulo 2^32 */
    size_t capacity;
    uint64_t *carries; /* distance << 32 | number of overflows of its count */
    size_t carry_count, carry_capacity;
};

void histogram_free(struct histogram *histogram);

/* Makes room for distances below `above`. 0 or BT_MEMORY. */
int histogram_reserve(struct histogram *histogram, size_t above, struct bt_error *error);

/* Adds `times` to the count of a distance below `above`. 0 or BT_MEMORY. */
int histogram_add(struct histogram *histogram, uint32_t distance, uint64_t times,
                  struct bt_error *error);

/* The count of a distance. */
uint64_t histogram_count(const struct histogram *histogram, size_t distance);

/* One more than the largest distance counted. */
size_t histogram_end(const struct histogram *histogram);

#endif
