/* The two clocks: one for intervals, one for dates. */
#ifndef FORMATS_BASE_CLOCK_H
#define FORMATS_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline int64_t clock_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Never jumps: for intervals. */
static inline int64_t clock_monotonic_ns(void)
{
    return clock_ns(CLOCK_MONOTONIC);
}

static inline int64_t clock_monotonic_ms(void)
{
    return clock_monotonic_ns() / 1000000;
}

/* Since 1970 UTC; jumps when the clock is set: for dates and names. */
static inline int64_t clock_realtime_ns(void)
{
    return clock_ns(CLOCK_REALTIME);
}

#endif
