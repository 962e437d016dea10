/*
 * What a slice needs to know of each block of a trace, whatever is executed.
 */
#ifndef TOOLS_WET_SLICE_CODE_H
#define TOOLS_WET_SLICE_CODE_H

#include "tools/wet/wet_replay.h"

/* A bit for each register of wet_registers.h; the last mask registers share one. */
static inline uint64_t slice_register_bit(unsigned reg)
{
    return UINT64_C(1) << (reg < 63 ? reg : 63);
}

struct slice_block {
    uint64_t defines;    /* bits of the registers that it may define */
    uint32_t first_part; /* in slice_code.parts */
    uint8_t part_count;
    bool has_x87; /* it depends on the top of the x87 stack, or moves it */
};

struct slice_code {
    struct slice_block *blocks; /* by number */
    uint8_t *parts; /* positions in blocks from which another branch may decide than before */
    uint32_t *first_block; /* by id: blocks with the instruction are blocks_of[first_block[id]] to
                              [first_block[id + 1] - 1] */
    uint32_t *blocks_of;
};

/* 0 or BT_MEMORY; clear it in either case. */
int slice_code_make(struct slice_code *code, const struct wet_trace *trace);
void slice_code_clear(struct slice_code *code);

#endif
