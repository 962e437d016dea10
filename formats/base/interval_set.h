/* Sets of 64-bit numbers, as disjoint intervals in ascending order that do not touch. */
#ifndef FORMATS_BASE_INTERVAL_SET_H
#define FORMATS_BASE_INTERVAL_SET_H

#include "formats/base/named_fields.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct NAMED_FIELDS interval {
    uint64_t low, high; /* both included; low <= high */
};

/* All zero: the empty set. */
struct NAMED_FIELDS interval_set {
    struct interval *intervals; /* owned */
    size_t count, capacity;
};

void interval_set_clear(struct interval_set *set);

/* Adds low to high. 0, or BT_MEMORY with the set unchanged. */
int interval_set_add(struct interval_set *set, uint64_t low, uint64_t high);

/* Adds the numbers of other. 0 or BT_MEMORY. */
int interval_set_unite(struct interval_set *set, const struct interval_set *other);

/* Makes the set what 0 to highest has and it has not. 0, or BT_MEMORY with the set unchanged. */
int interval_set_complement(struct interval_set *set, uint64_t highest);

/* Removes numbers that other does not have. 0, or BT_MEMORY with the set unchanged. */
int interval_set_intersect(struct interval_set *set, const struct interval_set *other);

bool interval_set_has(const struct interval_set *set, uint64_t number);

/* Whether the set has every number from low to high. */
bool interval_set_covers(const struct interval_set *set, uint64_t low, uint64_t high);

/* Whether the set has any number from low to high. */
bool interval_set_meets(const struct interval_set *set, uint64_t low, uint64_t high);

bool interval_set_equal(const struct interval_set *a, const struct interval_set *b);

/* Adds the numbers between intervals where the fewest are, until at most `most` > 0 intervals are
 * left. */
void interval_set_widen(struct interval_set *set, size_t most);

#endif
