/*
 * Logarithmic buckets: exact below 16, then eight for each power of two. For histograms of
 * distances in windows of time and of reuse times. A bucket's lower bound is a power of two or a
 * multiple of an eighth of one.
 */
#ifndef TOOLS_MRC_BUCKETS_H
#define TOOLS_MRC_BUCKETS_H

#include <stdint.h>

#define BUCKETS_STEPS    8u   /* buckets of a power of two */
#define BUCKETS_DISTANCE 240u /* covers numbers below 2^32 */
#define BUCKETS_TIME     496u /* covers numbers below 2^64 */

/* The bucket of a number. */
static inline uint32_t buckets_of(uint64_t number)
{
    if (number < 2 * BUCKETS_STEPS)
        return (uint32_t)number;
    const uint32_t shift = 60u - (uint32_t)__builtin_clzll(number);
    return shift * BUCKETS_STEPS + (uint32_t)(number >> shift);
}

/* The lower bound of a bucket. */
static inline uint64_t buckets_first(uint32_t bucket)
{
    if (bucket < 2 * BUCKETS_STEPS)
        return bucket;
    const uint32_t shift = bucket / BUCKETS_STEPS - 1;
    return (uint64_t)(bucket - shift * BUCKETS_STEPS) << shift;
}

/* The next size above size: a power of two, or a multiple of one in `steps` steps of it. */
static inline uint64_t buckets_step(uint64_t size, unsigned steps)
{
    uint64_t power = 1;
    while (power <= size / 2)
        power *= 2;
    for (unsigned step = 1; step < steps; step++)
        if (power + power * step / steps > size)
            return power + power * step / steps;
    return 2 * power;
}

#endif
