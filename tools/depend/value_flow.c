#include "tools/depend/value_flow.h"

#include <string.h>

static const struct value nothing; /* depends on nothing */

/* --- variables ---------------------------------------------------------------------------------
 */

static unsigned variable_of(ZydisRegister name)
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

static bool is_memory(const ZydisDecodedOperand *operand)
{
    return operand->type == ZYDIS_OPERAND_TYPE_MEMORY && operand->mem.type == ZYDIS_MEMOP_TYPE_MEM;
}

static bool is_read(const ZydisDecodedOperand *operand)
{
    return (operand->actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0;
}

static bool is_written(const ZydisDecodedOperand *operand)
{
    return (operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0;
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
        return variable_of(operand->reg.value);
    if (!is_memory(operand) || !is_slot(operand))
        return VALUE_VARIABLE_NONE;
    const unsigned slot = find_slot(flow, operand);
    return slot < VALUE_SLOTS && !flow->slots[slot].is_exposed ? VALUE_REGISTERS + slot
                                                               : VALUE_VARIABLE_NONE;
}

void value_flow_see(struct value_flow *flow, const struct value_instruction *instruction)
{
    for (unsigned i = 0; i < instruction->decoded.operand_count; i++) {
        const ZydisDecodedOperand *operand = &instruction->operands[i];
        if (!is_slot(operand))
            continue;
        unsigned slot = find_slot(flow, operand);
        if (slot == VALUE_SLOTS && flow->slot_count < VALUE_SLOTS) {
            slot = flow->slot_count++;
            flow->slots[slot] = (struct value_slot){.base = (uint8_t)operand->mem.base,
                                                    .displacement = operand->mem.disp.value};
        }
        if (slot < VALUE_SLOTS && operand->mem.type == ZYDIS_MEMOP_TYPE_AGEN)
            flow->slots[slot].is_exposed = true;
    }
}

unsigned value_flow_slot(const struct value_flow *flow, const struct value_instruction *instruction)
{
    for (unsigned i = 0; i < instruction->decoded.operand_count; i++)
        if (is_memory(&instruction->operands[i]))
            return operand_variable(flow, &instruction->operands[i]);
    return VALUE_VARIABLE_NONE;
}

void value_state_begin(struct value_state *state)
{
    for (unsigned i = 0; i < VALUE_STORED; i++)
        state->values[i] = value_of_variable(i);
    state->flags = 0;
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

/* An instruction that is executed. */
struct executing {
    struct value_flow *flow;
    struct value_state *state;
    const struct value_instruction *instruction;
};

static struct value register_value(const struct executing *executing, ZydisRegister name)
{
    const unsigned variable = variable_of(name);
    return variable == VALUE_VARIABLE_NONE ? nothing : executing->state->values[variable];
}

static struct value_operand describe(const struct executing *executing,
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
    const struct value_operand described = describe(executing, operand);
    const value_set address = value_all(&described.base) | value_all(&described.index);
    flow->used |= address;
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
    const struct value_operand described = describe(executing, operand);
    value_set updated = 0;
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
    flow->used |= value_all(value) & ~updated;
}

static struct value read_operand(struct executing *executing, const ZydisDecodedOperand *operand)
{
    const unsigned variable = operand_variable(executing->flow, operand);
    struct value value = nothing;
    if (variable != VALUE_VARIABLE_NONE)
        value = executing->state->values[variable];
    else if (is_memory(operand))
        value = load(executing, operand);
    executing->flow->read |= value_all(&value);
    return value;
}

static void write_operand(struct executing *executing, const ZydisDecodedOperand *operand,
                          struct value value)
{
    const unsigned variable = operand_variable(executing->flow, operand);
    if (!value.is_exact) /* its identity, for is_same() */
        value.constant = value.constant ? value.constant : executing->instruction->address;
    if (variable == ZYDIS_REGISTER_RSP - ZYDIS_REGISTER_RAX)
        return; /* the frame stays where it is */
    if (variable != VALUE_VARIABLE_NONE)
        executing->state->values[variable] = value;
    else if (is_memory(operand))
        store(executing, operand, &value);
}

/* --- instructions ------------------------------------------------------------------------------
 */

/* Begins with. */
static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* The operation of an instruction with two sources; *subtracts: the second one is subtracted. */
static enum value_operation operation_of(const char *name, bool *subtracts)
{
    static const struct {
        const char *prefix;
        uint8_t operation;
        bool subtracts;
    } operations[] = {{"padd", VALUE_ADD, false},       {"add", VALUE_ADD, false},
                      {"psub", VALUE_ADD, true},        {"sub", VALUE_ADD, true},
                      {"pmull", VALUE_MULTIPLY, false}, {"mulp", VALUE_MULTIPLY, false},
                      {"muls", VALUE_MULTIPLY, false},  {"imul", VALUE_MULTIPLY, false},
                      {"pandn", VALUE_NONE, false},     {"andn", VALUE_NONE, false},
                      {"pand", VALUE_AND, false},       {"and", VALUE_AND, false},
                      {"por", VALUE_OR, false},         {"or", VALUE_OR, false},
                      {"pxor", VALUE_XOR, false},       {"xor", VALUE_XOR, false},
                      {"pmin", VALUE_MINIMUM, false},   {"min", VALUE_MINIMUM, false},
                      {"pmax", VALUE_MAXIMUM, false},   {"max", VALUE_MAXIMUM, false}};
    *subtracts = false;
    name += *name == 'v';
    for (unsigned i = 0; i < sizeof operations / sizeof operations[0]; i++)
        if (begins(name, operations[i].prefix)) {
            *subtracts = operations[i].subtracts;
            return (enum value_operation)operations[i].operation;
        }
    return VALUE_NONE;
}

static bool is_constant(const ZydisDecodedOperand *operand)
{
    return operand->type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
}

static bool is_same_register(const ZydisDecodedOperand *a, const ZydisDecodedOperand *b)
{
    return a->type == ZYDIS_OPERAND_TYPE_REGISTER && b->type == ZYDIS_OPERAND_TYPE_REGISTER &&
           a->reg.value == b->reg.value;
}

/* An operation: the first operand, or the one before the last, with the last. */
static bool execute_operation(struct executing *executing, const char *name)
{
    const ZydisDecodedInstruction *decoded = &executing->instruction->decoded;
    const ZydisDecodedOperand *operands = executing->instruction->operands;
    const unsigned count = decoded->operand_count_visible;
    bool subtracts;
    const enum value_operation operation = operation_of(name, &subtracts);
    if (operation == VALUE_NONE || count < 2 || count > 3)
        return false;
    const ZydisDecodedOperand *left = &operands[count - 2], *right = &operands[count - 1];
    struct value value = nothing;
    if (!((operation == VALUE_XOR || subtracts) && is_same_register(left, right))) {
        const struct value a = read_operand(executing, left);
        const struct value b = is_constant(right) ? nothing : read_operand(executing, right);
        if (is_constant(right) && operation == VALUE_ADD)
            value = value_add_constant(a, subtracts ? -right->imm.value.u : right->imm.value.u);
        else
            value = subtracts ? value_subtract(&a, &b) : value_combine(operation, &a, &b);
        if (!value.is_exact)
            value.constant = 0;
    }
    executing->state->flags = value_all(&value);
    write_operand(executing, &operands[0], value);
    return true;
}

/* inc, dec, lea, and instructions that copy. */
static bool execute_simple(struct executing *executing, const char *name)
{
    const ZydisDecodedInstruction *decoded = &executing->instruction->decoded;
    const ZydisDecodedOperand *operands = executing->instruction->operands;
    switch (decoded->mnemonic) {
    case ZYDIS_MNEMONIC_INC:
    case ZYDIS_MNEMONIC_DEC: {
        const uint64_t step = decoded->mnemonic == ZYDIS_MNEMONIC_INC ? 1 : UINT64_MAX;
        write_operand(executing, &operands[0],
                      value_add_constant(read_operand(executing, &operands[0]), step));
        return true;
    }
    case ZYDIS_MNEMONIC_CDQE: /* eax to rax */
    case ZYDIS_MNEMONIC_NOP:
        return true;
    default:
        break;
    }
    if (!begins(name + (*name == 'v'), "mov") || decoded->operand_count_visible != 2)
        return false;
    write_operand(executing, &operands[0], read_operand(executing, &operands[1]));
    return true;
}

static void execute_lea(struct executing *executing)
{
    const ZydisDecodedOperand *operands = executing->instruction->operands;
    const struct value base = register_value(executing, operands[1].mem.base);
    struct value index = register_value(executing, operands[1].mem.index), sum = base;
    if (operands[1].mem.scale > 1)
        index = value_of_set(value_all(&index));
    executing->flow->read |= value_all(&base) | value_all(&index);
    if (operands[1].mem.index != ZYDIS_REGISTER_NONE)
        sum = operands[1].mem.base == ZYDIS_REGISTER_NONE ? index
                                                          : value_combine(VALUE_ADD, &base, &index);
    sum = value_add_constant(sum, (uint64_t)operands[1].mem.disp.value);
    if (!sum.is_exact)
        sum.constant = 0;
    write_operand(executing, &operands[0], sum);
}

/* Fused multiply and add: one operand plus the product of the others. */
static bool execute_fused(struct executing *executing, const char *name)
{
    const ZydisDecodedOperand *operands = executing->instruction->operands;
    if (!begins(name, "vfmadd") && !begins(name, "vfnmadd"))
        return false;
    const char *order = strpbrk(name, "123");
    if (!order || executing->instruction->decoded.operand_count_visible != 3)
        return false;
    const unsigned addend = (unsigned)(order[2] - '1') % 3; /* 231: the first, 213: the third */
    value_set product = 0;
    struct value sum = nothing;
    for (unsigned i = 0; i < 3; i++) {
        const struct value value = read_operand(executing, &operands[i]);
        if (i == addend)
            sum = value;
        else
            product |= value_all(&value);
    }
    const struct value rest = value_of_set(product);
    write_operand(executing, &operands[0], value_combine(VALUE_ADD, &sum, &rest));
    return true;
}

/* cmov: one of two values, by the flags. */
static void execute_conditional(struct executing *executing)
{
    const ZydisDecodedOperand *operands = executing->instruction->operands;
    const struct value kept = read_operand(executing, &operands[0]);
    const struct value moved = read_operand(executing, &operands[1]);
    struct value value = value_join(&kept, &moved);
    if (value.operation == VALUE_SELECT)
        value.others |= executing->state->flags & ~value.bases;
    else
        value = value_of_set(value_all(&kept) | value_all(&moved) | executing->state->flags);
    write_operand(executing, &operands[0], value);
}

/* What was set since the iteration began may be an argument; the results depend on all of it. */
static void execute_call(struct executing *executing)
{
    static const uint8_t arguments[] = {7, 6, 2, 1, 8, 9}; /* rdi, rsi, rdx, rcx, r8, r9 */
    static const uint8_t clobbered[] = {0, 1, 2, 6, 7, 8, 9, 10, 11};
    struct value_state *state = executing->state;
    value_set passed = 0;
    for (unsigned i = 0; i < sizeof arguments + 8; i++) {
        const unsigned variable = i < sizeof arguments ? arguments[i] : 16 + i - sizeof arguments;
        const struct value own = value_of_variable(variable);
        if (!value_is_equal(&state->values[variable], &own))
            passed |= value_all(&state->values[variable]);
    }
    executing->flow->used |= passed;
    executing->flow->read |= passed;
    for (unsigned i = 0; i < sizeof clobbered; i++)
        state->values[clobbered[i]] = value_of_set(passed);
    for (unsigned i = 16; i < VALUE_REGISTERS; i++)
        state->values[i] = value_of_set(passed);
    value_flow_begin_block(executing->flow); /* it may write to memory */
}

static bool is_comparison(ZydisMnemonic mnemonic, const char *name)
{
    return mnemonic == ZYDIS_MNEMONIC_CMP || mnemonic == ZYDIS_MNEMONIC_TEST ||
           strstr(name, "comis") != NULL || strstr(name, "ptest") != NULL;
}

/* All that is written depends on all that is read. */
static void execute_other(struct executing *executing, const char *name)
{
    const ZydisDecodedInstruction *decoded = &executing->instruction->decoded;
    const ZydisDecodedOperand *operands = executing->instruction->operands;
    value_set all = 0;
    bool is_flagged = false;
    for (unsigned i = 0; i < decoded->operand_count; i++) {
        if (operands[i].type == ZYDIS_OPERAND_TYPE_REGISTER &&
            operands[i].reg.value == ZYDIS_REGISTER_RFLAGS)
            is_flagged = is_flagged || is_read(&operands[i]);
        else if (is_read(&operands[i])) {
            const struct value value = read_operand(executing, &operands[i]);
            all |= value_all(&value);
        }
    }
    all |= is_flagged ? executing->state->flags : 0;
    if (is_comparison(decoded->mnemonic, name))
        executing->flow->compared |= all;
    if (decoded->meta.category != ZYDIS_CATEGORY_COND_BR)
        executing->state->flags = all;
    for (unsigned i = 0; i < decoded->operand_count; i++)
        if (is_written(&operands[i]))
            write_operand(executing, &operands[i], value_of_set(all));
}

void value_flow_execute(struct value_flow *flow, struct value_state *state,
                        const struct value_instruction *instruction)
{
    struct executing executing = {.flow = flow, .state = state, .instruction = instruction};
    const char *name = ZydisMnemonicGetString(instruction->decoded.mnemonic);
    switch (instruction->decoded.meta.category) {
    case ZYDIS_CATEGORY_CALL:
        execute_call(&executing);
        return;
    case ZYDIS_CATEGORY_CMOV:
        execute_conditional(&executing);
        return;
    case ZYDIS_CATEGORY_WIDENOP:
    case ZYDIS_CATEGORY_RET:
    case ZYDIS_CATEGORY_UNCOND_BR:
        return;
    default:
        break;
    }
    if (instruction->decoded.mnemonic == ZYDIS_MNEMONIC_LEA)
        execute_lea(&executing);
    else if (!execute_simple(&executing, name) && !execute_operation(&executing, name) &&
             !execute_fused(&executing, name))
        execute_other(&executing, name);
}
