/*
 * What an instruction reads and defines, as doc/wet.md says, from Zydis' operands: the slow,
 * obvious twin of capture/exec/translate/data_flow.h.
 */
#ifndef TESTS_SUPPORT_WET_FLOW_H
#define TESTS_SUPPORT_WET_FLOW_H

#include "tests/support/random_instruction.h"

/* In the order of the ports. */
enum wet_flow_kind {
    WET_GENERAL, /* as encoded, 8 bytes */
    WET_FLAGS,   /* bit by bit */
    WET_VECTOR,
    WET_X87, /* st(n); a definition: after the push, or before the pop */
    WET_MMX,
    WET_CODES,
    WET_MASK,
    WET_MEMORY /* number: which of those that are read, from 0 */
};

struct wet_flow_part {
    enum wet_flow_kind kind;
    unsigned number;
    uint64_t bytes; /* bit n: byte n; of flags: bit n */
};

enum wet_flow_condition {
    WET_ALWAYS,
    WET_IF_MOVED,    /* cmovcc, fcmovcc: the condition is true before */
    WET_IF_FOUND,    /* bsf, bsr: ZF is 0 after */
    WET_IF_COUNTED,  /* shifts by cl: the count before is not 0 */
    WET_IF_FAILED,   /* cmpxchg: ZF is 0 after */
    WET_IF_REPEATED, /* rcx is not 0 before */
};

struct wet_flow_definition {
    struct wet_flow_part part;
    enum wet_flow_condition condition;
};

#define WET_FLOW_PARTS 64u

struct wet_flow {
    unsigned read_count, definition_count;
    struct wet_flow_part reads[WET_FLOW_PARTS]; /* in order, without control */
    struct wet_flow_definition definitions[WET_FLOW_PARTS];
    bool has_value;
    struct wet_flow_definition value; /* WET_MEMORY: of what is stored */
    unsigned value_first, value_size; /* bytes of the register; memory: the size of an element */
};

void wet_flow_of(struct wet_flow *flow, const struct random_instruction *made);

/* Whether a definition takes place. */
bool wet_flow_happens(const struct random_instruction *made, enum wet_flow_condition condition,
                      const struct machine *before, const struct machine *after);

/* The top of the x87 stack, as the processor has it. */
unsigned wet_flow_top(const struct machine *machine);

#endif
