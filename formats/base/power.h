/* Powers of two. */
#ifndef FORMATS_BASE_POWER_H
#define FORMATS_BASE_POWER_H

#include <stdbool.h>
#include <stdint.h>

static inline bool power_is(uint64_t value)
{
    return value != 0 && (value & (value - 1)) == 0;
}

/* The n with 2^n == value; value is a power of two. */
static inline unsigned power_log2(uint64_t value)
{
    unsigned n = 0;
    while (value > 1) {
        value >>= 1;
        n++;
    }
    return n;
}

#endif
