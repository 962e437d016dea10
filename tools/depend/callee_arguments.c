#include "tools/depend/callee_arguments.h"

#include <string.h>

#define PLACES_MAX       256u
#define INSTRUCTIONS_MAX 4000u
#define CALLS_MAX        4u /* nested */

/* Code to look at, and the registers that have been written before it. */
struct place {
    uint64_t address;
    value_set written;
};

struct search {
    loop_flow_read *read;
    void *context;
    const struct search *caller; /* or NULL */
    uint64_t callee;
    struct place places[PLACES_MAX];
    unsigned count, next;
    unsigned instructions;
    unsigned calls;
    value_set found, clobbered;
    value_set saved;   /* registers that it restores for its caller */
    bool has_frame;    /* it has set rbp */
    bool has_returned; /* a path ends with a return */
    bool writes;       /* to memory other than its frame, or makes system calls */
    bool has_system_calls, changes_modes;
};

/* rbx, rbp, r12 to r15: functions must preserve them, but for variables that the compiler was told
 * to keep there. */
static value_set preserved(void)
{
    return (value_set)0xf028;
}

/* False: there is no room. */
static bool add_place(struct search *search, uint64_t address, value_set written)
{
    for (unsigned i = 0; i < search->count; i++)
        if (search->places[i].address == address && !(search->places[i].written & ~written))
            return true;
    if (search->count == PLACES_MAX)
        return false;
    search->places[search->count++] = (struct place){address, written};
    return true;
}

/* The target of a direct jump or call, or of one through a constant address (to a library). */
static bool find_target(const struct search *search, const struct value_instruction *instruction,
                        uint64_t *target)
{
    const ZydisDecodedOperand *operand = &instruction->operands[0];
    const uint64_t next = instruction->address + instruction->decoded.length;
    const uint8_t *bytes;
    if (operand->type == ZYDIS_OPERAND_TYPE_IMMEDIATE) {
        *target = next + operand->imm.value.u;
        return true;
    }
    if (operand->type != ZYDIS_OPERAND_TYPE_MEMORY || operand->mem.base != ZYDIS_REGISTER_RIP ||
        search->read(search->context, next + (uint64_t)operand->mem.disp.value, &bytes) <
            sizeof *target)
        return false;
    memcpy(target, bytes, sizeof *target);
    return true;
}

/* The instruction only seems to read its operands, as xor of a register with itself. */
static bool is_idiom(const struct value_instruction *instruction)
{
    const ZydisDecodedOperand *operands = instruction->operands;
    const char *name = ZydisMnemonicGetString(instruction->decoded.mnemonic);
    return instruction->decoded.operand_count_visible == 2 &&
           operands[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
           operands[1].type == ZYDIS_OPERAND_TYPE_REGISTER &&
           operands[0].reg.value == operands[1].reg.value &&
           (strstr(name, "xor") || strstr(name, "sub"));
}

/* Writes to memory other than the frame. */
static bool writes_memory(const struct search *search, const ZydisDecodedOperand *operand)
{
    return operand->type == ZYDIS_OPERAND_TYPE_MEMORY &&
           (operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) &&
           operand->mem.base != ZYDIS_REGISTER_RSP &&
           (operand->mem.base != ZYDIS_REGISTER_RBP || !search->has_frame);
}

/* The instruction saves a register on the stack, before it was written. */
static value_set saved_by(const struct value_instruction *instruction, value_set written)
{
    const ZydisDecodedOperand *operands = instruction->operands;
    const bool pushes = instruction->decoded.mnemonic == ZYDIS_MNEMONIC_PUSH;
    const bool stores = instruction->decoded.mnemonic == ZYDIS_MNEMONIC_MOV &&
                        operands[0].type == ZYDIS_OPERAND_TYPE_MEMORY &&
                        operands[0].mem.base == ZYDIS_REGISTER_RSP;
    const ZydisDecodedOperand *from = &operands[stores ? 1 : 0];
    if ((!pushes && !stores) || from->type != ZYDIS_OPERAND_TYPE_REGISTER || from->size != 64)
        return 0;
    const unsigned variable = value_variable(from->reg.value);
    return variable < VALUE_VECTORS ? value_set_of(variable) & preserved() & ~written : 0;
}

static void note_registers(struct search *search, const struct value_instruction *instruction,
                           value_set *written)
{
    const ZydisDecodedOperand *operands = instruction->operands;
    const value_set saved = saved_by(instruction, *written);
    value_set writes = 0;
    search->saved |= saved;
    if (instruction->decoded.mnemonic == ZYDIS_MNEMONIC_XLAT)
        search->found |= value_set_of(0) & ~*written; /* its index is no operand */
    search->changes_modes |= value_changes_modes(instruction);
    search->has_frame |= instruction->decoded.mnemonic == ZYDIS_MNEMONIC_MOV &&
                         operands[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
                         operands[0].reg.value == ZYDIS_REGISTER_RBP &&
                         operands[1].reg.value == ZYDIS_REGISTER_RSP;
    for (unsigned i = 0; i < instruction->decoded.operand_count; i++) {
        const ZydisDecodedOperand *operand = &instruction->operands[i];
        value_set read = 0;
        search->writes |= writes_memory(search, operand);
        if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY)
            for (unsigned k = 0; k < 2; k++) {
                const unsigned variable =
                    value_variable(k == 0 ? operand->mem.base : operand->mem.index);
                read |= variable < VALUE_REGISTERS ? value_set_of(variable) : 0;
            }
        const unsigned variable = operand->type == ZYDIS_OPERAND_TYPE_REGISTER
                                      ? value_variable(operand->reg.value)
                                      : VALUE_VARIABLE_NONE;
        const value_set own = variable < VALUE_REGISTERS ? value_set_of(variable) : 0;
        if ((operand->actions & ZYDIS_OPERAND_ACTION_MASK_READ) && !is_idiom(instruction))
            read |= own;
        if (operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
            search->clobbered |= own & ~search->saved;
        if ((operand->actions & ZYDIS_OPERAND_ACTION_WRITE) && operand->size >= 32)
            writes |= own;
        search->found |= read & ~*written & ~saved;
    }
    *written |= writes;
}

static bool search_function(struct search *search);

/* A function calls itself: what it does is found anyway. */
static bool is_recursive(const struct search *search, uint64_t target)
{
    while (search && search->callee != target)
        search = search->caller;
    return search != NULL;
}

/* What the callee of a callee may read. */
static bool search_call(struct search *search, const struct value_instruction *instruction,
                        value_set written)
{
    struct search inner = {.read = search->read,
                           .context = search->context,
                           .caller = search,
                           .calls = search->calls + 1,
                           .instructions = search->instructions};
    if (inner.calls == CALLS_MAX || !find_target(search, instruction, &inner.callee))
        return false;
    if (is_recursive(search, inner.callee))
        return true;
    if (!search_function(&inner))
        return false;
    search->instructions = inner.instructions;
    search->found |= inner.found & ~written;
    search->clobbered |= inner.clobbered & ~search->saved;
    search->writes |= inner.writes;
    search->has_system_calls |= inner.has_system_calls;
    search->changes_modes |= inner.changes_modes;
    return true;
}

/* Looks at code up to a return, a call, or a jump back. False: it is not all known. */
static bool search_place(struct search *search, struct place place)
{
    struct value_instruction instruction;
    uint64_t target;
    while (search->instructions++ < INSTRUCTIONS_MAX &&
           loop_flow_decode(search->read, search->context, place.address, &instruction)) {
        note_registers(search, &instruction, &place.written);
        place.address += instruction.decoded.length;
        if (instruction.decoded.meta.category == ZYDIS_CATEGORY_SYSCALL) {
            search->writes = search->has_system_calls = true;
            search->clobbered |= value_set_of(0); /* rax, the result */
        }
        switch (instruction.decoded.meta.category) {
        case ZYDIS_CATEGORY_RET:
            search->has_returned = true;
            return true;
        case ZYDIS_CATEGORY_INTERRUPT:
            return false;
        case ZYDIS_CATEGORY_CALL:
            if (!search_call(search, &instruction, place.written))
                return false;
            place.written = ~(value_set)0; /* what is in registers now was not passed */
            break;
        case ZYDIS_CATEGORY_UNCOND_BR:
            return find_target(search, &instruction, &target) &&
                   add_place(search, target, place.written);
        case ZYDIS_CATEGORY_COND_BR:
            if (!find_target(search, &instruction, &target) ||
                !add_place(search, target, place.written))
                return false;
            break;
        default:
            if (instruction.decoded.mnemonic == ZYDIS_MNEMONIC_UD2 ||
                instruction.decoded.mnemonic == ZYDIS_MNEMONIC_HLT)
                return false; /* it may not return */
        }
    }
    return false;
}

static bool search_function(struct search *search)
{
    bool is_known = add_place(search, search->callee, 0);
    while (is_known && search->next < search->count)
        is_known = search_place(search, search->places[search->next++]);
    return is_known && search->has_returned;
}

bool callee_arguments_find(loop_flow_read *read, void *context, struct value_callee *callee)
{
    struct search search = {.read = read, .context = context, .callee = callee->address};
    callee->is_known = search_function(&search);
    callee->registers = search.found;
    callee->clobbered = callee->is_known ? search.clobbered : ~(value_set)0;
    callee->is_pure = callee->is_known && !search.writes;
    callee->has_system_calls = search.has_system_calls;
    callee->changes_modes = search.changes_modes;
    return callee->is_known;
}
