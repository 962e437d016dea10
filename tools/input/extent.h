/* Extents of a trace as options give them: a number of requests, of ticks, or a time. */
#ifndef TOOLS_INPUT_EXTENT_H
#define TOOLS_INPUT_EXTENT_H

#include "formats/base/error.h"

#include <stdint.h>

enum extent_unit { EXTENT_NONE, EXTENT_TICKS, EXTENT_REQUESTS, EXTENT_TIME };

struct extent {
    enum extent_unit unit;
    uint64_t length; /* requests, ticks, or nanoseconds with EXTENT_TIME; above 0 */
};

/* "10ms", "1000000ticks", or "1M" requests. 0 or BT_USAGE. */
int extent_parse(struct extent *extent, const char *text, struct bt_error *error);

/* Changes a time into ticks of a clock, at least one; clock_hz 0: unknown. Other units stay. 0, or
 * BT_USAGE if the clock is needed and unknown. */
int extent_in_ticks(struct extent *extent, uint64_t clock_hz, struct bt_error *error);

#endif
