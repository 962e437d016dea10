/*
 * What instructions do to the values of an iteration (value_form.h). Registers, and slots of the
 * stack that instructions name by rbp or rsp and a constant, are variables; so is what an
 * instruction loads from other memory, or gets from a call.
 */
#ifndef TOOLS_DEPEND_VALUE_FLOW_H
#define TOOLS_DEPEND_VALUE_FLOW_H

#include "tools/depend/value_form.h"

#include <Zydis/Zydis.h>
#include <stddef.h>

#define VALUE_LOADS         (VALUE_VARIABLES - VALUE_STORED)
#define VALUE_ENTRIES       8u /* of the x87 stack */
#define VALUE_UPDATES       64u
#define VALUE_CALLEES       32u
#define VALUE_DECISIONS     64u
#define VALUE_VARIABLE_NONE VALUE_VARIABLES

/* The low bits of a register, after a write that left the others; 0 bits: there is none. */
struct value_part {
    struct value value;
    uint16_t bits;
    uint16_t width; /* the register's bits above these are zero; 0: it is not known */
};

struct value_flags {
    value_set set, carry; /* variables on which they depend; `carry`: the carry flag */
    bool is_compared;     /* they tell about two operands: */
    struct value_comparison compared;
    uint64_t address; /* of the comparison */
};

struct value_state {
    struct value values[VALUE_STORED];
    struct value_part parts[VALUE_REGISTERS];
    struct value_flags flags;
    value_set decision; /* variables on which the block's last jump depends */
    uint8_t condition;  /* of that jump: enum value_condition */
    int8_t depth;       /* of the x87 stack: pushed in this iteration; -1: not known */
    struct value entries[VALUE_ENTRIES]; /* of these, the deepest first */
    value_set current; /* loads since which no store may have changed the memory */
    value_set unread;  /* registers that were written, and not read since */
};

/* A slot of the stack. */
struct value_stack_slot {
    uint8_t base;    /* ZydisRegister: RBP or RSP */
    bool is_exposed; /* it is memory: its address is taken, or other slots overlap it */
    bool is_indexed;
    uint16_t bytes;
    int64_t displacement;
    uint64_t address; /* of the first instruction that writes it, or else reads it */
    bool is_written;
};

/* A memory operand. */
struct value_operand {
    struct value base, index;
    int64_t displacement;
    uint16_t bits;
    uint8_t scale;
    uint8_t segment; /* ZydisRegister, if the segment matters */
};

struct value_load {
    uint64_t address; /* of the instruction */
    value_set address_variables;
    struct value_operand operand; /* of the latest execution */
};

/* A store of what a load has read, changed by an operation, to the same operand. */
struct value_update {
    uint64_t store, load; /* addresses of the instructions */
    struct value_kind kind;
};

/* A comparison, and what it decides. */
struct value_decision {
    uint64_t address;  /* 0: of all that do not fit, and of flags that are no comparison's */
    value_set decided; /* variables on which jumps and conditional moves depend */
    value_set chosen;  /* bases of minima and maxima that they choose */
};

/* What value_flow.arguments has told. */
struct value_callee {
    uint64_t address;
    value_set registers; /* in which it may get arguments */
    value_set clobbered; /* that it may write, but for those that it preserves */
    bool is_known;
    bool is_pure; /* it writes to its stack frame only */
    bool has_system_calls;
    bool changes_modes; /* as value_obstacles.modes */
};

/* Addresses of the first instructions after which nothing is known; 0: there are none. */
struct value_obstacles {
    uint64_t call;        /* of code that is not known: it may write any register, or not return */
    uint64_t system_call; /* or a call of a function that makes some */
    uint64_t modes;       /* changes how later instructions work: rounding, the direction of string
                             instructions */
    uint64_t jump;        /* to targets that are known only as far as they were reached */
};

struct value_flow {
    struct value_stack_slot slots[VALUE_SLOTS];
    unsigned slot_count;
    uint64_t exposed;          /* bits 1 << slot: these are known to be accessed otherwise, too */
    bool moves_rbp, moves_rsp; /* the loop changes them: they name no slots */
    struct value_load loads[VALUE_LOADS]; /* the last one stands for all that do not fit */
    unsigned load_count;
    struct value_update updates[VALUE_UPDATES];
    unsigned update_count;
    struct value_decision decisions[VALUE_DECISIONS]; /* the first one has address 0 */
    unsigned decision_count;
    value_set used;        /* variables that are stored, are part of addresses or arguments, or
                              decide whether something is stored or called */
    value_set read;        /* variables of which an instruction reads a value */
    value_set stale;       /* argument registers that calls may read as the iteration found them */
    value_set calls;       /* loads that are results of system calls, or of impure functions */
    value_set overwritten; /* loads of memory that the loop writes, as far as the code tells */
    value_set assigned;    /* of these, by something else than an update of it */
    struct value_obstacles obstacles;
    value_set control; /* variables that decide whether the current block is executed */
    struct value_callee callees[VALUE_CALLEES];
    unsigned callee_count;
    /* Finds what a function does; NULL: it is not known. False: it may do more. */
    bool (*arguments)(void *context, struct value_callee *callee);
    void *context;
};

struct value_instruction {
    uint64_t address;
    ZydisDecodedInstruction decoded;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
};

/* The variable of a register; VALUE_VARIABLE_NONE: it has none. */
unsigned value_variable(ZydisRegister name);

/* Finds slots: for each instruction, before the first value_flow_execute(). */
void value_flow_see(struct value_flow *flow, const struct value_instruction *instruction);

/* The variable of an operand that is a register or a slot; VALUE_VARIABLE_NONE: it is neither. */
unsigned value_flow_variable(const struct value_flow *flow, const ZydisDecodedOperand *operand);

/* The variable of the slot that an instruction accesses; VALUE_VARIABLE_NONE: none. */
unsigned value_flow_slot(const struct value_flow *flow,
                         const struct value_instruction *instruction);

/* Each variable has its own value. */
void value_state_begin(struct value_state *state);

bool value_state_is_equal(const struct value_state *a, const struct value_state *b);

/* Where two paths meet, in a block: decision as in value_join(). */
void value_state_join(struct value_state *state, const struct value_state *other,
                      value_set decision, uint32_t block);

/* Of two paths that meet in a block: `kept`, if a jump was not taken, `taken` if it was, as
 * `decided` tells. Where the values are a minimum or maximum of what was compared, state gets it.
 * Returns the bases of these. */
value_set value_state_choose(struct value_state *state, const struct value_state *decided,
                             const struct value_state *kept, const struct value_state *taken);

/* Control leaves a block by its last jump, taken or not: where this tells that what was compared is
 * equal, the simpler one of the two values replaces the other. */
void value_state_leave(struct value_state *state, bool is_taken);

/* A jump or conditional move depends on flags, and chooses a minimum or maximum. */
void value_flow_decide(struct value_flow *flow, const struct value_flags *flags, value_set decision,
                       value_set chosen);

/* Variables that decide something else than whether they are a minimum or maximum. */
value_set value_flow_decided(const struct value_flow *flow);

void value_flow_execute(struct value_flow *flow, struct value_state *state,
                        const struct value_instruction *instruction);

/* Whether an instruction changes how later ones work, or reads what earlier ones have left: the
 * rounding and the exceptions of floating-point numbers, the direction of string instructions. */
bool value_changes_modes(const struct value_instruction *instruction);

/* Forgets what was collected (updates, used, read), but not slots and loads. */
void value_flow_restart(struct value_flow *flow);

/* A set with the variables of the addresses of its loads. */
value_set value_flow_close(const struct value_flow *flow, value_set set);

#endif
