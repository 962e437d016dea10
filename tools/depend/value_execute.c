/* What each instruction does to values (value_flow.h). */
#include "tools/depend/value_flow_internal.h"

#include "formats/base/hash_index.h"

#include <string.h>

static const struct value nothing; /* depends on nothing */

static bool is_read(const ZydisDecodedOperand *operand)
{
    return (operand->actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0;
}

static bool is_written(const ZydisDecodedOperand *operand)
{
    return (operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0;
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
    } operations[] = {{"padds", VALUE_NONE, false},    {"paddus", VALUE_NONE, false},
                      {"psubs", VALUE_NONE, true},     {"psubus", VALUE_NONE, true},
                      {"addsub", VALUE_NONE, false},   {"padd", VALUE_ADD, false},
                      {"add", VALUE_ADD, false},       {"adc", VALUE_ADD, false},
                      {"psub", VALUE_ADD, true},       {"sub", VALUE_ADD, true},
                      {"sbb", VALUE_ADD, true},        {"pmull", VALUE_MULTIPLY, false},
                      {"mulp", VALUE_MULTIPLY, false}, {"muls", VALUE_MULTIPLY, false},
                      {"imul", VALUE_MULTIPLY, false}, {"pandn", VALUE_NONE, false},
                      {"andn", VALUE_NONE, false},     {"pand", VALUE_AND, false},
                      {"and", VALUE_AND, false},       {"por", VALUE_OR, false},
                      {"or", VALUE_OR, false},         {"pxor", VALUE_XOR, false},
                      {"xor", VALUE_XOR, false},       {"pmin", VALUE_MINIMUM, false},
                      {"min", VALUE_MINIMUM, false},   {"pmax", VALUE_MAXIMUM, false},
                      {"max", VALUE_MAXIMUM, false}};
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

/* An instruction that is no comparison sets the flags. */
static void set_flags(struct executing *executing, value_set set)
{
    executing->state->flags = set;
    executing->state->flags_are_used = true;
    executing->state->compared[0] = executing->state->compared[1] = VALUE_VARIABLE_NONE;
}

/* An instruction depends on the flags. */
static value_set use_flags(struct executing *executing)
{
    if (executing->state->flags_are_used)
        executing->flow->used |= executing->state->flags;
    return executing->state->flags;
}

/* The result of an operation on two values. */
static struct value operate(struct executing *executing, enum value_operation operation,
                            bool subtracts, const ZydisDecodedOperand *left,
                            const ZydisDecodedOperand *right)
{
    const ZydisMnemonic mnemonic = executing->instruction->decoded.mnemonic;
    const bool carries = mnemonic == ZYDIS_MNEMONIC_ADC || mnemonic == ZYDIS_MNEMONIC_SBB;
    const value_set carry = carries ? use_flags(executing) : 0;
    if ((operation == VALUE_XOR || subtracts) && is_same_register(left, right))
        return value_of_set(carry);
    const struct value a = value_read(executing, left);
    struct value b = is_constant(right) ? nothing : value_read(executing, right);
    if (carries)
        b = value_of_set(value_all(&b) | carry);
    else if (is_constant(right) && operation == VALUE_ADD)
        return value_add_constant(a, subtracts ? -right->imm.value.u : right->imm.value.u);
    return subtracts ? value_subtract(&a, &b) : value_combine(operation, &a, &b);
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
    struct value value =
        operate(executing, operation, subtracts, &operands[count - 2], &operands[count - 1]);
    if (!value.is_exact)
        value.constant = 0;
    set_flags(executing, value_all(&value));
    value_write(executing, &operands[0], value);
    return true;
}

/* A move of a whole value: not of signs, of strings, or into a part of a vector. */
static bool is_copy(const struct value_instruction *instruction, const char *name)
{
    name += *name == 'v';
    if (!begins(name, "mov") || begins(name, "movmsk") || begins(name, "movh") ||
        begins(name, "movl") || instruction->decoded.meta.category == ZYDIS_CATEGORY_STRINGOP)
        return false;
    return !(begins(name, "movs") && instruction->operands[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
             instruction->operands[1].type == ZYDIS_OPERAND_TYPE_REGISTER &&
             ZydisRegisterGetClass(instruction->operands[0].reg.value) == ZYDIS_REGCLASS_XMM);
}

/* inc, dec, and instructions that copy. */
static bool execute_simple(struct executing *executing, const char *name)
{
    const ZydisDecodedInstruction *decoded = &executing->instruction->decoded;
    const ZydisDecodedOperand *operands = executing->instruction->operands;
    switch (decoded->mnemonic) {
    case ZYDIS_MNEMONIC_INC:
    case ZYDIS_MNEMONIC_DEC: {
        const uint64_t step = decoded->mnemonic == ZYDIS_MNEMONIC_INC ? 1 : UINT64_MAX;
        struct value value = value_add_constant(value_read(executing, &operands[0]), step);
        value.constant = value.is_exact ? value.constant : 0;
        set_flags(executing, value_all(&value));
        value_write(executing, &operands[0], value);
        return true;
    }
    case ZYDIS_MNEMONIC_CDQE: /* eax to rax */
    case ZYDIS_MNEMONIC_NOP:
        return true;
    default:
        break;
    }
    if (decoded->operand_count_visible != 2 || !is_copy(executing->instruction, name))
        return false;
    value_write(executing, &operands[0], value_read(executing, &operands[1]));
    return true;
}

/* A number for a value within a block; 0: it is not known to equal any other. */
static uint64_t identify(const struct value *value)
{
    return value->is_exact ? hash_pair((uint64_t)value->bases ^ (uint64_t)(value->bases >> 64) * 3,
                                       value->constant) |
                                 UINT64_C(1) << 32
                           : value->constant;
}

/* The identity of the address in an operand: equal addresses are computed more than once. */
static uint64_t identify_address(const struct value_operand *operand, bool has_base, bool has_index)
{
    const uint64_t base = has_base ? identify(&operand->base) : 1;
    const uint64_t index = has_index ? identify(&operand->index) : 1;
    if (base == 0 || index == 0)
        return 0;
    return hash_pair(hash_pair(base, index * operand->scale), (uint64_t)operand->displacement) |
           UINT64_C(1) << 33;
}

static void execute_lea(struct executing *executing)
{
    const ZydisDecodedOperand *operands = executing->instruction->operands;
    const struct value_operand operand = value_describe(executing, &operands[1]);
    const bool has_base =
        operands[1].mem.base != ZYDIS_REGISTER_NONE && operands[1].mem.base != ZYDIS_REGISTER_RIP;
    const bool has_index = operands[1].mem.index != ZYDIS_REGISTER_NONE;
    struct value index = operand.index, sum = operand.base;
    if (operand.scale > 1)
        index = value_of_set(value_all(&index));
    executing->flow->read |= value_all(&sum) | value_all(&index);
    if (has_index)
        sum = has_base ? value_combine(VALUE_ADD, &sum, &index) : index;
    sum = value_add_constant(sum, (uint64_t)operand.displacement);
    if (!sum.is_exact)
        sum.constant = identify_address(&operand, has_base, has_index);
    value_write(executing, &operands[0], sum);
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
        const struct value value = value_read(executing, &operands[i]);
        if (i == addend)
            sum = value;
        else
            product |= value_all(&value);
    }
    const struct value rest = value_of_set(product);
    value_write(executing, &operands[0], value_combine(VALUE_ADD, &sum, &rest));
    return true;
}

/* cmov: one of two values, by the flags. */
static void execute_conditional(struct executing *executing)
{
    const ZydisDecodedOperand *operands = executing->instruction->operands;
    const struct value kept = value_read(executing, &operands[0]);
    const struct value moved = value_read(executing, &operands[1]);
    const value_set flags = use_flags(executing);
    struct value value = value_flow_join(executing->flow, &kept, &moved);
    if (value.operation == VALUE_NONE)
        value = value_of_set(value_all(&kept) | value_all(&moved) | flags);
    else
        value.others |= flags & ~value.bases;
    value_write(executing, &operands[0], value);
}

/* The results depend on all arguments. */
static void execute_call(struct executing *executing)
{
    struct value_flow *flow = executing->flow;
    struct value_state *state = executing->state;
    value_set arguments, clobbered;
    flow->callee(flow->context, executing->instruction, &arguments, &clobbered);
    value_set passed = 0, found = 0; /* found: as the iteration found them */
    for (unsigned i = 0; i < VALUE_REGISTERS; i++) {
        const struct value *value = &state->values[i], own = value_of_variable(i);
        if (!(arguments & value_set_of(i)))
            continue;
        if (value_is_equal(value, &own))
            found |= value_set_of(i);
        else if (!value_is_clobbered(value))
            passed |= value_all(value);
    }
    flow->passed |= found;
    flow->used |= passed;
    flow->read |= passed;
    for (unsigned i = 0; i < VALUE_REGISTERS; i++) {
        if (!(clobbered & value_set_of(i)))
            continue;
        const bool is_result = i == 0 || i == VALUE_GENERAL; /* rax, xmm0 */
        state->values[i] = is_result ? value_of_set(passed) : value_clobbered();
        if (i < VALUE_GENERAL)
            state->part[i] = 0;
    }
    flow->has_stores = true;
    value_flow_begin_block(flow); /* it may write to memory */
}

/* Notes what is compared with what. */
static void compare(struct executing *executing)
{
    struct value_flow *flow = executing->flow;
    const ZydisDecodedOperand *operands = executing->instruction->operands;
    if (executing->instruction->decoded.operand_count_visible != 2)
        return;
    const struct value_comparison pair = {
        .left = value_read(executing, &operands[0]),
        .right = is_constant(&operands[1]) ? nothing : value_read(executing, &operands[1])};
    for (unsigned i = 0; i < flow->comparison_count; i++)
        if (value_is_equal(&flow->comparisons[i].left, &pair.left) &&
            value_is_equal(&flow->comparisons[i].right, &pair.right))
            return;
    if (flow->comparison_count < VALUE_COMPARISONS)
        flow->comparisons[flow->comparison_count++] = pair;
    else
        flow->used |= value_all(&pair.left) | value_all(&pair.right);
}

static bool is_comparison(ZydisMnemonic mnemonic, const char *name)
{
    return mnemonic == ZYDIS_MNEMONIC_CMP || mnemonic == ZYDIS_MNEMONIC_TEST ||
           strstr(name, "comis") != NULL || strstr(name, "ptest") != NULL;
}

/* Notes the registers of a comparison of whole registers. */
static void note_compared(struct executing *executing)
{
    const ZydisDecodedOperand *operands = executing->instruction->operands;
    const bool is_plain = executing->instruction->decoded.mnemonic == ZYDIS_MNEMONIC_CMP &&
                          operands[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
                          operands[1].type == ZYDIS_OPERAND_TYPE_REGISTER && operands[0].size == 64;
    for (unsigned i = 0; i < 2; i++)
        executing->state->compared[i] =
            is_plain ? (uint8_t)value_variable_of(operands[i].reg.value) : VALUE_VARIABLE_NONE;
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
            const struct value value = value_read(executing, &operands[i]);
            all |= value_all(&value);
        }
    }
    all |= is_flagged ? use_flags(executing) : 0;
    if (is_comparison(decoded->mnemonic, name)) {
        executing->flow->compared |= all;
        executing->state->flags = all;
        executing->state->flags_are_used = false;
        note_compared(executing);
        compare(executing);
    } else if (decoded->meta.category != ZYDIS_CATEGORY_COND_BR) {
        set_flags(executing, all);
    }
    for (unsigned i = 0; i < decoded->operand_count; i++)
        if (is_written(&operands[i]))
            value_write(executing, &operands[i], value_of_set(all));
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
