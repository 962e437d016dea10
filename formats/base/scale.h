/* Integers times a ratio, with 128-bit products. */
#ifndef FORMATS_BASE_SCALE_H
#define FORMATS_BASE_SCALE_H

#include <stdint.h>

__extension__ typedef unsigned __int128 scale_wide;

/* value * multiplier / divisor, rounded down; saturates. divisor > 0. */
static inline uint64_t scale_down(uint64_t value, uint64_t multiplier, uint64_t divisor)
{
    scale_wide scaled = (scale_wide)value * multiplier / divisor;
    return scaled > UINT64_MAX ? UINT64_MAX : (uint64_t)scaled;
}

/* The same rounded up. */
static inline uint64_t scale_up(uint64_t value, uint64_t multiplier, uint64_t divisor)
{
    scale_wide product = (scale_wide)value * multiplier;
    scale_wide scaled = product / divisor + (product % divisor != 0);
    return scaled > UINT64_MAX ? UINT64_MAX : (uint64_t)scaled;
}

#endif
