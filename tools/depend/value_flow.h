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

#define VALUE_GENERAL       16u /* general registers */
#define VALUE_REGISTERS     48u /* with 32 vector registers */
#define VALUE_SLOTS         48u
#define VALUE_STORED        (VALUE_REGISTERS + VALUE_SLOTS) /* variables that have values */
#define VALUE_LOADS         (VALUE_VARIABLES - VALUE_STORED)
#define VALUE_UPDATES       64u
#define VALUE_COMPARISONS   64u
#define VALUE_VARIABLE_NONE VALUE_VARIABLES

struct value_instruction {
    uint64_t address;
    ZydisDecodedInstruction decoded;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
};

/* All variables that are loads. */
static inline value_set value_loads(void)
{
    return ~(value_set_of(VALUE_STORED) - 1);
}

struct value_state {
    struct value values[VALUE_STORED];
    /* of general registers of which only the lowest part was written: its size in bytes, and the
     * variables on which the rest depends; 0: it is written whole */
    uint8_t part[VALUE_GENERAL];
    value_set rest[VALUE_GENERAL];
    value_set flags;     /* the variables on which the flags depend */
    bool flags_are_used; /* by a branch they are: another instruction than a comparison set them */
    uint8_t compared[2]; /* registers whose comparison set the flags; VALUE_VARIABLE_NONE: none */
};

/* The last instruction of a block is a branch if two values are equal, or if they are not. */
struct value_branch {
    bool is_equality;
    uint64_t equal; /* where it leads if they are equal */
};

/* A slot of the stack. */
struct value_slot {
    uint8_t base;    /* ZydisRegister: RBP or RSP */
    bool is_exposed; /* its address is taken, or parts of it are accessed: it is memory */
    uint16_t size, smallest_write; /* in bytes, of accesses; 0: none */
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

/* Two values that are compared. */
struct value_comparison {
    struct value left, right;
    bool is_extreme; /* one of them becomes the other */
};

struct value_flow {
    /* What a call instruction calls may take as arguments, and writes. */
    void (*callee)(void *context, const struct value_instruction *call, value_set *arguments,
                   value_set *clobbered);
    void *context;
    struct value_slot slots[VALUE_SLOTS];
    unsigned slot_count;
    struct value_load loads[VALUE_LOADS];
    unsigned load_count;
    struct value_update updates[VALUE_UPDATES];
    unsigned update_count;
    struct value_comparison comparisons[VALUE_COMPARISONS];
    unsigned comparison_count;
    bool has_stores;    /* to other memory than slots */
    value_set used;     /* variables that are stored, are part of addresses or arguments */
    value_set compared; /* variables that are compared */
    value_set passed;   /* registers that may be arguments of a call, as the iteration found them */
    value_set read;     /* variables of which an instruction reads a value */
};

/* Finds slots: for each instruction; then once value_flow_have_seen(), before the first
 * value_flow_execute(). */
void value_flow_see(struct value_flow *flow, const struct value_instruction *instruction);
void value_flow_have_seen(struct value_flow *flow);

/* The variable of the slot that an instruction accesses; VALUE_VARIABLE_NONE: none. */
unsigned value_flow_slot(const struct value_flow *flow,
                         const struct value_instruction *instruction);

/* Each variable has its own value. */
void value_state_begin(struct value_state *state);

/* Two paths meet; either of two values, where they do. */
void value_state_join(struct value_flow *flow, struct value_state *state,
                      const struct value_state *other);
bool value_state_is_equal(const struct value_state *a, const struct value_state *b);
struct value value_flow_join(struct value_flow *flow, const struct value *a, const struct value *b);

/* What a branch tells of the values at the address where it leads. */
struct value_branch value_branch_of(const struct value_instruction *instruction);
void value_state_follow(struct value_state *state, const struct value_branch *branch, uint64_t to);

/* A basic block begins. */
void value_flow_begin_block(struct value_flow *flow);

void value_flow_execute(struct value_flow *flow, struct value_state *state,
                        const struct value_instruction *instruction);

/* Whether a register has its value of the iteration's begin, or none that code could use. */
bool value_is_own_or_clobbered(const struct value *value, unsigned variable);

/* A set with the variables of the addresses of its loads. */
value_set value_flow_close(const struct value_flow *flow, value_set set);

#endif
