#include "tools/wet/values/value_rule.h"

#include "tools/wet/values/value_operations.h"
#include "tools/wet/values/value_vector.h"

#include <Zydis/Zydis.h>

/* A decoded instruction, of which a rule is being made. */
struct making {
    struct value_rule *rule;
    const struct decode_instruction *decoded;
    const struct data_flow *flow;
    ZydisDecodedInstruction instruction;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
};

/* --- operands ----------------------------------------------------------------------------------
 */

static void set_address(struct making *making, unsigned number)
{
    static const uint8_t shifts[] = {0, 0, 1, 0, 2, 0, 0, 0, 3};
    struct value_rule *rule = making->rule;
    const struct decode_access *access = &making->decoded->accesses[number];
    if (number >= making->decoded->access_count || access->form != DECODE_PLAIN)
        return;
    rule->base = access->base < DECODE_REGISTERS ? access->base : VALUE_NO_INPUT;
    rule->index = access->index < DECODE_REGISTERS ? access->index : VALUE_NO_INPUT;
    rule->scale = access->scale <= 8 ? shifts[access->scale] : 0;
    rule->displacement = access->displacement;
    rule->marks |=
        VALUE_HAS_MEMORY | (access->fs ? VALUE_FS : 0) | (access->narrow ? VALUE_NARROW : 0);
}

/* The number of a register, and the shift of its lowest bit. */
static uint8_t general_number(ZydisRegister reg, uint8_t *shift)
{
    *shift = reg >= ZYDIS_REGISTER_AH && reg <= ZYDIS_REGISTER_BH ? 8 : 0;
    const ZyanI8 id =
        ZydisRegisterGetId(ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg));
    return id >= 0 && id < DECODE_REGISTERS ? (uint8_t)id : VALUE_NO_INPUT;
}

static bool is_general(const ZydisDecodedOperand *operand)
{
    const ZydisRegisterClass class = ZydisRegisterGetClass(operand->reg.value);
    return operand->type == ZYDIS_OPERAND_TYPE_REGISTER && class >= ZYDIS_REGCLASS_GPR8 &&
           class <= ZYDIS_REGCLASS_GPR64;
}

static bool is_vector(const ZydisDecodedOperand *operand)
{
    const ZydisRegisterClass class = ZydisRegisterGetClass(operand->reg.value);
    return operand->type == ZYDIS_OPERAND_TYPE_REGISTER && class >= ZYDIS_REGCLASS_XMM &&
           class <= ZYDIS_REGCLASS_ZMM;
}

static void set_first(struct making *making, const ZydisDecodedOperand *operand)
{
    if (is_general(operand))
        making->rule->first = general_number(operand->reg.value, &making->rule->first_shift);
    else if (is_vector(operand))
        making->rule->first = (uint8_t)ZydisRegisterGetId(operand->reg.value);
    else if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY)
        making->rule->marks |= VALUE_FIRST_MEMORY;
}

static void set_second(struct making *making, const ZydisDecodedOperand *operand)
{
    struct value_rule *rule = making->rule;
    rule->second_width = (uint8_t)(operand->size / 8u);
    if (is_general(operand)) {
        rule->second = general_number(operand->reg.value, &rule->second_shift);
    } else if (is_vector(operand)) {
        rule->second = (uint8_t)ZydisRegisterGetId(operand->reg.value);
    } else if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY) {
        rule->marks |= VALUE_SECOND_MEMORY;
    } else if (operand->type == ZYDIS_OPERAND_TYPE_IMMEDIATE) {
        rule->immediate = operand->imm.value.u;
        rule->second_width = 8;
    }
}

/* --- values ------------------------------------------------------------------------------------
 */

static void set_place(struct making *making)
{
    struct value_rule *rule = making->rule;
    const struct data_flow_part *value = &making->flow->value;
    if (!making->flow->has_value)
        return;
    rule->size = making->flow->value_size;
    rule->destination = value->number;
    switch (value->kind) {
    case DATA_FLOW_GENERAL:
        rule->place = rule->size >= 4 ? VALUE_TO_GENERAL : VALUE_TO_PART;
        rule->offset = value->bytes == 2;
        break;
    case DATA_FLOW_VECTOR:
        rule->place = VALUE_TO_VECTOR;
        rule->offset = value->bytes ? (uint8_t)__builtin_ctzll(value->bytes) : 0;
        if (rule->offset + rule->size > VALUE_BYTES)
            rule->place = VALUE_TO_NOTHING;
        if (making->instruction.encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY)
            rule->marks |= VALUE_CLEARS_UPPER;
        break;
    case DATA_FLOW_MASK:
        rule->place = rule->size <= 8 ? VALUE_TO_MASK : VALUE_TO_NOTHING;
        break;
    case DATA_FLOW_MEMORY:
        set_address(making, value->number);
        rule->place = rule->marks & VALUE_HAS_MEMORY ? VALUE_TO_MEMORY : VALUE_TO_NOTHING;
        break;
    default:
        rule->place = VALUE_TO_NOTHING;
        break;
    }
}

/* --- operations --------------------------------------------------------------------------------
 */

static bool is_masked(const struct making *making)
{
    for (unsigned i = 0; i < making->instruction.operand_count_visible; i++)
        if (making->operands[i].encoding == ZYDIS_OPERAND_ENCODING_MASK &&
            making->operands[i].reg.value != ZYDIS_REGISTER_K0)
            return true;
    return making->instruction.avx.broadcast.mode != ZYDIS_BROADCAST_MODE_INVALID &&
           making->instruction.encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX;
}

/* Whether the count is an immediate, and the other operand the one to shift. */
static bool is_shift(unsigned operation)
{
    return (operation >= VALUE_LANES_SHIFT_LEFT && operation < VALUE_LANES_MIN) ||
           operation == VALUE_LANES_BYTES_LEFT || operation == VALUE_LANES_BYTES_RIGHT;
}

/* Whether it uses registers that the machine does not have. */
static bool is_foreign(const struct making *making)
{
    for (unsigned i = 0; i < making->instruction.operand_count_visible; i++) {
        const ZydisRegisterClass class = ZydisRegisterGetClass(making->operands[i].reg.value);
        if (making->operands[i].type == ZYDIS_OPERAND_TYPE_REGISTER &&
            (class == ZYDIS_REGCLASS_MMX || class == ZYDIS_REGCLASS_X87))
            return true;
    }
    return false;
}

/* Operands of vector instructions: the last two that are no immediates and no masks. */
static void set_vector(struct making *making)
{
    struct value_rule *rule = making->rule;
    const ZydisDecodedOperand *found[5] = {NULL};
    unsigned count = 0;
    for (unsigned i = 0; i < making->instruction.operand_count_visible && count < 5; i++) {
        const ZydisDecodedOperand *operand = &making->operands[i];
        if (operand->type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
            rule->condition = (uint8_t)operand->imm.value.u;
        else if (operand->encoding != ZYDIS_OPERAND_ENCODING_MASK)
            found[count++] = operand;
    }
    if (count == 0)
        return;
    rule->width = (uint8_t)(found[0]->size / 8u);
    set_first(making, found[count > 2 ? 1 : is_shift(rule->operation) ? count - 1 : 0]);
    if (is_shift(rule->operation) && making->instruction.raw.imm[0].size == 0)
        rule->operation = VALUE_UNKNOWN;
    set_second(making, found[count - 1]);
    if (rule->first == VALUE_NO_INPUT)
        rule->first = 0;
    if (is_general(found[count - 1]) && rule->operation == VALUE_LANES_MOVE)
        rule->operation = VALUE_LANES_FROM_GENERAL;
    if (is_general(found[count - 1]) && rule->operation == VALUE_LANES_REPEAT)
        rule->operation = VALUE_LANES_REPEAT_GENERAL;
    if (rule->operation == VALUE_LANES_REPEAT || rule->operation == VALUE_LANES_REPEAT_GENERAL)
        rule->second_width = value_operation_element(making->instruction.mnemonic);
}

/* vmovlps and vmovlpd from memory take the upper half from another register. */
static bool is_merged_load(const struct making *making)
{
    return making->instruction.mnemonic == ZYDIS_MNEMONIC_VMOVLPS ||
           making->instruction.mnemonic == ZYDIS_MNEMONIC_VMOVLPD;
}

static void fix_vector(struct making *making)
{
    struct value_rule *rule = making->rule;
    const bool is_loaded = rule->marks & VALUE_SECOND_MEMORY;
    switch (rule->operation) {
    case VALUE_LANES_MERGE: /* from and to memory nothing is merged */
        if (rule->place == VALUE_TO_MEMORY || (is_loaded && !is_merged_load(making)))
            rule->operation = VALUE_LANES_MOVE;
        else
            rule->second_width = making->instruction.mnemonic == ZYDIS_MNEMONIC_MOVSS ||
                                         making->instruction.mnemonic == ZYDIS_MNEMONIC_VMOVSS
                                     ? 4
                                     : 8;
        break;
    case VALUE_LANES_SIGNS:
        rule->width = rule->second_width;
        break;
    case VALUE_LANES_TO_UPPER:
        if (rule->place == VALUE_TO_MEMORY)
            rule->operation = VALUE_LANES_FROM_UPPER;
        else if (is_loaded && rule->size == 8)
            rule->marks |= VALUE_LOADS_WHOLE;
        break;
    case VALUE_LANES_FLOAT_ADD:
    case VALUE_LANES_FLOAT_SUB:
    case VALUE_LANES_FLOAT_MUL:
    case VALUE_LANES_FLOAT_DIV:
    case VALUE_LANES_TO_INTEGER:
    case VALUE_LANES_COMPARE:
        rule->second_width = value_operation_is_float(making->instruction.mnemonic) ? 4 : 8;
        break;
    case VALUE_LANES_FROM_INTEGER:
        rule->condition = value_operation_is_float(making->instruction.mnemonic) ? 4 : 8;
        break;
    default:
        break;
    }
    if (is_loaded && rule->operation == VALUE_LANES_MOVE)
        rule->marks |= VALUE_LOADS_WHOLE;
}

/* Operands of general instructions. */
static void set_general(struct making *making)
{
    struct value_rule *rule = making->rule;
    const unsigned count = making->instruction.operand_count_visible;
    const ZydisDecodedOperand *operands = making->operands;
    if (count == 1) {
        set_first(making, &operands[0]);
        set_second(making, &operands[0]);
        if (operands[0].type == ZYDIS_OPERAND_TYPE_MEMORY)
            rule->marks |= VALUE_FIRST_MEMORY;
    } else if (count == 2) {
        set_first(making, &operands[0]);
        set_second(making, &operands[1]);
    } else if (count >= 3) {
        const bool is_double = rule->operation == VALUE_SHLD || rule->operation == VALUE_SHRD;
        set_first(making, &operands[is_double ? 0 : 1]);
        set_second(making, &operands[is_double ? 1 : 2]);
        if (is_double)
            rule->condition = operands[2].type == ZYDIS_OPERAND_TYPE_IMMEDIATE
                                  ? (uint8_t)(operands[2].imm.value.u & 63)
                                  : VALUE_COUNT_IN_CL;
    }
    if (count > 0)
        rule->width = (uint8_t)(operands[0].size / 8u);
}

static uint64_t next_address(const struct making *making)
{
    return making->decoded->address + making->decoded->size;
}

static void fix_stack(struct making *making)
{
    struct value_rule *rule = making->rule;
    switch (rule->operation) {
    case VALUE_PUSH:
        rule->width = rule->size;
        rule->second_width = rule->size;
        if (rule->marks & VALUE_SECOND_MEMORY) {
            rule->marks = VALUE_SECOND_MEMORY;
            set_address(making, 0);
        } else {
            rule->marks = 0;
        }
        break;
    case VALUE_POP: /* into memory it is seldom */
        if (rule->place == VALUE_TO_MEMORY)
            rule->place = VALUE_TO_NOTHING;
        rule->second_width = rule->width;
        rule->marks = VALUE_LOADS_WHOLE;
        break;
    case VALUE_CALL:
        rule->immediate = next_address(making);
        rule->marks = 0;
        break;
    case VALUE_RETURN:
        rule->immediate = 8u + making->decoded->stack_release;
        rule->marks = 0;
        break;
    case VALUE_LEAVE:
        if (rule->size != 8)
            rule->operation = VALUE_UNKNOWN;
        break;
    default:
        break;
    }
}

static void fix_general(struct making *making)
{
    struct value_rule *rule = making->rule;
    switch (rule->operation) {
    case VALUE_MOVE:
    case VALUE_MOVE_SIGNED:
        if (rule->place == VALUE_TO_MEMORY)
            rule->operation = VALUE_STORE;
        else if (rule->marks & VALUE_SECOND_MEMORY)
            rule->marks |= VALUE_LOADS_WHOLE;
        if (rule->operation == VALUE_MOVE && rule->marks & VALUE_LOADS_WHOLE)
            rule->operation = VALUE_LOAD;
        break;
    case VALUE_IMUL:
        if (making->instruction.operand_count_visible > 1)
            break;
        rule->operation = VALUE_IMUL_WIDE;
        /* fall through */
    case VALUE_MUL_WIDE:
        rule->first = DECODE_RAX;
        rule->first_shift = 0;
        rule->marks &= (uint8_t)~VALUE_FIRST_MEMORY;
        break;
    case VALUE_SET:
        rule->condition = value_operation_condition(making->instruction.mnemonic);
        break;
    case VALUE_SYSTEM_CALL:
        rule->immediate = next_address(making);
        rule->size = 0;
        rule->place = VALUE_TO_NOTHING;
        break;
    case VALUE_BSWAP: /* undefined */
        if (rule->width == 2)
            rule->operation = VALUE_UNKNOWN;
        break;
    case VALUE_SIGN:
    case VALUE_EXTEND:
        rule->width = rule->size;
        break;
    case VALUE_EXCHANGE:
        if (rule->marks & VALUE_SECOND_MEMORY) { /* the operand in memory gets the register */
            rule->operation = VALUE_UNKNOWN;
        }
        break;
    default:
        fix_stack(making);
        break;
    }
}

static void fix_string(struct making *making)
{
    struct value_rule *rule = making->rule;
    rule->width = (uint8_t)making->decoded->accesses[0].size;
    rule->marks = making->decoded->repeated ? VALUE_REPEATED : 0;
    if (rule->operation == VALUE_SCAN) {
        rule->condition = making->decoded->access_count > 1;
        rule->place = VALUE_TO_SCANNED;
    }
    if (rule->width == 0 || rule->width > 8 || rule->size == 0)
        rule->operation = VALUE_UNKNOWN;
}

static bool is_string(const struct value_rule *rule)
{
    return rule->operation >= VALUE_STOS && rule->operation <= VALUE_SCAN;
}

/* Whether the machine can do what it was made for. */
static bool is_possible(const struct value_rule *rule)
{
    const bool needs = rule->marks & (VALUE_FIRST_MEMORY | VALUE_SECOND_MEMORY);
    if ((needs || rule->operation == VALUE_ADDRESS) && !(rule->marks & VALUE_HAS_MEMORY))
        return false;
    if (rule->operation >= VALUE_VECTOR)
        return rule->width <= VALUE_BYTES && rule->second_width <= VALUE_BYTES;
    return rule->size <= 8 &&
           (rule->width == 1 || rule->width == 2 || rule->width == 4 || rule->width == 8) &&
           rule->second_width >= 1 && rule->second_width <= 8;
}

static void set_lea(struct making *making)
{
    static const uint8_t shifts[] = {0, 0, 1, 0, 2, 0, 0, 0, 3};
    struct value_rule *rule = making->rule;
    const ZydisDecodedOperand *operand = &making->operands[1];
    uint8_t shift;
    rule->base = general_number(operand->mem.base, &shift);
    rule->index = general_number(operand->mem.index, &shift);
    rule->scale = operand->mem.scale <= 8 ? shifts[operand->mem.scale] : 0;
    rule->displacement = operand->mem.disp.value;
    if (operand->mem.base == ZYDIS_REGISTER_RIP || operand->mem.base == ZYDIS_REGISTER_EIP) {
        rule->base = VALUE_NO_INPUT;
        rule->displacement += (int64_t)(making->decoded->address + making->decoded->size);
    }
    rule->marks = VALUE_HAS_MEMORY;
    if (making->instruction.address_width == 32)
        rule->marks |= VALUE_NARROW;
}

static void describe(struct making *making)
{
    struct value_rule *rule = making->rule;
    const struct value_rule unknown = *rule;
    rule->operation = value_operation_of(
        making->instruction.mnemonic, making->instruction.meta.category == ZYDIS_CATEGORY_STRINGOP);
    for (unsigned i = 0; i < making->instruction.operand_count_visible; i++)
        if (making->operands[i].type == ZYDIS_OPERAND_TYPE_MEMORY && rule->place != VALUE_TO_MEMORY)
            set_address(making, 0);
    if (making->decoded->kind == DECODE_SYSTEM_CALL)
        rule->operation = VALUE_SYSTEM_CALL;
    if (rule->operation >= VALUE_VECTOR) {
        set_vector(making);
        fix_vector(making);
        if (is_masked(making) || is_foreign(making))
            rule->operation = VALUE_UNKNOWN;
    } else if (is_string(rule)) {
        fix_string(making);
    } else if (rule->operation == VALUE_ADDRESS) {
        set_general(making);
        set_lea(making);
    } else if (rule->operation > VALUE_UNKNOWN) {
        set_general(making);
        fix_general(making);
    }
    if (rule->operation == VALUE_UNKNOWN || !is_possible(rule)) {
        *rule = unknown;
        rule->operation = rule->size ? VALUE_UNKNOWN : VALUE_NONE;
    }
}

/* --- all ---------------------------------------------------------------------------------------
 */

void value_rule_make(struct value_rule *rule, const struct decode_instruction *instruction,
                     const struct data_flow *flow)
{
    struct making making = {.rule = rule, .decoded = instruction, .flow = flow};
    ZydisDecoder decoder;
    *rule = (struct value_rule){.width = 8,
                                .second_width = 8,
                                .first = VALUE_NO_INPUT,
                                .second = VALUE_NO_INPUT,
                                .base = VALUE_NO_INPUT,
                                .index = VALUE_NO_INPUT};
    rule->salt = (uint32_t)(instruction->address * UINT64_C(0x9e3779b97f4a7c15) >> 32);
    if (instruction->mnemonic == 0 ||
        ZYAN_FAILED(ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64)) ||
        ZYAN_FAILED(ZydisDecoderDecodeFull(&decoder, instruction->bytes, instruction->size,
                                           &making.instruction, making.operands)))
        return;
    set_place(&making);
    rule->cut = rule->size >= 1 && rule->size <= 8 ? (uint8_t)(64 - 8 * rule->size) : 0;
    describe(&making);
    rule->choice = rule->operation == VALUE_UNKNOWN ? VALUE_BY_LAST : VALUE_BY_MACHINE;
}

/* --- blocks ------------------------------------------------------------------------------------
 */

static bool reads_flags(unsigned operation)
{
    return operation == VALUE_ADC || operation == VALUE_SBB || operation == VALUE_SET;
}

/* Whether it defines all flags; those that leave some as they are do not count. */
static bool defines_flags(unsigned operation)
{
    return (operation >= VALUE_ADD && operation <= VALUE_TEST) || operation == VALUE_NEG ||
           (operation >= VALUE_IMUL && operation <= VALUE_IDIV) ||
           operation == VALUE_EXCHANGE_ADD || operation == VALUE_COMPARE_EXCHANGE ||
           operation == VALUE_LANES_COMPARE;
}

/* The same without flags. */
static void drop_flags(struct value_rule *rule)
{
    static const uint8_t plain[][2] = {
        {VALUE_ADD, VALUE_PLUS},          {VALUE_SUB, VALUE_MINUS},  {VALUE_AND, VALUE_BOTH},
        {VALUE_OR, VALUE_EITHER},         {VALUE_XOR, VALUE_DIFFER}, {VALUE_IMUL, VALUE_TIMES},
        {VALUE_SHL, VALUE_SHLX},          {VALUE_SHR, VALUE_SHRX},   {VALUE_SAR, VALUE_SARX},
        {VALUE_CMP, VALUE_NONE},          {VALUE_TEST, VALUE_NONE},  {VALUE_BT, VALUE_NONE},
        {VALUE_LANES_COMPARE, VALUE_NONE}};
    if (rule->operation == VALUE_INC || rule->operation == VALUE_DEC) {
        rule->immediate = rule->operation == VALUE_INC ? 1 : UINT64_MAX;
        rule->operation = VALUE_PLUS;
        rule->second = VALUE_NO_INPUT;
        rule->second_shift = 0;
        rule->marks &= (uint8_t)~VALUE_SECOND_MEMORY;
    } else if (rule->operation == VALUE_NEG) {
        rule->operation = VALUE_MINUS;
        rule->first = VALUE_NO_INPUT;
        rule->marks &= (uint8_t)~VALUE_FIRST_MEMORY;
    }
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        if (rule->operation == plain[i][0]) {
            rule->operation = plain[i][1];
            return;
        }
}

void value_rules_join(struct value_rule *rules, size_t count)
{
    bool needed = false;
    while (count > 0) {
        struct value_rule *rule = &rules[--count];
        const unsigned operation = rule->operation;
        if (!needed)
            drop_flags(rule);
        if (defines_flags(operation))
            needed = false;
        if (reads_flags(operation))
            needed = true;
    }
}
