/* How often each distance was met, every distance for itself: four bytes each, however often. */
#ifndef TOOLS_MRC_HISTOGRAM_H
#define TOOLS_MRC_HISTOGRAM_H

#include "formats/base/error.h"

#include <stddef.h>
#include <stdint.h>

/* All zero is empty. */
struct histogram {
    uint32_t *counts; /* modulo 2^32 */
    size_t capacity;
    uint64_t *carries; /* distance << 32 | how often its count went around 2^32 */
    size_t carry_count, carry_capacity;
};

void histogram_free(struct histogram *histogram);

/* Makes room for distances below `above`. 0 or BT_MEMORY. */
int histogram_reserve(struct histogram *histogram, size_t above, struct bt_error *error);

/* Adds `times` to the count of a distance that there is room for. 0 or BT_MEMORY. */
int histogram_add(struct histogram *histogram, uint32_t distance, uint64_t times,
                  struct bt_error *error);

/* How often the distance was met. */
uint64_t histogram_count(const struct histogram *histogram, size_t distance);

/* Behind the largest distance that was met. */
size_t histogram_end(const struct histogram *histogram);

#endif
