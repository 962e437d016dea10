/*
 * What a slice needs to know of each block and instruction of a trace, whatever is executed.
 */
#ifndef TOOLS_WET_SLICE_SLICE_CODE_H
#define TOOLS_WET_SLICE_SLICE_CODE_H

#include "tools/wet/replay/wet_registers.h"
#include "tools/wet/replay/wet_replay.h"

/* A bit for each register of wet_registers.h; the last mask registers share one. */
static inline uint64_t slice_register_bit(unsigned reg)
{
    return UINT64_C(1) << (reg < 63 ? reg : 63);
}

/* A register that an instruction reads or defines. */
struct slice_part {
    uint64_t bytes;
    uint8_t reg; /* number in wet_registers.h; of x87: of st(n) */
    bool is_x87; /* st(n) */
    bool is_conditional;
};

static inline unsigned slice_part_register(const struct slice_part *part, unsigned top)
{
    return part->is_x87 ? WET_X87 + ((top + part->reg) & 7) : part->reg;
}

/* An instruction. Its definitions are parts[first] and so on, then come the registers it reads. */
struct slice_operation {
    uint64_t defines; /* bits of the registers that it may define */
    uint32_t first;
    uint8_t definitions, reads;
    uint8_t memory_ports;
};

/* A part of a block: from its first instruction on another branch may decide than before. */
struct slice_section {
    uint32_t node;    /* of wet_graph */
    uint8_t position; /* of the first instruction */
    bool begins;      /* it begins the node */
    bool is_endless;  /* the node is of a function where some path does not end */
};

struct slice_block {
    uint64_t defines;       /* bits of the registers that it may define */
    uint32_t first_section; /* in slice_code.sections */
    uint32_t partition;     /* of its first instruction */
    uint8_t section_count;
    bool has_x87;    /* it depends on the top of the x87 stack, or moves it */
    bool has_memory; /* some instruction has memory ports */
    bool is_regular; /* its effect on needs depends on the needs only: no x87, no conditions */
    uint32_t first_touched; /* registers that it reads or defines, in slice_code.touched */
    uint8_t touched_count;
    uint64_t memory; /* positions of instructions with memory ports */
    bool is_plain;   /* its end neither calls nor decides */
    uint8_t kind;    /* enum decode_kind of the last instruction */
};

struct slice_code {
    struct slice_block *blocks; /* by number */
    struct slice_section *sections;
    struct slice_operation *operations; /* by id */
    struct slice_part *parts;
    size_t part_count, part_capacity;
    uint32_t *first_block; /* by id: blocks with the instruction are blocks_of[first_block[id]] to
                              [first_block[id + 1] - 1] */
    uint32_t *blocks_of;
    uint8_t *positions; /* of the instruction in each of these blocks */
    uint8_t *touched;
    size_t touched_count, touched_capacity;
    bool ends_are_ends; /* no block's last instruction is in the middle of another one */
};

/* 0 or BT_MEMORY; clear it in either case. */
int slice_code_make(struct slice_code *code, const struct wet_trace *trace);
void slice_code_clear(struct slice_code *code);

#endif
