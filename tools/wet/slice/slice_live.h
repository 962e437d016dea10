/*
 * Which bytes of a thread's registers a slice needs, as one walks backwards through the trace; and,
 * if wanted, how far from the criterion each is.
 */
#ifndef TOOLS_WET_SLICE_SLICE_LIVE_H
#define TOOLS_WET_SLICE_SLICE_LIVE_H

#include "tools/wet/replay/wet_registers.h"
#include "tools/wet/slice/slice_code.h"
#include "tools/wet/slice/slice_map.h"

/* Who needs the bytes of a register first: the one at the smallest distance. */
struct slice_readers {
    uint32_t distance[64]; /* of what writes the byte: that of the reader plus 1 */
    struct wet_instance reader[64];
};

/* Zeroed: nothing is needed. */
struct slice_live {
    uint64_t registers; /* slice_register_bit() of those of which bytes are needed */
    uint64_t bytes[WET_REGISTERS];
    struct slice_readers *readers[WET_REGISTERS]; /* NULL: distances are not wanted, or never were
                                                     needed */
};

void slice_live_clear(struct slice_live *live);

/* Bytes of a register are needed. link: NULL, or `distance` and `next` are noted. 0 or BT_MEMORY.
 */
int slice_live_need(struct slice_live *live, unsigned reg, uint64_t bytes,
                    const struct slice_link *link);

/*
 * Bytes of a register are defined, and no longer needed before. Whether any was. best: NULL, or
 * replaced by the nearest reader of one of them, if that is nearer.
 */
bool slice_live_define(struct slice_live *live, unsigned reg, uint64_t bytes,
                       struct slice_link *best);

/* Adds what `from` needs, and empties it. 0 or BT_MEMORY. */
int slice_live_merge(struct slice_live *to, struct slice_live *from);

#endif
