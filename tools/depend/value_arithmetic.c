#include "tools/depend/value_arithmetic.h"

#include "formats/base/hash_index.h"

#include <string.h>

static const struct value nothing; /* depends on nothing */

bool text_begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
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

/* --- copies ------------------------------------------------------------------------------------
 */

/* The instructions that copy their second operand, extended or cut, to the first. */
static bool is_copy(const struct executing *executing)
{
    static const char *const names[] = {
        "mov",    "movzx",    "movsx",    "movsxd",  "movss",    "movsd",    "movd",
        "movq",   "movaps",   "movapd",   "movups",  "movupd",   "movdqa",   "movdqu",
        "movlps", "movlpd",   "movnti",   "movntps", "movntpd",  "movntdq",  "movntdqa",
        "lddqu",  "movdqa32", "movdqa64", "movdqu8", "movdqu16", "movdqu32", "movdqu64"};
    if (executing->instruction->decoded.operand_count_visible != 2)
        return false;
    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(executing->name, names[i]) == 0)
            return true;
    return false;
}

/* Reads an operand for another, perhaps of more bits: copies of its sign, or zeros. */
static struct value read_extended(struct executing *executing, const ZydisDecodedOperand *to,
                                  const ZydisDecodedOperand *from)
{
    const struct value value = operand_read(executing, from);
    const bool has_sign =
        text_begins(executing->name, "movsx") || text_begins(executing->name, "c");
    return has_sign && from->size < to->size ? value_extend(value, from->size, to->size) : value;
}

static void execute_copy(struct executing *executing)
{
    const ZydisDecodedOperand *to = &executing->instruction->operands[0], *from = to + 1;
    const bool is_whole = to->type == ZYDIS_OPERAND_TYPE_REGISTER &&
                          from->type == ZYDIS_OPERAND_TYPE_REGISTER && to->size == from->size &&
                          to->size >= (to->reg.value >= ZYDIS_REGISTER_XMM0 ? 128 : 32);
    const unsigned source = is_whole ? value_variable(from->reg.value) : VALUE_VARIABLE_NONE;
    const unsigned target = is_whole ? value_variable(to->reg.value) : VALUE_VARIABLE_NONE;
    if (source < VALUE_MASKS && target < VALUE_MASKS)
        operand_copy(executing, target, source, to->size == 32 ? 32 : VALUE_WHOLE);
    else
        operand_write(executing, to, read_extended(executing, to, from));
    const unsigned written = value_flow_variable(executing->flow, to);
    if (written < VALUE_MASKS && written >= VALUE_VECTORS && from->size < to->size)
        executing->state->parts[written].width = from->size;
}

/* --- operations --------------------------------------------------------------------------------
 */

/* The operation of an instruction with two sources; *subtracts: the second one is subtracted. */
static enum value_operation operation_of(const char *name, bool *subtracts)
{
    static const struct {
        const char *prefix;
        uint8_t operation;
        bool subtracts;
    } operations[] = {{"padds", VALUE_NONE, false}, /* saturate, and so on */
                      {"paddus", VALUE_NONE, false},   {"psubs", VALUE_NONE, false},
                      {"psubus", VALUE_NONE, false},   {"addsub", VALUE_NONE, false},
                      {"pandn", VALUE_NONE, false},    {"padd", VALUE_ADD, false},
                      {"add", VALUE_ADD, false},       {"psub", VALUE_ADD, true},
                      {"sub", VALUE_ADD, true},        {"pmull", VALUE_MULTIPLY, false},
                      {"mulp", VALUE_MULTIPLY, false}, {"muls", VALUE_MULTIPLY, false},
                      {"imul", VALUE_MULTIPLY, false}, {"andn", VALUE_NONE, false},
                      {"pand", VALUE_AND, false},      {"and", VALUE_AND, false},
                      {"por", VALUE_OR, false},        {"or", VALUE_OR, false},
                      {"pxor", VALUE_XOR, false},      {"xor", VALUE_XOR, false},
                      {"pmin", VALUE_MINIMUM, false},  {"min", VALUE_MINIMUM, false},
                      {"pmax", VALUE_MAXIMUM, false},  {"max", VALUE_MAXIMUM, false}};
    *subtracts = false;
    for (unsigned i = 0; i < sizeof operations / sizeof operations[0]; i++)
        if (text_begins(name, operations[i].prefix)) {
            *subtracts = operations[i].subtracts;
            return (enum value_operation)operations[i].operation;
        }
    return VALUE_NONE;
}

/* The bits of the elements that a vector instruction names at its end. */
static unsigned lanes_of(const char *name)
{
    switch (name[strlen(name) - 1]) {
    case 'b':
        return 8;
    case 'w':
        return 16;
    case 'd':
        return 32;
    default:
        return 64;
    }
}

/* What the instruction does its operation with. */
static struct value_kind kind_of(const struct executing *executing, enum value_operation operation,
                                 const ZydisDecodedOperand *operand)
{
    const char *name = executing->name;
    const size_t length = strlen(name);
    struct value_kind kind = {.operation = (uint8_t)operation, .bits = operand->size};
    if (operand->type != ZYDIS_OPERAND_TYPE_REGISTER ||
        value_variable(operand->reg.value) < VALUE_VECTORS)
        return kind;
    if (operation == VALUE_AND || operation == VALUE_OR || operation == VALUE_XOR) {
        kind.domain = VALUE_BITWISE;
    } else if (name[0] == 'p') {
        const bool is_unsigned = length > 2 && name[length - 2] == 'u';
        kind.domain =
            (uint16_t)((is_unsigned ? VALUE_UNSIGNED_LANES : VALUE_LANES) | lanes_of(name));
    } else {
        kind.domain = (uint16_t)(VALUE_FLOAT | (name[length - 1] == 's' ? 32 : 64));
        if (name[length - 2] == 's') /* scalar */
            kind.bits = name[length - 1] == 's' ? 32 : 64;
    }
    return kind;
}

static struct value compute(struct executing *executing, enum value_operation operation,
                            bool subtracts, const ZydisDecodedOperand *left,
                            const ZydisDecodedOperand *right)
{
    if (is_same_register(left, right)) {
        if (operation == VALUE_XOR || subtracts)
            return nothing;
        if (operation != VALUE_ADD && operation != VALUE_MULTIPLY)
            return operand_read(executing, left);
    }
    const struct value a = operand_read(executing, left), b = operand_read(executing, right);
    const struct value_kind kind =
        kind_of(executing, operation, &executing->instruction->operands[0]);
    if (is_constant(right) && operation == VALUE_ADD)
        return value_add_constant(a, subtracts ? -right->imm.value.u : right->imm.value.u,
                                  kind.bits);
    return subtracts ? value_subtract(kind, &a, &b) : value_combine(kind, &a, &b);
}

/* An operation: the first operand, or the one before the last, with the last. */
static bool execute_operation(struct executing *executing)
{
    const ZydisDecodedOperand *operands = executing->instruction->operands;
    const unsigned count = executing->instruction->decoded.operand_count_visible;
    bool subtracts;
    const enum value_operation operation = operation_of(executing->name, &subtracts);
    if (operation == VALUE_NONE || count < 2 || count > 3)
        return false;
    const ZydisDecodedOperand *left = &operands[count - 2], *right = &operands[count - 1];
    if (operand_is_high_byte(left) || operand_is_high_byte(right))
        return false;
    const struct value value = compute(executing, operation, subtracts, left, right);
    operand_set_flags(executing, value_all(&value));
    operand_write(executing, &operands[0], value);
    return true;
}

static void execute_step(struct executing *executing, uint64_t step)
{
    const ZydisDecodedOperand *operand = &executing->instruction->operands[0];
    const struct value value =
        value_add_constant(operand_read(executing, operand), step, operand->size);
    operand_set_flags(executing, value_all(&value));
    operand_write(executing, operand, value);
}

/* Instructions that do not depend on the operands: sbb of a register with itself spreads the carry,
 * and all elements are equal to themselves. */
static bool execute_idiom(struct executing *executing)
{
    const ZydisDecodedOperand *operands = executing->instruction->operands;
    const unsigned count = executing->instruction->decoded.operand_count_visible;
    const bool is_borrow = executing->instruction->decoded.mnemonic == ZYDIS_MNEMONIC_SBB;
    if ((!is_borrow && !text_begins(executing->name, "pcmpeq")) || count < 2 ||
        !is_same_register(&operands[count - 2], &operands[count - 1]))
        return false;
    const value_set set = is_borrow ? operand_flags(executing) : 0;
    operand_set_flags(executing, set);
    operand_write(executing, &operands[0], value_of_set(set));
    return true;
}

/* Fused multiply and add: one operand plus the product of the others. */
static bool execute_fused(struct executing *executing)
{
    const ZydisDecodedOperand *operands = executing->instruction->operands;
    if (!text_begins(executing->name, "fmadd") && !text_begins(executing->name, "fnmadd"))
        return false;
    const char *order = strpbrk(executing->name, "123");
    if (!order || executing->instruction->decoded.operand_count_visible != 3 ||
        text_begins(executing->name, "fmaddsub"))
        return false;
    const unsigned addend = (unsigned)(order[2] - '1') % 3; /* 231: the first, 213: the third */
    value_set product = 0;
    struct value sum = nothing;
    for (unsigned i = 0; i < 3; i++) {
        const struct value value = operand_read(executing, &operands[i]);
        if (i == addend)
            sum = value;
        else
            product |= value_all(&value);
    }
    const struct value rest = value_of_set(product);
    const struct value_kind kind = kind_of(executing, VALUE_ADD, &operands[0]);
    operand_write(executing, &operands[0], value_combine(kind, &sum, &rest));
    return true;
}

/* --- addresses ---------------------------------------------------------------------------------
 */

/* The identity of the address in an operand: equal addresses are computed more than once. */
static uint64_t identify_address(const struct value_operand *operand, bool has_base, bool has_index)
{
    const uint64_t base = has_base ? value_identify(&operand->base) : 1;
    const uint64_t index = has_index ? value_identify(&operand->index) : 1;
    if (base == 0 || index == 0)
        return 0;
    return hash_pair(hash_pair(base, index * operand->scale), (uint64_t)operand->displacement) |
           UINT64_C(1) << 36;
}

static void execute_lea(struct executing *executing)
{
    const ZydisDecodedOperand *operands = executing->instruction->operands;
    const struct value_operand operand = operand_describe(executing, &operands[1]);
    const bool has_base =
        operands[1].mem.base != ZYDIS_REGISTER_NONE && operands[1].mem.base != ZYDIS_REGISTER_RIP;
    const bool has_index = operands[1].mem.index != ZYDIS_REGISTER_NONE;
    const struct value_kind add = {.operation = VALUE_ADD, .bits = 64};
    struct value index = operand.index, sum = operand.base;
    if (operand.scale > 1)
        index = value_of_set(value_all(&index));
    if (has_index)
        sum = has_base ? value_combine(add, &sum, &index) : index;
    sum = value_add_constant(sum, (uint64_t)operand.displacement, 64);
    if (!sum.is_exact)
        sum.constant = identify_address(&operand, has_base, has_index);
    operand_write(executing, &operands[0], sum);
}

bool value_arithmetic_execute(struct executing *executing)
{
    switch (executing->instruction->decoded.mnemonic) {
    case ZYDIS_MNEMONIC_INC:
        execute_step(executing, 1);
        return true;
    case ZYDIS_MNEMONIC_DEC:
        execute_step(executing, UINT64_MAX);
        return true;
    case ZYDIS_MNEMONIC_CBW:
    case ZYDIS_MNEMONIC_CWDE:
    case ZYDIS_MNEMONIC_CDQE: {
        const ZydisDecodedOperand *operands = executing->instruction->operands;
        operand_write(executing, &operands[0],
                      read_extended(executing, &operands[0], &operands[1]));
        return true;
    }
    case ZYDIS_MNEMONIC_LEA:
        execute_lea(executing);
        return true;
    default:
        break;
    }
    if (is_copy(executing)) {
        execute_copy(executing);
        return true;
    }
    return execute_idiom(executing) || execute_operation(executing) || execute_fused(executing);
}
