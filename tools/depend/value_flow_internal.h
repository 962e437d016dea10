/* What the files of value_flow.h share. */
#ifndef TOOLS_DEPEND_VALUE_FLOW_INTERNAL_H
#define TOOLS_DEPEND_VALUE_FLOW_INTERNAL_H

#include "tools/depend/value_flow.h"

/* An instruction that is executed. */
struct executing {
    struct value_flow *flow;
    struct value_state *state;
    const struct value_instruction *instruction;
};

static inline bool value_operand_is_memory(const ZydisDecodedOperand *operand)
{
    return operand->type == ZYDIS_OPERAND_TYPE_MEMORY && operand->mem.type == ZYDIS_MEMOP_TYPE_MEM;
}

/* The variable of a register; VALUE_VARIABLE_NONE: it has none. */
unsigned value_variable_of(ZydisRegister name);

/* The parts of a memory operand. */
struct value_operand value_describe(const struct executing *executing,
                                    const ZydisDecodedOperand *operand);

struct value value_read(struct executing *executing, const ZydisDecodedOperand *operand);
void value_write(struct executing *executing, const ZydisDecodedOperand *operand,
                 struct value value);

#endif
