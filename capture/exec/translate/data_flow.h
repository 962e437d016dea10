/*
 * What an x86-64 instruction reads and defines, byte by byte: the ports and definitions of a WET
 * trace (doc/wet.md, "Ports" and "Definitions").
 */
#ifndef CAPTURE_EXEC_TRANSLATE_DATA_FLOW_H
#define CAPTURE_EXEC_TRANSLATE_DATA_FLOW_H

#include "capture/exec/translate/decode.h"

/* What a port or a definition is of. The order is that of the ports. */
enum data_flow_kind {
    DATA_FLOW_GENERAL, /* number: enum decode_register; 8 bytes */
    DATA_FLOW_FLAGS,   /* bytes: bits of rflags */
    DATA_FLOW_VECTOR,  /* number 0 to 31; 64 bytes */
    DATA_FLOW_X87,     /* number: of st(n), before the instruction; after its pushes and pops in a
                          definition; 10 bytes */
    DATA_FLOW_MMX,     /* number 0 to 7; 10 bytes */
    DATA_FLOW_CODES,   /* C0 to C3 of x87; 1 byte */
    DATA_FLOW_MASK,    /* number 0 to 7: k0 to k7; 8 bytes */
    DATA_FLOW_MEMORY   /* number: of the access in decode_instruction.accesses */
};

/* When a definition takes place. The executor finds out what the instruction did. */
enum data_flow_condition {
    DATA_FLOW_ALWAYS,
    DATA_FLOW_IF_CONDITION, /* cmovcc, fcmovcc: the condition `condition_code` is true before it */
    DATA_FLOW_IF_NOT_ZERO,  /* bsf, bsr: ZF is 0 after it */
    DATA_FLOW_IF_COUNTED,   /* shifts and rotates by cl: cl & 31 (63) is not 0 before it */
    DATA_FLOW_IF_UNEQUAL,   /* cmpxchg and its relatives: ZF is 0 after it */
    DATA_FLOW_IF_REPEATED   /* rep: rcx is not 0 before it */
};

/* One register, the flags or a memory operand. */
struct data_flow_part {
    uint8_t kind; /* enum data_flow_kind */
    uint8_t number;
    uint8_t condition; /* enum data_flow_condition; of ports ALWAYS */
    uint64_t bytes;    /* bit n: byte n (flags: bit n of rflags); memory: 0 */
};

#define DATA_FLOW_PARTS 64u /* maximum of ports, and of definitions (xsave, xrstor) */

struct data_flow {
    uint8_t port_count, definition_count; /* ports without the control one */
    struct data_flow_part ports[DATA_FLOW_PARTS];
    struct data_flow_part definitions[DATA_FLOW_PARTS];
    bool has_value; /* false: NO VALUES */
    struct data_flow_part
        value;              /* of which part; bytes contiguous; condition as the definition's */
    uint8_t value_size;     /* in bytes (memory: of the operand; rep: of an element) */
    uint8_t count_mask;     /* of DATA_FLOW_IF_COUNTED: 31 or 63 */
    uint8_t condition_code; /* of DATA_FLOW_IF_CONDITION: as in the encoding of jcc, 0 to 15 */
    int8_t x87_pushes; /* what it adds to the depth of the x87 stack: 1 fld, -1 fstp, -2 fcompp */
    bool resets_x87;   /* TOP becomes 0: finit, MMX instructions */
};

/* Describes a decoded instruction; one that is none (mnemonic 0) has no ports, definitions and
 * value. doc/wet.md, "Ports", "Definitions", "Values". */
void data_flow_of(struct data_flow *flow, const struct decode_instruction *instruction);

#endif
