/*
 * What instructions do to the values of an iteration (value_form.h). Registers, and slots of the
 * stack that instructions name by rbp or rsp and a constant, are variables; so is what an
 * instruction loads from other memory.
 */
#ifndef TOOLS_DEPEND_VALUE_FLOW_H
#define TOOLS_DEPEND_VALUE_FLOW_H

#include "tools/depend/value_form.h"

#include <Zydis/Zydis.h>
#include <stddef.h>

#define VALUE_REGISTERS     48u /* 16 general ones, 32 vector registers */
#define VALUE_SLOTS         48u
#define VALUE_STORED        (VALUE_REGISTERS + VALUE_SLOTS) /* variables that have values */
#define VALUE_LOADS         (VALUE_VARIABLES - VALUE_STORED)
#define VALUE_UPDATES       64u
#define VALUE_VARIABLE_NONE VALUE_VARIABLES

struct value_state {
    struct value values[VALUE_STORED];
    value_set flags; /* the variables on which the flags depend */
};

/* A slot of the stack. */
struct value_slot {
    uint8_t base;    /* ZydisRegister: RBP or RSP */
    bool is_exposed; /* its address is taken: it is memory */
    int64_t displacement;
};

/* A memory operand. */
struct value_operand {
    struct value base, index;
    int64_t displacement;
    uint16_t bits;
    uint8_t scale;
};

struct value_load {
    uint64_t address; /* of the instruction */
    value_set address_variables;
    struct value_operand operand; /* of the latest execution */
    bool is_current;              /* since the start of the block, and the last store */
};

/* A store of what a load has read, changed by an operation, to the same operand. */
struct value_update {
    uint64_t store, load; /* addresses of the instructions */
};

struct value_flow {
    struct value_slot slots[VALUE_SLOTS];
    unsigned slot_count;
    struct value_load loads[VALUE_LOADS];
    unsigned load_count;
    struct value_update updates[VALUE_UPDATES];
    unsigned update_count;
    value_set used;     /* variables that are stored, are part of addresses or arguments */
    value_set compared; /* variables that are compared */
    value_set read;     /* variables of which an instruction reads a value */
};

struct value_instruction {
    uint64_t address;
    ZydisDecodedInstruction decoded;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
};

/* Finds slots: for each instruction, before the first value_flow_execute(). */
void value_flow_see(struct value_flow *flow, const struct value_instruction *instruction);

/* The variable of the slot that an instruction accesses; VALUE_VARIABLE_NONE: none. */
unsigned value_flow_slot(const struct value_flow *flow,
                         const struct value_instruction *instruction);

/* Each variable has its own value. */
void value_state_begin(struct value_state *state);

/* A basic block begins. */
void value_flow_begin_block(struct value_flow *flow);

void value_flow_execute(struct value_flow *flow, struct value_state *state,
                        const struct value_instruction *instruction);

/* A set with the variables of the addresses of its loads. */
value_set value_flow_close(const struct value_flow *flow, value_set set);

#endif
