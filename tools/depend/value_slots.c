/* Variables of registers, and of slots of the stack. */
#include "tools/depend/value_flow.h"

unsigned value_variable(ZydisRegister name)
{
    const ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, name);
    switch (ZydisRegisterGetClass(whole == ZYDIS_REGISTER_NONE ? name : whole)) {
    case ZYDIS_REGCLASS_GPR64:
        return (unsigned)(whole - ZYDIS_REGISTER_RAX);
    case ZYDIS_REGCLASS_XMM:
    case ZYDIS_REGCLASS_YMM:
    case ZYDIS_REGCLASS_ZMM:
        return VALUE_VECTORS + (unsigned)ZydisRegisterGetId(whole);
    case ZYDIS_REGCLASS_MASK:
        return VALUE_MASKS + (unsigned)ZydisRegisterGetId(name);
    case ZYDIS_REGCLASS_X87:
    case ZYDIS_REGCLASS_MMX:
        return VALUE_X87;
    default:
        return VALUE_VARIABLE_NONE;
    }
}

/* Names a place of the stack frame; if has_index, with an index. */
static bool is_frame(const ZydisDecodedOperand *operand, bool has_index)
{
    return operand->type == ZYDIS_OPERAND_TYPE_MEMORY &&
           operand->visibility == ZYDIS_OPERAND_VISIBILITY_EXPLICIT &&
           operand->mem.segment != ZYDIS_REGISTER_FS && operand->mem.segment != ZYDIS_REGISTER_GS &&
           (operand->mem.index != ZYDIS_REGISTER_NONE) == has_index &&
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

unsigned value_flow_variable(const struct value_flow *flow, const ZydisDecodedOperand *operand)
{
    if (operand->type == ZYDIS_OPERAND_TYPE_REGISTER)
        return value_variable(operand->reg.value);
    if (!is_frame(operand, false) || operand->mem.type != ZYDIS_MEMOP_TYPE_MEM ||
        (operand->mem.base == ZYDIS_REGISTER_RBP ? flow->moves_rbp : flow->moves_rsp))
        return VALUE_VARIABLE_NONE;
    const unsigned slot = find_slot(flow, operand);
    return slot < VALUE_SLOTS && !flow->slots[slot].is_exposed ? VALUE_REGISTERS + slot
                                                               : VALUE_VARIABLE_NONE;
}

/* Whether one of two slots makes memory of both: they overlap in part, or an index of the lower one
 * may reach the other. */
static bool expose_each_other(const struct value_stack_slot *lower,
                              const struct value_stack_slot *upper)
{
    const int64_t distance = upper->displacement - lower->displacement;
    return lower->base == upper->base && distance >= 0 &&
           (distance < lower->bytes || (lower->is_indexed && distance == lower->bytes));
}

static void expose_neighbours(struct value_flow *flow)
{
    bool has_changed;
    do {
        has_changed = false;
        for (unsigned i = 0; i < flow->slot_count; i++)
            for (unsigned k = 0; k < flow->slot_count; k++) {
                struct value_stack_slot *lower = &flow->slots[i], *upper = &flow->slots[k];
                if (i == k || !expose_each_other(lower, upper))
                    continue;
                has_changed |= !lower->is_exposed || !upper->is_exposed ||
                               (lower->is_indexed && !upper->is_indexed);
                lower->is_exposed = upper->is_exposed = true;
                upper->is_indexed |= lower->is_indexed;
            }
    } while (has_changed);
}

static struct value_stack_slot *add_slot(struct value_flow *flow,
                                         const ZydisDecodedOperand *operand)
{
    unsigned slot = find_slot(flow, operand);
    if (slot == VALUE_SLOTS) {
        if (flow->slot_count == VALUE_SLOTS)
            return NULL;
        slot = flow->slot_count++;
        flow->slots[slot] =
            (struct value_stack_slot){.base = (uint8_t)operand->mem.base,
                                      .is_exposed = (flow->exposed >> slot & 1) != 0,
                                      .displacement = operand->mem.disp.value};
    }
    return &flow->slots[slot];
}

static void see_operand(struct value_flow *flow, uint64_t address,
                        const ZydisDecodedOperand *operand)
{
    const bool is_indexed = is_frame(operand, true);
    if (!is_indexed && !is_frame(operand, false))
        return;
    struct value_stack_slot *slot = add_slot(flow, operand);
    if (!slot)
        return;
    const uint16_t bytes = operand->size / 8;
    const bool is_written = (operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0;
    if (slot->address == 0 || (is_written && !slot->is_written))
        slot->address = address;
    slot->is_written |= is_written;
    const struct value_stack_slot before = *slot;
    slot->is_indexed |= is_indexed;
    slot->is_exposed |= is_indexed || operand->mem.type == ZYDIS_MEMOP_TYPE_AGEN;
    if (operand->mem.type != ZYDIS_MEMOP_TYPE_AGEN && slot->bytes < bytes)
        slot->bytes = bytes;
    if (before.bytes != slot->bytes || before.is_exposed != slot->is_exposed)
        expose_neighbours(flow);
}

void value_flow_see(struct value_flow *flow, const struct value_instruction *instruction)
{
    const ZydisInstructionCategory category = instruction->decoded.meta.category;
    for (unsigned i = 0; i < instruction->decoded.operand_count; i++) {
        const ZydisDecodedOperand *operand = &instruction->operands[i];
        if (operand->type != ZYDIS_OPERAND_TYPE_REGISTER) {
            see_operand(flow, instruction->address, operand);
            continue;
        }
        /* calls return with the same stack pointer */
        const unsigned variable = value_variable(operand->reg.value);
        if (!(operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) ||
            category == ZYDIS_CATEGORY_CALL || category == ZYDIS_CATEGORY_RET)
            continue;
        flow->moves_rbp |= variable == ZYDIS_REGISTER_RBP - ZYDIS_REGISTER_RAX;
        flow->moves_rsp |= variable == ZYDIS_REGISTER_RSP - ZYDIS_REGISTER_RAX;
    }
}

unsigned value_flow_slot(const struct value_flow *flow, const struct value_instruction *instruction)
{
    for (unsigned i = 0; i < instruction->decoded.operand_count; i++)
        if (instruction->operands[i].type == ZYDIS_OPERAND_TYPE_MEMORY)
            return value_flow_variable(flow, &instruction->operands[i]);
    return VALUE_VARIABLE_NONE;
}
