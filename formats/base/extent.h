/* Extents of a trace as users write them: a number of requests, of ticks, or a time. */
#ifndef FORMATS_BASE_EXTENT_H
#define FORMATS_BASE_EXTENT_H

#include "formats/base/error.h"

#include <stdint.h>

enum extent_unit { EXTENT_NONE, EXTENT_TICKS, EXTENT_REQUESTS, EXTENT_TIME };

struct extent {
    enum extent_unit unit;
    uint64_t length; /* requests, ticks, or nanoseconds with EXTENT_TIME */
};

/* "10ms", "1000000ticks", or "1M" requests. 0 or BT_USAGE. */
int extent_parse_or_zero(struct extent *extent, const char *text, struct bt_error *error);

/* The same, but a length of 0 is BT_USAGE. */
int extent_parse(struct extent *extent, const char *text, struct bt_error *error);

/* A time or ticks, "1.5ms", "300ticks" or "2Mticks", which may be 0. A number alone is in seconds.
 * 0 or BT_USAGE. */
int extent_parse_time(struct extent *extent, const char *text, struct bt_error *error);

/* Changes a time into ticks of a clock, at least one; clock_hz 0: unknown. Other units stay. 0, or
 * BT_USAGE if the clock is needed and unknown. */
int extent_in_ticks(struct extent *extent, uint64_t clock_hz, struct bt_error *error);

#endif
