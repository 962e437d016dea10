#include "tools/depend/value_operand.h"

#include "formats/base/hash_index.h"

#define RSP (ZYDIS_REGISTER_RSP - ZYDIS_REGISTER_RAX)

static const struct value nothing; /* depends on nothing */

/* --- memory ------------------------------------------------------------------------------------
 */

static struct value address_part(struct executing *executing, ZydisRegister name)
{
    const unsigned variable = value_variable(name);
    if (variable == VALUE_VARIABLE_NONE)
        return nothing;
    executing->state->unread &= ~value_set_of(variable);
    const unsigned bits = ZydisRegisterGetWidth(ZYDIS_MACHINE_MODE_LONG_64, name);
    return value_cut(executing->state->values[variable], bits == 64 ? VALUE_WHOLE : bits);
}

struct value_operand operand_describe(struct executing *executing,
                                      const ZydisDecodedOperand *operand)
{
    struct value_operand described = {.base = address_part(executing, operand->mem.base),
                                      .index = address_part(executing, operand->mem.index),
                                      .displacement = operand->mem.disp.value,
                                      .bits = operand->size,
                                      .scale = operand->mem.scale};
    if (operand->mem.segment == ZYDIS_REGISTER_FS || operand->mem.segment == ZYDIS_REGISTER_GS)
        described.segment = (uint8_t)operand->mem.segment;
    if (operand->mem.base == ZYDIS_REGISTER_RIP)
        described.displacement +=
            (int64_t)(executing->instruction->address + executing->instruction->decoded.length);
    executing->flow->read |= value_all(&described.base) | value_all(&described.index);
    return described;
}

/* The same number, or no register in both. */
static bool is_same_part(const struct value *a, const struct value *b)
{
    return value_is_same(a, b) || (value_is_equal(a, b) && value_all(a) == 0 && a->constant == 0);
}

static bool has_same_parts(const struct value_operand *a, const struct value_operand *b)
{
    return is_same_part(&a->base, &b->base) && is_same_part(&a->index, &b->index) &&
           a->scale == b->scale && a->segment == b->segment;
}

static bool is_same_operand(const struct value_operand *a, const struct value_operand *b)
{
    return has_same_parts(a, b) && a->displacement == b->displacement && a->bits == b->bits;
}

static bool is_apart(const struct value_operand *a, const struct value_operand *b)
{
    return has_same_parts(a, b) && (a->displacement + a->bits / 8 <= b->displacement ||
                                    b->displacement + b->bits / 8 <= a->displacement);
}

unsigned operand_number_load(struct value_flow *flow, uint64_t address, value_set variables)
{
    unsigned number = 0;
    while (number < flow->load_count && flow->loads[number].address != address)
        number++;
    if (number == VALUE_LOADS)
        number--;
    if (number == flow->load_count)
        flow->loads[flow->load_count++] = (struct value_load){.address = address};
    flow->loads[number].address_variables |= variables;
    return number;
}

static struct value load(struct executing *executing, const ZydisDecodedOperand *operand)
{
    struct value_flow *flow = executing->flow;
    const struct value_operand described = operand_describe(executing, operand);
    const value_set address = value_all(&described.base) | value_all(&described.index);
    flow->used |= address;
    for (unsigned i = 0; i < flow->load_count; i++)
        if ((executing->state->current & value_set_of(VALUE_STORED + i)) &&
            is_same_operand(&flow->loads[i].operand, &described))
            return value_cut(value_of_variable(VALUE_STORED + i), operand->size);
    const unsigned number = operand_number_load(flow, executing->instruction->address, address);
    if (number == VALUE_LOADS - 1) /* it stands for several */
        return value_of_set(value_set_of(VALUE_STORED + number));
    flow->loads[number].operand = described;
    executing->state->current |= value_set_of(VALUE_STORED + number);
    return value_cut(value_of_variable(VALUE_STORED + number), operand->size);
}

static void add_update(struct value_flow *flow, const struct value_update *update)
{
    for (unsigned i = 0; i < flow->update_count; i++)
        if (flow->updates[i].store == update->store && flow->updates[i].load == update->load &&
            value_kind_is_equal(flow->updates[i].kind, update->kind))
            return;
    if (flow->update_count < VALUE_UPDATES)
        flow->updates[flow->update_count++] = *update;
}

static void store(struct executing *executing, const ZydisDecodedOperand *operand,
                  const struct value *value)
{
    struct value_flow *flow = executing->flow;
    const struct value_operand described = operand_describe(executing, operand);
    value_set updated = 0, overlapping = 0;
    for (unsigned i = 0; i < flow->load_count; i++) {
        const value_set variable = value_set_of(VALUE_STORED + i);
        const struct value_update update = {.store = executing->instruction->address,
                                            .load = flow->loads[i].address,
                                            .kind = value_kind_of(value, variable)};
        if (has_same_parts(&flow->loads[i].operand, &described) &&
            !is_apart(&flow->loads[i].operand, &described))
            overlapping |= variable;
        if (!(executing->state->current & variable))
            continue;
        if (update.kind.operation != VALUE_NONE && update.kind.operation != VALUE_SELECT &&
            is_same_operand(&flow->loads[i].operand, &described)) {
            add_update(flow, &update);
            updated |= variable;
        }
        if (!is_apart(&flow->loads[i].operand, &described))
            executing->state->current &= ~variable;
    }
    flow->used |= value_all(&described.base) | value_all(&described.index);
    flow->used |= (value_all(value) & ~updated) | flow->control;
    flow->overwritten |= overlapping;
    flow->assigned |= updated ? 0 : overlapping;
}

/* --- registers ---------------------------------------------------------------------------------
 */

bool operand_is_high_byte(const ZydisDecodedOperand *operand)
{
    return operand->type == ZYDIS_OPERAND_TYPE_REGISTER &&
           operand->reg.value >= ZYDIS_REGISTER_AH && operand->reg.value <= ZYDIS_REGISTER_BH;
}

/* Writing these bits of a register leaves the others. */
static bool is_partial(unsigned variable, unsigned bits)
{
    if (variable < VALUE_VECTORS)
        return bits < 32;
    return variable < VALUE_MASKS ? bits < 128 : variable == VALUE_X87;
}

static void write_register(struct executing *executing, const ZydisDecodedOperand *operand,
                           unsigned variable, const struct value *value)
{
    struct value *whole = &executing->state->values[variable];
    struct value_part *part = &executing->state->parts[variable];
    executing->state->unread |= value_set_of(variable);
    if (!is_partial(variable, operand->size)) {
        *whole = *value;
        *part = (struct value_part){.bits = 0};
        return;
    }
    *whole = part->width > 0 && part->width <= operand->size && !operand_is_high_byte(operand)
                 ? *value
                 : value_replace_part(whole, value);
    if (variable == VALUE_X87)
        return;
    if (operand_is_high_byte(operand))
        part->bits = part->bits > 8 ? 8 : part->bits;
    else
        *part = (struct value_part){.value = *value,
                                    .bits = operand->size,
                                    .width = part->width > operand->size ? part->width
                                             : part->width > 0           ? operand->size
                                                                         : 0};
}

void operand_copy(struct executing *executing, unsigned to, unsigned from, unsigned bits)
{
    struct value_state *state = executing->state;
    const struct value *value =
        state->parts[from].bits > 0 ? &state->parts[from].value : &state->values[from];
    executing->flow->read |= value_all(value);
    state->unread &= ~value_set_of(from);
    if (to == RSP)
        return;
    state->values[to] = value_cut(state->values[from], bits);
    state->parts[to] = state->parts[from];
    state->unread |= value_set_of(to);
}

/* The bits to which an access of a variable cuts a value. */
static unsigned cut_of(unsigned variable, const ZydisDecodedOperand *operand)
{
    return variable < VALUE_VECTORS && operand->size == 64 ? VALUE_WHOLE : operand->size;
}

struct value operand_read(struct executing *executing, const ZydisDecodedOperand *operand)
{
    struct value_state *state = executing->state;
    const unsigned variable = value_flow_variable(executing->flow, operand);
    struct value value = nothing;
    if (variable < VALUE_REGISTERS) {
        const struct value_part *part = &state->parts[variable];
        const bool is_in_part = operand->size <= part->bits && !operand_is_high_byte(operand);
        value = value_cut(is_in_part ? part->value : state->values[variable],
                          cut_of(variable, operand));
        state->unread &= ~value_set_of(variable);
    } else if (variable != VALUE_VARIABLE_NONE)
        value = value_cut(state->values[variable], operand->size);
    else if (operand_is_memory(operand))
        value = load(executing, operand);
    executing->flow->read |= value_all(&value);
    return value;
}

void operand_write(struct executing *executing, const ZydisDecodedOperand *operand,
                   struct value value)
{
    struct value_flow *flow = executing->flow;
    const unsigned variable = value_flow_variable(flow, operand);
    if (!value.is_exact && value.constant == 0)
        value.constant = hash_pair(executing->instruction->address, variable) | UINT64_C(1) << 35;
    if (variable == RSP)
        return; /* the frame stays where it is */
    value = value_cut(value, cut_of(variable, operand));
    if (variable < VALUE_REGISTERS)
        write_register(executing, operand, variable, &value);
    else if (variable != VALUE_VARIABLE_NONE) {
        struct value *slot = &executing->state->values[variable];
        const bool is_whole = operand->size / 8 >= flow->slots[variable - VALUE_REGISTERS].bytes;
        if (value.is_exact && value.constant == 0 && value.bases == value_set_of(variable) &&
            is_whole)
            value = value_of_variable(variable);
        *slot = is_whole ? value : value_replace_part(slot, &value);
    } else if (operand_is_memory(operand))
        store(executing, operand, &value);
}

/* --- flags -------------------------------------------------------------------------------------
 */

#define STATUS_FLAGS                                                                               \
    (ZYDIS_CPUFLAG_CF | ZYDIS_CPUFLAG_PF | ZYDIS_CPUFLAG_ZF | ZYDIS_CPUFLAG_SF | ZYDIS_CPUFLAG_OF)

value_set operand_flags(const struct executing *executing)
{
    const ZydisAccessedFlags *accessed = executing->instruction->decoded.cpu_flags;
    const struct value_flags *flags = &executing->state->flags;
    value_set set = 0;
    if (accessed && (accessed->tested & ZYDIS_CPUFLAG_CF))
        set |= flags->carry;
    if (accessed && (accessed->tested & STATUS_FLAGS & ~ZYDIS_CPUFLAG_CF))
        set |= flags->set;
    return set;
}

/* Whether the flags are written only under a condition, as by a shift by cl. */
static bool has_conditional_flags(const struct value_instruction *instruction)
{
    for (unsigned i = 0; i < instruction->decoded.operand_count; i++)
        if (instruction->operands[i].type == ZYDIS_OPERAND_TYPE_REGISTER &&
            instruction->operands[i].reg.value == ZYDIS_REGISTER_RFLAGS &&
            (instruction->operands[i].actions & ZYDIS_OPERAND_ACTION_CONDWRITE))
            return true;
    return false;
}

void operand_set_flags(struct executing *executing, value_set set)
{
    const ZydisAccessedFlags *accessed = executing->instruction->decoded.cpu_flags;
    struct value_flags *flags = &executing->state->flags;
    if (!accessed)
        return;
    const uint32_t changed =
        accessed->modified | accessed->set_0 | accessed->set_1 | accessed->undefined;
    const uint32_t rest = STATUS_FLAGS & ~ZYDIS_CPUFLAG_CF;
    const bool is_kept = has_conditional_flags(executing->instruction);
    if (!(changed & STATUS_FLAGS))
        return;
    if (changed & ZYDIS_CPUFLAG_CF)
        flags->carry = set | (is_kept ? flags->carry : 0);
    if (changed & rest)
        flags->set = set | (is_kept || (rest & ~changed) ? flags->set : 0);
    flags->is_compared = false;
}
