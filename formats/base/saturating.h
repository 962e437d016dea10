/* Sums and products of counts from untrusted files, which must not wrap around. */
#ifndef FORMATS_BASE_SATURATING_H
#define FORMATS_BASE_SATURATING_H

#include <stdint.h>

/* a + b, at most UINT64_MAX. */
static inline uint64_t saturating_add(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* a * b, at most UINT64_MAX. */
static inline uint64_t saturating_multiply(uint64_t a, uint64_t b)
{
    uint64_t product;
    return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

#endif
