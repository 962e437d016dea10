/*
 * What the values of a WET file need to know of an instruction: how its value is guessed from the
 * machine's state (value_machine.h), and what its values have been so far. doc/wet-file.md,
 * "Values".
 *
 * The recorder and the reader make one for each instruction of each block, and keep it as long as
 * the block has its number.
 */
#ifndef TOOLS_WET_VALUES_VALUE_RULE_H
#define TOOLS_WET_VALUES_VALUE_RULE_H

#include "capture/exec/translate/data_flow.h"

#define VALUE_BYTES       64u /* maximum of a value */
#define VALUE_COUNT_IN_CL 255u
#define VALUE_NO_INPUT    16u /* the register that is always 0 */

/* What the machine does. The first ones are those that are executed most. */
enum value_operation {
    VALUE_NONE,    /* nothing: no value, and no effect that it follows */
    VALUE_UNKNOWN, /* it cannot compute the value; the destination becomes what it was */
    VALUE_MOVE,    /* the second operand, extended by zeros */
    VALUE_LOAD,    /* the same from memory, */
    VALUE_STORE,   /* and to memory */
    VALUE_ADDRESS, /* lea */
    VALUE_PLUS,    /* arithmetic of which no instruction needs the flags */
    VALUE_MINUS,
    VALUE_TIMES,
    VALUE_BOTH,   /* and */
    VALUE_EITHER, /* or */
    VALUE_DIFFER, /* xor */
    VALUE_SHLX,
    VALUE_SHRX,
    VALUE_PUSH,
    VALUE_POP,
    VALUE_CALL,
    VALUE_RETURN,
    VALUE_SELDOM, /* from here: value_machine_guess_other() */
    VALUE_MOVE_SIGNED = VALUE_SELDOM,
    VALUE_ADD,
    VALUE_SUB,
    VALUE_ADC,
    VALUE_SBB,
    VALUE_AND,
    VALUE_AND_NOT, /* andn */
    VALUE_OR,
    VALUE_XOR,
    VALUE_CMP,
    VALUE_TEST,
    VALUE_INC,
    VALUE_DEC,
    VALUE_NEG,
    VALUE_NOT,
    VALUE_SHL,
    VALUE_SHR,
    VALUE_SAR,
    VALUE_ROL,
    VALUE_ROR,
    VALUE_SHLD,
    VALUE_SHRD,
    VALUE_SARX, /* without flags */
    VALUE_RORX,
    VALUE_IMUL,     /* of two or three operands */
    VALUE_MUL_WIDE, /* of one: rdx, too */
    VALUE_IMUL_WIDE,
    VALUE_DIV,
    VALUE_IDIV,
    VALUE_SIGN,   /* cwd, cdq, cqo */
    VALUE_EXTEND, /* cbw, cwde, cdqe */
    VALUE_BSWAP,
    VALUE_EXCHANGE,
    VALUE_EXCHANGE_ADD,
    VALUE_COMPARE_EXCHANGE,
    VALUE_SET,
    VALUE_BSF,
    VALUE_BSR,
    VALUE_POPCNT,
    VALUE_TZCNT,
    VALUE_LZCNT,
    VALUE_BT,
    VALUE_BTS,
    VALUE_BTR,
    VALUE_BTC,
    VALUE_BLSR,
    VALUE_BLSI,
    VALUE_BLSMSK,
    VALUE_LEAVE,
    VALUE_STOS,
    VALUE_MOVS,
    VALUE_LODS,
    VALUE_SCAN, /* scas, cmps: only the pointers */
    VALUE_SYSTEM_CALL,
    VALUE_VECTOR /* from here: value_vector.h; the operation is VALUE_VECTOR + enum value_lanes */
};

/* Where the value goes. */
enum value_place {
    VALUE_TO_NOTHING, /* none, x87 or MMX: the machine has no such registers */
    VALUE_TO_GENERAL, /* 4 and 8 bytes */
    VALUE_TO_PART,    /* 1 and 2 bytes of a general register, from byte `offset` */
    VALUE_TO_VECTOR,
    VALUE_TO_MASK,
    VALUE_TO_MEMORY,
    VALUE_TO_SCANNED /* a pointer or rcx of cmps or scas */
};

/* Marks of a rule. */
enum {
    VALUE_HAS_MEMORY = 1,    /* an operand's address is to be computed */
    VALUE_FIRST_MEMORY = 2,  /* it is the first operand */
    VALUE_SECOND_MEMORY = 4, /* it is the second one */
    VALUE_FS = 8,            /* relative to fs */
    VALUE_NARROW = 16,       /* the address has 32 bits */
    VALUE_LOADS_WHOLE = 32,  /* the value is what the operand in memory has */
    VALUE_CLEARS_UPPER = 64, /* of a vector register: VEX and EVEX */
    VALUE_REPEATED = 128     /* string instructions */
};

/* What guesses values. */
enum value_predictor {
    VALUE_BY_MACHINE,
    VALUE_BY_LAST,    /* as last time */
    VALUE_BY_STRIDE,  /* the last one and the last difference */
    VALUE_BY_CONTEXT, /* what followed the last values before */
    VALUE_PREDICTORS
};

struct value_rule {
    uint8_t operation;                 /* enum value_operation */
    uint8_t size;                      /* of the value in bytes; 0: it has none */
    uint8_t width;                     /* of the operation in bytes */
    uint8_t place;                     /* enum value_place */
    uint8_t destination, offset;       /* its register, and the first byte in it */
    uint8_t first, second;             /* registers of the operands, or VALUE_NO_INPUT */
    uint8_t first_shift, second_shift; /* bits: 8 for ah */
    uint8_t second_width;              /* bytes */
    uint8_t marks;
    uint8_t base, index, scale; /* of the address; scale as a shift */
    uint8_t condition; /* as in the encoding of jcc; of vectors the immediate; of double shifts the
                          count, or VALUE_COUNT_IN_CL */
    int64_t displacement;
    uint64_t immediate; /* added to the second operand */

    /* what its values were */
    uint64_t last, stride; /* the first eight bytes */
    uint32_t context;      /* hash of the last values */
    uint32_t salt;         /* by which it differs from other rules: from its address */
    uint8_t choice;        /* enum value_predictor */
    uint8_t candidate;     /* the predictor that was right when the choice was not */
    uint8_t cut;           /* bits of 64 that the value does not have */
};

/* Makes a rule without a past from a decoded instruction and its data flow. */
void value_rule_make(struct value_rule *rule, const struct decode_instruction *instruction,
                     const struct data_flow *flow);

/*
 * The rules of a block's instructions, in their order: those of which the block needs no flags
 * become cheaper. Optional, but writer and reader must do the same.
 */
void value_rules_join(struct value_rule *rules, size_t count);

/* Whether value_coder_put() and value_coder_get() do nothing: they need not be called. */
static inline bool value_rule_is_empty(const struct value_rule *rule)
{
    return rule->operation == VALUE_NONE && rule->size == 0;
}

#endif
