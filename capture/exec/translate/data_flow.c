#include "capture/exec/translate/data_flow_internal.h"

#include <string.h>

#define READS  (ZYDIS_OPERAND_ACTION_READ | ZYDIS_OPERAND_ACTION_CONDREAD)
#define WRITES (ZYDIS_OPERAND_ACTION_WRITE | ZYDIS_OPERAND_ACTION_CONDWRITE)

#define LONG_VALUE 64u /* bytes; larger stores have no value */

/* --- parts -------------------------------------------------------------------------------------
 */

/* Keeps the parts in order. */
static void add_part(struct data_flow_part *parts, uint8_t *count,
                     const struct data_flow_part *part)
{
    unsigned at = 0;
    while (at < *count && (parts[at].kind < part->kind ||
                           (parts[at].kind == part->kind && parts[at].number < part->number)))
        at++;
    if (at < *count && parts[at].kind == part->kind && parts[at].number == part->number) {
        parts[at].bytes |= part->bytes;
        return;
    }
    if (*count == DATA_FLOW_PARTS)
        return;
    memmove(&parts[at + 1], &parts[at], (*count - at) * sizeof *parts);
    parts[at] = *part;
    (*count)++;
}

void data_flow_read(struct data_flow_making *making, enum data_flow_kind kind, unsigned number,
                    uint64_t bytes)
{
    const struct data_flow_part part = {
        .kind = (uint8_t)kind, .number = (uint8_t)number, .bytes = bytes};
    add_part(making->flow->ports, &making->flow->port_count, &part);
}

void data_flow_define(struct data_flow_making *making, enum data_flow_kind kind, unsigned number,
                      uint64_t bytes, enum data_flow_condition condition)
{
    const struct data_flow_part part = {.kind = (uint8_t)kind,
                                        .number = (uint8_t)number,
                                        .condition = (uint8_t)condition,
                                        .bytes = bytes};
    add_part(making->flow->definitions, &making->flow->definition_count, &part);
}

/* --- registers ---------------------------------------------------------------------------------
 */

/* What a register is a part of; false: no port or definition is of it. */
static bool find_register(ZydisRegister reg, enum data_flow_kind *kind, unsigned *number)
{
    switch (ZydisRegisterGetClass(reg)) {
    case ZYDIS_REGCLASS_GPR8:
    case ZYDIS_REGCLASS_GPR16:
    case ZYDIS_REGCLASS_GPR32:
    case ZYDIS_REGCLASS_GPR64:
        *kind = DATA_FLOW_GENERAL;
        reg = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);
        break;
    case ZYDIS_REGCLASS_XMM:
    case ZYDIS_REGCLASS_YMM:
    case ZYDIS_REGCLASS_ZMM:
        *kind = DATA_FLOW_VECTOR;
        break;
    case ZYDIS_REGCLASS_X87:
        *kind = DATA_FLOW_X87;
        break;
    case ZYDIS_REGCLASS_MMX:
        *kind = DATA_FLOW_MMX;
        break;
    case ZYDIS_REGCLASS_MASK:
        *kind = DATA_FLOW_MASK;
        break;
    default:
        return false;
    }
    *number = (unsigned)ZydisRegisterGetId(reg);
    return true;
}

/* The bytes of its general register that a register is. */
static uint64_t general_bytes(ZydisRegister reg)
{
    const bool is_high = reg >= ZYDIS_REGISTER_AH && reg <= ZYDIS_REGISTER_BH;
    const unsigned width = ZydisRegisterGetWidth(ZYDIS_MACHINE_MODE_LONG_64, reg) / 8u;
    return is_high ? 2 : DATA_FLOW_BYTES(width);
}

static void read_register(struct data_flow_making *making, const ZydisDecodedOperand *operand,
                          ZydisRegister reg)
{
    enum data_flow_kind kind;
    unsigned number;
    if (!find_register(reg, &kind, &number))
        return;
    switch (kind) {
    case DATA_FLOW_GENERAL:
        data_flow_read(making, kind, number, general_bytes(reg));
        break;
    case DATA_FLOW_VECTOR:
        data_flow_read(
            making, kind, number,
            operand->type == ZYDIS_OPERAND_TYPE_REGISTER
                ? data_flow_vector_bytes(making, operand, false)
                : DATA_FLOW_BYTES(ZydisRegisterGetWidth(ZYDIS_MACHINE_MODE_LONG_64, reg) / 8u));
        break;
    case DATA_FLOW_MASK:
        data_flow_read(making, kind, number, DATA_FLOW_BYTES(8));
        break;
    default:
        data_flow_read(making, kind, number, DATA_FLOW_X87_BYTES);
        break;
    }
}

/* --- conditions --------------------------------------------------------------------------------
 */

static enum data_flow_condition condition_of(const struct data_flow_making *making,
                                             enum data_flow_kind kind, unsigned number)
{
    const ZydisMnemonic mnemonic = making->instruction.mnemonic;
    if (making->decoded->repeated)
        return DATA_FLOW_IF_REPEATED;
    switch ((enum outcome_kind)making->outcome.kind) {
    case OUTCOME_CONDITION:
        return DATA_FLOW_IF_CONDITION;
    case OUTCOME_COUNT:
        return kind == DATA_FLOW_FLAGS ? DATA_FLOW_IF_COUNTED : DATA_FLOW_ALWAYS;
    case OUTCOME_ZERO_FLAG:
        if (kind != DATA_FLOW_GENERAL)
            return DATA_FLOW_ALWAYS;
        if (mnemonic == ZYDIS_MNEMONIC_BSF || mnemonic == ZYDIS_MNEMONIC_BSR)
            return DATA_FLOW_IF_NOT_ZERO;
        return number == DECODE_RAX || (number == DECODE_RDX && mnemonic != ZYDIS_MNEMONIC_CMPXCHG)
                   ? DATA_FLOW_IF_UNEQUAL
                   : DATA_FLOW_ALWAYS;
    default:
        return DATA_FLOW_ALWAYS;
    }
}

/* The part that a register operand defines. False: none. */
static bool find_definition(const struct data_flow_making *making,
                            const ZydisDecodedOperand *operand, struct data_flow_part *part)
{
    enum data_flow_kind kind;
    unsigned number;
    if (!find_register(operand->reg.value, &kind, &number))
        return false;
    *part = (struct data_flow_part){.kind = (uint8_t)kind,
                                    .number = (uint8_t)number,
                                    .condition = (uint8_t)condition_of(making, kind, number)};
    if (kind == DATA_FLOW_GENERAL) {
        part->bytes = general_bytes(operand->reg.value);
        if (part->bytes == DATA_FLOW_BYTES(4)) /* the upper half becomes 0 */
            part->bytes = DATA_FLOW_BYTES(8);
    } else if (kind == DATA_FLOW_VECTOR) {
        part->bytes = data_flow_vector_bytes(making, operand, true);
    } else if (kind == DATA_FLOW_MASK) {
        part->bytes = DATA_FLOW_BYTES(8);
    } else {
        if (kind == DATA_FLOW_X87)
            part->number = (uint8_t)data_flow_x87_after(making, number);
        part->bytes = DATA_FLOW_X87_BYTES;
    }
    return true;
}

/* --- operands ----------------------------------------------------------------------------------
 */

static bool is_no_mask(const ZydisDecodedOperand *operand)
{
    return operand->encoding == ZYDIS_OPERAND_ENCODING_MASK &&
           operand->reg.value == ZYDIS_REGISTER_K0;
}

static void add_operand(struct data_flow_making *making, const ZydisDecodedOperand *operand,
                        bool is_idiom)
{
    struct data_flow_part part;
    if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY && !is_idiom) {
        read_register(making, operand, operand->mem.base);
        read_register(making, operand, operand->mem.index);
    }
    if (operand->type != ZYDIS_OPERAND_TYPE_REGISTER || is_no_mask(operand))
        return;
    if (operand->actions & READS && !is_idiom && !data_flow_only_writes(making, operand))
        read_register(making, operand, operand->reg.value);
    if (operand->actions & WRITES && find_definition(making, operand, &part))
        add_part(making->flow->definitions, &making->flow->definition_count, &part);
}

static void add_memory(struct data_flow_making *making)
{
    const struct decode_instruction *decoded = making->decoded;
    const bool is_string = data_flow_is_string(making);
    const unsigned pointer_size = making->instruction.address_width / 8u;
    for (unsigned i = 0; i < decoded->access_count; i++) {
        const struct decode_access *access = &decoded->accesses[i];
        if (is_string) {
            data_flow_read(making, DATA_FLOW_GENERAL, access->base, DATA_FLOW_BYTES(pointer_size));
            data_flow_define(making, DATA_FLOW_GENERAL, access->base, DATA_FLOW_BYTES(8),
                             condition_of(making, DATA_FLOW_GENERAL, access->base));
        }
        if (access->form == DECODE_TABLE)
            data_flow_read(making, DATA_FLOW_GENERAL, DECODE_RAX, 1);
        if (access->read)
            data_flow_read(making, DATA_FLOW_MEMORY, i, 0);
        if (access->write)
            data_flow_define(making, DATA_FLOW_MEMORY, i, 0,
                             condition_of(making, DATA_FLOW_MEMORY, i));
    }
}

static void add_flags(struct data_flow_making *making)
{
    const ZydisAccessedFlags *flags = making->instruction.cpu_flags;
    if (!flags)
        return;
    const uint64_t tested =
        making->decoded->repeated ? flags->tested & ZYDIS_CPUFLAG_DF : flags->tested;
    const uint64_t defined = data_flow_flags(making);
    if (tested)
        data_flow_read(making, DATA_FLOW_FLAGS, 0, tested);
    if (defined)
        data_flow_define(making, DATA_FLOW_FLAGS, 0, defined,
                         condition_of(making, DATA_FLOW_FLAGS, 0));
}

/* --- values ------------------------------------------------------------------------------------
 */

static void set_value(struct data_flow_making *making, const struct data_flow_part *part,
                      unsigned size)
{
    if (size == 0 || size > LONG_VALUE)
        return;
    making->flow->has_value = true;
    making->flow->value = *part;
    making->flow->value_size = (uint8_t)size;
}

/* The value of the first operand that is explicit, if `is_explicit`, and defines a part. */
static void find_visible_value(struct data_flow_making *making)
{
    for (unsigned i = 0; i < making->instruction.operand_count_visible; i++) {
        const ZydisDecodedOperand *operand = &making->operands[i];
        struct data_flow_part part;
        if (!(operand->actions & WRITES))
            continue;
        if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY)
            return; /* what is stored */
        if (operand->type == ZYDIS_OPERAND_TYPE_REGISTER &&
            find_definition(making, operand, &part)) {
            set_value(making, &part, operand->size / 8u);
            return;
        }
    }
}

/* Whether a mask decides which bytes of the operand are written. The others may not be mapped, and
 * so cannot be read for a value. */
static bool is_masked(const struct decode_access *access)
{
    switch ((enum decode_form)access->form) {
    case DECODE_OPMASK:
    case DECODE_OPMASK_PACKED:
    case DECODE_VECTOR_MASK:
    case DECODE_GATHER:
    case DECODE_GATHER_VECTOR:
        return true;
    default:
        return false;
    }
}

static void find_stored_value(struct data_flow_making *making)
{
    const struct data_flow *flow = making->flow;
    for (unsigned i = 0; i < flow->definition_count; i++) {
        if (flow->definitions[i].kind != DATA_FLOW_MEMORY)
            continue;
        const struct decode_access *access =
            &making->decoded->accesses[flow->definitions[i].number];
        if (!is_masked(access))
            set_value(making, &flow->definitions[i], access->size);
        return;
    }
}

/* rax, else the general register of the lowest number, else an x87 register. */
static void find_hidden_value(struct data_flow_making *making)
{
    struct data_flow_part best = {.kind = DATA_FLOW_MEMORY};
    unsigned size = 0;
    for (unsigned i = 0; i < making->instruction.operand_count; i++) {
        const ZydisDecodedOperand *operand = &making->operands[i];
        struct data_flow_part part;
        if (operand->type != ZYDIS_OPERAND_TYPE_REGISTER || !(operand->actions & WRITES) ||
            !find_definition(making, operand, &part))
            continue;
        if (part.kind != DATA_FLOW_GENERAL && part.kind != DATA_FLOW_X87)
            continue;
        if (part.kind < best.kind || (part.kind == best.kind && part.number < best.number)) {
            best = part;
            size = operand->size / 8u;
        }
    }
    for (unsigned i = 0; data_flow_is_string(making) && i < making->flow->definition_count; i++) {
        const struct data_flow_part *part = &making->flow->definitions[i]; /* also pointers */
        if (part->kind != DATA_FLOW_GENERAL ||
            (best.kind == DATA_FLOW_GENERAL && part->number >= best.number))
            continue;
        best = *part;
        size = making->instruction.address_width / 8u;
    }
    if (best.kind != DATA_FLOW_MEMORY)
        set_value(making, &best, size);
}

/* --- the instruction ---------------------------------------------------------------------------
 */

static void describe_system_call(struct data_flow_making *making)
{
    static const uint8_t reads[] = {DECODE_RAX, DECODE_RDX, DECODE_RSI, DECODE_RDI,
                                    DECODE_R8,  DECODE_R9,  DECODE_R10};
    static const uint8_t defines[] = {DECODE_RAX, DECODE_RCX, DECODE_R11};
    for (size_t i = 0; i < sizeof reads; i++)
        data_flow_read(making, DATA_FLOW_GENERAL, reads[i], DATA_FLOW_BYTES(8));
    for (size_t i = 0; i < sizeof defines; i++)
        data_flow_define(making, DATA_FLOW_GENERAL, defines[i], DATA_FLOW_BYTES(8),
                         DATA_FLOW_ALWAYS);
    set_value(making, &making->flow->definitions[0], 8);
}

static void describe(struct data_flow_making *making)
{
    const bool is_idiom = data_flow_is_idiom(making);
    for (unsigned i = 0; i < making->instruction.operand_count; i++)
        add_operand(making, &making->operands[i], is_idiom);
    add_memory(making);
    add_flags(making);
    data_flow_other_operands(making);
    data_flow_states(making);
    data_flow_x87_rest(making);
    find_visible_value(making);
    if (!making->flow->has_value)
        find_stored_value(making);
    if (!making->flow->has_value)
        find_hidden_value(making);
}

void data_flow_of(struct data_flow *flow, const struct decode_instruction *instruction)
{
    struct data_flow_making making = {
        .flow = flow, .decoded = instruction, .outcome = outcome_of(instruction)};
    ZydisDecoder decoder;
    *flow = (struct data_flow){.count_mask = making.outcome.mask,
                               .condition_code = making.outcome.condition};
    if (instruction->kind == DECODE_SYSTEM_CALL) {
        describe_system_call(&making);
        return;
    }
    if (instruction->mnemonic == 0 ||
        ZYAN_FAILED(ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64)) ||
        ZYAN_FAILED(ZydisDecoderDecodeFull(&decoder, instruction->bytes, instruction->size,
                                           &making.instruction, making.operands)))
        return;
    describe(&making);
}
