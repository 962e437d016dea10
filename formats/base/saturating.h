/* Sums of counts from untrusted files, which must not wrap around. */
#ifndef FORMATS_BASE_SATURATING_H
#define FORMATS_BASE_SATURATING_H

#include <stdint.h>

/* a + b, UINT64_MAX where that is too large. */
static inline uint64_t saturating_add(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

#endif
