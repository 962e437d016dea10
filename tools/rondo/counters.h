/* Tables of saturating counters: doc/predictors.md, "Building stones". */
#ifndef TOOLS_RONDO_COUNTERS_H
#define TOOLS_RONDO_COUNTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct counters {
    uint8_t *values;
    uint64_t mask; /* number of entries - 1 */
    uint8_t top;   /* highest value */
};

static inline bool counter_says_taken(uint8_t value, uint8_t top)
{
    return value > top / 2;
}

static inline bool counter_is_weak(uint8_t value, uint8_t top)
{
    return value == top / 2 || value == top / 2 + 1;
}

/* The counter's value after an outcome. */
static inline uint8_t counter_trained(uint8_t value, uint8_t top, bool taken)
{
    if (taken)
        return (uint8_t)(value + (value < top));
    return (uint8_t)(value - (value > 0));
}

/* The highest value of counters of `bits` bits, at most 8. */
static inline uint8_t counter_top(unsigned bits)
{
    return (uint8_t)((1u << bits) - 1);
}

/* Makes a power of two of counters, all weakly not taken. Returns false without memory. */
static inline bool counters_make(struct counters *counters, uint64_t entries, unsigned bits)
{
    counters->top = counter_top(bits);
    counters->mask = entries - 1;
    counters->values = malloc(entries);
    if (counters->values)
        memset(counters->values, counters->top / 2, entries);
    return counters->values != NULL;
}

static inline bool counters_predict(const struct counters *counters, uint64_t index)
{
    return counter_says_taken(counters->values[index & counters->mask], counters->top);
}

static inline void counters_train(struct counters *counters, uint64_t index, bool taken)
{
    uint8_t *value = &counters->values[index & counters->mask];
    *value = counter_trained(*value, counters->top, taken);
}

#endif
