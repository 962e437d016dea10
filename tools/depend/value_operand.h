/* Operands of instructions that are executed (value_flow.h). */
#ifndef TOOLS_DEPEND_VALUE_OPERAND_H
#define TOOLS_DEPEND_VALUE_OPERAND_H

#include "tools/depend/value_flow.h"

/* An instruction that is executed. */
struct executing {
    struct value_flow *flow;
    struct value_state *state;
    const struct value_instruction *instruction;
    const char *name; /* of its mnemonic, without the v of AVX */
};

static inline bool operand_is_memory(const ZydisDecodedOperand *operand)
{
    return operand->type == ZYDIS_OPERAND_TYPE_MEMORY && operand->mem.type == ZYDIS_MEMOP_TYPE_MEM;
}

static inline bool operand_is_read(const ZydisDecodedOperand *operand)
{
    return (operand->actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0;
}

static inline bool operand_is_written(const ZydisDecodedOperand *operand)
{
    return (operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0;
}

/* ah, bh, ch or dh. */
bool operand_is_high_byte(const ZydisDecodedOperand *operand);

/* The base and index of a memory operand; the instruction reads them. */
struct value_operand operand_describe(struct executing *executing,
                                      const ZydisDecodedOperand *operand);

/* An immediate depends on nothing. */
struct value operand_read(struct executing *executing, const ZydisDecodedOperand *operand);

/* Writes a value; one that is not exact gets an identity if it has none. */
void operand_write(struct executing *executing, const ZydisDecodedOperand *operand,
                   struct value value);

/* Copies some bits of a register to another one of the same kind, with its parts. */
void operand_copy(struct executing *executing, unsigned to, unsigned from, unsigned bits);

/* The variables of the flags that the instruction tests. */
value_set operand_flags(const struct executing *executing);

/* The instruction sets the flags, as far as it changes them, by a value of these variables. */
void operand_set_flags(struct executing *executing, value_set set);

/* The variable for what an instruction gets from memory, or from a call. */
unsigned operand_number_load(struct value_flow *flow, uint64_t address, value_set variables);

#endif
