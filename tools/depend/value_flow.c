#include "tools/depend/value_flow_internal.h"

#include "formats/base/hash_index.h"

#include <string.h>

static const struct value nothing; /* depends on nothing */

/* --- variables ---------------------------------------------------------------------------------
 */

unsigned value_variable_of(ZydisRegister name)
{
    const ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, name);
    switch (ZydisRegisterGetClass(whole)) {
    case ZYDIS_REGCLASS_GPR64:
        return (unsigned)(whole - ZYDIS_REGISTER_RAX);
    case ZYDIS_REGCLASS_XMM:
    case ZYDIS_REGCLASS_YMM:
    case ZYDIS_REGCLASS_ZMM:
        return 16u + (unsigned)ZydisRegisterGetId(whole);
    default:
        return VALUE_VARIABLE_NONE;
    }
}

/* Names a place of the stack frame. */
static bool is_slot(const ZydisDecodedOperand *operand)
{
    return operand->type == ZYDIS_OPERAND_TYPE_MEMORY &&
           operand->visibility == ZYDIS_OPERAND_VISIBILITY_EXPLICIT &&
           operand->mem.index == ZYDIS_REGISTER_NONE &&
           (operand->mem.base == ZYDIS_REGISTER_RBP || operand->mem.base == ZYDIS_REGISTER_RSP);
}

static unsigned find_slot(const struct value_flow *flow, const ZydisDecodedOperand *operand)
{
    for (unsigned i = 0; i < flow->slot_count; i++)
        if (flow->slots[i].base == operand->mem.base &&
            flow->slots[i].displacement == operand->mem.disp.value)
            return i;
    return VALUE_SLOTS;
}

/* The variable of an operand; VALUE_VARIABLE_NONE: it is none. */
static unsigned operand_variable(const struct value_flow *flow, const ZydisDecodedOperand *operand)
{
    if (operand->type == ZYDIS_OPERAND_TYPE_REGISTER)
        return value_variable_of(operand->reg.value);
    if (!value_operand_is_memory(operand) || !is_slot(operand))
        return VALUE_VARIABLE_NONE;
    const unsigned slot = find_slot(flow, operand);
    return slot < VALUE_SLOTS && !flow->slots[slot].is_exposed ? VALUE_REGISTERS + slot
                                                               : VALUE_VARIABLE_NONE;
}

/* Sees a place of the stack. */
static void see_slot(struct value_flow *flow, const ZydisDecodedOperand *operand)
{
    const uint16_t size = operand->size / 8;
    unsigned number = find_slot(flow, operand);
    if (number == VALUE_SLOTS && flow->slot_count < VALUE_SLOTS) {
        number = flow->slot_count++;
        flow->slots[number] = (struct value_slot){.base = (uint8_t)operand->mem.base,
                                                  .displacement = operand->mem.disp.value};
    }
    if (number == VALUE_SLOTS)
        return;
    struct value_slot *slot = &flow->slots[number];
    if (operand->mem.type == ZYDIS_MEMOP_TYPE_AGEN) {
        slot->is_exposed = true;
        return;
    }
    slot->size = size > slot->size ? size : slot->size;
    if ((operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0 &&
        (slot->smallest_write == 0 || size < slot->smallest_write))
        slot->smallest_write = size;
}

void value_flow_see(struct value_flow *flow, const struct value_instruction *instruction)
{
    for (unsigned i = 0; i < instruction->decoded.operand_count; i++)
        if (is_slot(&instruction->operands[i]))
            see_slot(flow, &instruction->operands[i]);
}

void value_flow_have_seen(struct value_flow *flow)
{
    for (unsigned i = 0; i < flow->slot_count; i++) {
        struct value_slot *slot = &flow->slots[i];
        if (slot->smallest_write > 0 && slot->smallest_write < slot->size)
            slot->is_exposed = true;
        for (unsigned k = 0; k < flow->slot_count; k++) {
            const struct value_slot *other = &flow->slots[k];
            if (k != i && other->base == slot->base && other->size > 0 && slot->size > 0 &&
                other->displacement < slot->displacement + slot->size &&
                slot->displacement < other->displacement + other->size)
                slot->is_exposed = true;
        }
    }
}

unsigned value_flow_slot(const struct value_flow *flow, const struct value_instruction *instruction)
{
    for (unsigned i = 0; i < instruction->decoded.operand_count; i++)
        if (value_operand_is_memory(&instruction->operands[i]))
            return operand_variable(flow, &instruction->operands[i]);
    return VALUE_VARIABLE_NONE;
}

void value_flow_begin_block(struct value_flow *flow)
{
    for (unsigned i = 0; i < flow->load_count; i++)
        flow->loads[i].is_current = false;
}

value_set value_flow_close(const struct value_flow *flow, value_set set)
{
    value_set before;
    do {
        before = set;
        for (unsigned i = 0; i < flow->load_count; i++)
            if (set & value_set_of(VALUE_STORED + i))
                set |= flow->loads[i].address_variables;
    } while (set != before);
    return set;
}

/* --- operands ----------------------------------------------------------------------------------
 */

static struct value register_value(const struct executing *executing, ZydisRegister name)
{
    const unsigned variable = value_variable_of(name);
    const struct value_state *state = executing->state;
    if (variable == VALUE_VARIABLE_NONE)
        return nothing;
    if (variable >= VALUE_GENERAL || state->part[variable] == 0 ||
        ZydisRegisterGetWidth(ZYDIS_MACHINE_MODE_LONG_64, name) / 8 <= state->part[variable])
        return state->values[variable];
    return value_of_set(value_all(&state->values[variable]) | state->rest[variable]);
}

struct value_operand value_describe(const struct executing *executing,
                                    const ZydisDecodedOperand *operand)
{
    struct value_operand described = {.base = register_value(executing, operand->mem.base),
                                      .index = register_value(executing, operand->mem.index),
                                      .displacement = operand->mem.disp.value,
                                      .bits = operand->size,
                                      .scale = operand->mem.scale};
    if (operand->mem.base == ZYDIS_REGISTER_RIP)
        described.displacement +=
            (int64_t)(executing->instruction->address + executing->instruction->decoded.length);
    return described;
}

/* Equal values, which are known to be the same within a block. */
static bool is_same(const struct value *a, const struct value *b)
{
    return value_is_equal(a, b) && (a->is_exact || a->constant != 0 || value_all(a) == 0);
}

static bool is_same_operand(const struct value_operand *a, const struct value_operand *b)
{
    return is_same(&a->base, &b->base) && is_same(&a->index, &b->index) &&
           a->displacement == b->displacement && a->bits == b->bits && a->scale == b->scale;
}

/* The variable of a load by this instruction; VALUE_LOADS: there are too many. */
static unsigned number_load(struct value_flow *flow, uint64_t address)
{
    for (unsigned i = 0; i < flow->load_count; i++)
        if (flow->loads[i].address == address)
            return i;
    if (flow->load_count == VALUE_LOADS)
        return VALUE_LOADS;
    flow->loads[flow->load_count] = (struct value_load){.address = address};
    return flow->load_count++;
}

static struct value load(struct executing *executing, const ZydisDecodedOperand *operand)
{
    struct value_flow *flow = executing->flow;
    const struct value_operand described = value_describe(executing, operand);
    const value_set address = value_all(&described.base) | value_all(&described.index);
    flow->used |= address;
    flow->read |= address;
    for (unsigned i = 0; i < flow->load_count; i++)
        if (flow->loads[i].is_current && is_same_operand(&flow->loads[i].operand, &described))
            return value_of_variable(VALUE_STORED + i);
    const unsigned number = number_load(flow, executing->instruction->address);
    if (number == VALUE_LOADS)
        return value_of_set(address);
    struct value_load *loaded = &flow->loads[number];
    loaded->operand = described;
    loaded->address_variables |= address;
    loaded->is_current = true;
    return value_of_variable(VALUE_STORED + number);
}

static void add_update(struct value_flow *flow, uint64_t store, uint64_t loaded)
{
    for (unsigned i = 0; i < flow->update_count; i++)
        if (flow->updates[i].store == store && flow->updates[i].load == loaded)
            return;
    if (flow->update_count < VALUE_UPDATES)
        flow->updates[flow->update_count++] = (struct value_update){.store = store, .load = loaded};
}

static void store(struct executing *executing, const ZydisDecodedOperand *operand,
                  const struct value *value)
{
    struct value_flow *flow = executing->flow;
    const struct value_operand described = value_describe(executing, operand);
    value_set updated = 0;
    flow->has_stores = true;
    for (unsigned i = 0; i < flow->load_count; i++) {
        const value_set variable = value_set_of(VALUE_STORED + i);
        if ((value->bases & variable) && (value->operation != VALUE_NONE || value->constant != 0) &&
            flow->loads[i].is_current && is_same_operand(&flow->loads[i].operand, &described)) {
            add_update(flow, executing->instruction->address, flow->loads[i].address);
            updated |= variable;
        }
        flow->loads[i].is_current = false;
    }
    flow->used |= value_all(&described.base) | value_all(&described.index);
    flow->read |= value_all(&described.base) | value_all(&described.index);
    flow->used |= value_all(value) & ~updated;
}

struct value value_read(struct executing *executing, const ZydisDecodedOperand *operand)
{
    const unsigned variable = operand_variable(executing->flow, operand);
    struct value value = nothing;
    if (variable != VALUE_VARIABLE_NONE)
        value = operand->type == ZYDIS_OPERAND_TYPE_REGISTER
                    ? register_value(executing, operand->reg.value)
                    : executing->state->values[variable];
    else if (value_operand_is_memory(operand))
        value = load(executing, operand);
    executing->flow->read |= value_all(&value);
    return value;
}

/* Writes a register, or a part of it. */
static void write_register(struct value_state *state, unsigned variable, ZydisRegister name,
                           const struct value *value)
{
    const uint8_t bytes = (uint8_t)(ZydisRegisterGetWidth(ZYDIS_MACHINE_MODE_LONG_64, name) / 8);
    const bool is_high = name >= ZYDIS_REGISTER_AH && name <= ZYDIS_REGISTER_BH;
    const value_set before = value_all(&state->values[variable]);
    if (state->compared[0] == variable || state->compared[1] == variable)
        state->compared[0] = state->compared[1] = VALUE_VARIABLE_NONE;
    if (variable < VALUE_GENERAL && is_high) {
        state->values[variable] = value_of_set(value_all(value) | before);
        return;
    }
    if (variable < VALUE_GENERAL) {
        state->rest[variable] = bytes < 4 ? state->rest[variable] | before : 0;
        state->part[variable] = bytes < 4 ? bytes : 0;
    }
    state->values[variable] = *value;
}

void value_write(struct executing *executing, const ZydisDecodedOperand *operand,
                 struct value value)
{
    const unsigned variable = operand_variable(executing->flow, operand);
    if (!value.is_exact) /* its identity, for is_same() */
        value.constant = value.constant ? value.constant : executing->instruction->address;
    if (variable == ZYDIS_REGISTER_RSP - ZYDIS_REGISTER_RAX)
        return; /* the frame stays where it is */
    if (variable != VALUE_VARIABLE_NONE && operand->type == ZYDIS_OPERAND_TYPE_REGISTER)
        write_register(executing->state, variable, operand->reg.value, &value);
    else if (variable != VALUE_VARIABLE_NONE)
        executing->state->values[variable] = value;
    else if (value_operand_is_memory(operand))
        store(executing, operand, &value);
}

/* --- comparisons -------------------------------------------------------------------------------
 */

/* A load of the same memory as another one, if nothing is stored in between. */
static bool is_same_load(const struct value_flow *flow, const struct value *a,
                         const struct value *b)
{
    unsigned loads[2] = {VALUE_LOADS, VALUE_LOADS};
    if (flow->has_stores || !a->is_exact || !b->is_exact || a->constant || b->constant)
        return false;
    for (unsigned i = 0; i < flow->load_count; i++) {
        loads[0] = a->bases == value_set_of(VALUE_STORED + i) ? i : loads[0];
        loads[1] = b->bases == value_set_of(VALUE_STORED + i) ? i : loads[1];
    }
    return loads[0] < VALUE_LOADS && loads[1] < VALUE_LOADS &&
           is_same_operand(&flow->loads[loads[0]].operand, &flow->loads[loads[1]].operand);
}

static bool is_compared_value(const struct value_flow *flow, const struct value *a,
                              const struct value *b)
{
    return is_same(a, b) || is_same_load(flow, a, b);
}

struct value value_flow_join(struct value_flow *flow, const struct value *a, const struct value *b)
{
    bool are_compared = false;
    for (unsigned i = 0; i < flow->comparison_count; i++) {
        struct value_comparison *pair = &flow->comparisons[i];
        if ((is_compared_value(flow, &pair->left, a) && is_compared_value(flow, &pair->right, b)) ||
            (is_compared_value(flow, &pair->left, b) && is_compared_value(flow, &pair->right, a)))
            are_compared = pair->is_extreme = true;
    }
    return value_join(a, b, are_compared);
}

/* --- states ------------------------------------------------------------------------------------
 */

void value_state_begin(struct value_state *state)
{
    *state = (struct value_state){.compared = {VALUE_VARIABLE_NONE, VALUE_VARIABLE_NONE}};
    for (unsigned i = 0; i < VALUE_STORED; i++)
        state->values[i] = value_of_variable(i);
}

bool value_is_own_or_clobbered(const struct value *value, unsigned variable)
{
    const struct value own = value_of_variable(variable);
    return value_is_clobbered(value) || value_is_equal(value, &own);
}

static unsigned smaller_part(unsigned a, unsigned b)
{
    if (a == 0 || b == 0)
        return a | b;
    return a < b ? a : b;
}

void value_state_join(struct value_flow *flow, struct value_state *state,
                      const struct value_state *other)
{
    for (unsigned i = 0; i < VALUE_STORED; i++) {
        const struct value *a = &state->values[i], *b = &other->values[i];
        if ((value_is_clobbered(a) || value_is_clobbered(b)) && value_is_own_or_clobbered(a, i) &&
            value_is_own_or_clobbered(b, i))
            state->values[i] = value_clobbered(); /* nothing is left that could be used */
        else
            state->values[i] = value_flow_join(flow, a, b);
    }
    for (unsigned i = 0; i < VALUE_GENERAL; i++) {
        state->part[i] = (uint8_t)smaller_part(state->part[i], other->part[i]);
        state->rest[i] |= other->rest[i];
    }
    state->flags |= other->flags;
    state->flags_are_used |= other->flags_are_used;
    state->compared[0] = state->compared[1] = VALUE_VARIABLE_NONE;
}

struct value_branch value_branch_of(const struct value_instruction *instruction)
{
    const uint64_t next = instruction->address + instruction->decoded.length;
    const ZydisDecodedOperand *operand = &instruction->operands[0];
    const bool is_equal = instruction->decoded.mnemonic == ZYDIS_MNEMONIC_JZ;
    return (struct value_branch){.is_equality = is_equal ||
                                                instruction->decoded.mnemonic == ZYDIS_MNEMONIC_JNZ,
                                 .equal = is_equal ? next + operand->imm.value.u : next};
}

void value_state_follow(struct value_state *state, const struct value_branch *branch, uint64_t to)
{
    const unsigned a = state->compared[0], b = state->compared[1];
    if (!branch->is_equality || branch->equal != to || a >= VALUE_REGISTERS || b >= VALUE_REGISTERS)
        return;
    if (state->values[a].is_exact && !state->values[b].is_exact)
        state->values[b] = state->values[a];
    else if (state->values[b].is_exact && !state->values[a].is_exact)
        state->values[a] = state->values[b];
}

bool value_state_is_equal(const struct value_state *a, const struct value_state *b)
{
    for (unsigned i = 0; i < VALUE_STORED; i++)
        if (!value_is_equal(&a->values[i], &b->values[i]))
            return false;
    for (unsigned i = 0; i < VALUE_GENERAL; i++)
        if (a->part[i] != b->part[i] || a->rest[i] != b->rest[i])
            return false;
    return a->flags == b->flags && a->flags_are_used == b->flags_are_used &&
           a->compared[0] == b->compared[0] && a->compared[1] == b->compared[1];
}
