/*
 * The stack's entries are of two kinds: what this iteration has pushed (value_state.entries), and
 * what lay there at its head (VALUE_X87, all together).
 */
#include "tools/depend/value_x87.h"

#include "tools/depend/value_arithmetic.h"

#include <stdio.h>
#include <string.h>

#define UNKNOWN 8 /* pushes */
#define DOMAIN  (VALUE_FLOAT | 80)

/* What an instruction adds to the stack's depth; UNKNOWN: it is not known. */
static int pushes_of(const char *name)
{
    static const struct {
        int8_t pushes;
        const char *names; /* each between blanks */
    } kinds[] = {{1, " fld fld1 fldl2e fldl2t fldlg2 fldln2 fldpi fldz fild fbld fptan fxtract "
                     "fsincos "},
                 {-1, " fstp fistp fisttp fbstp faddp fsubp fsubrp fmulp fdivp fdivrp fcomp fcomip "
                      "fucomp fucomip ficomp fyl2x fyl2xp1 fpatan fstpnce "},
                 {-2, " fcompp fucompp "},
                 {UNKNOWN, " fdecstp fincstp ffree ffreep fninit fnsave frstor "}};
    char word[24];
    snprintf(word, sizeof word, " %.20s ", name);
    for (unsigned i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (strstr(kinds[i].names, word))
            return kinds[i].pushes;
    return 0;
}

static bool is_entry(const ZydisDecodedOperand *operand)
{
    return operand->type == ZYDIS_OPERAND_TYPE_REGISTER &&
           ZydisRegisterGetClass(operand->reg.value) == ZYDIS_REGCLASS_X87;
}

/* An entry that this iteration has pushed; VALUE_X87's value: what lay there before. */
static struct value *find_entry(struct value_state *state, const ZydisDecodedOperand *operand)
{
    const int index = state->depth - 1 - (int)(operand->reg.value - ZYDIS_REGISTER_ST0);
    return index >= 0 ? &state->entries[index] : &state->values[VALUE_X87];
}

/* What the stack holds of memory, and the other way: a number of another size. */
static struct value convert(struct value value, unsigned bits)
{
    if (value.is_exact ? value.constant == 0 : value.domain == DOMAIN)
        value.bits = (uint16_t)bits;
    return value;
}

static struct value read_entry(struct executing *executing, const ZydisDecodedOperand *operand)
{
    if (!is_entry(operand))
        return convert(operand_read(executing, operand), VALUE_WHOLE);
    const struct value value = *find_entry(executing->state, operand);
    executing->flow->read |= value_all(&value);
    return value;
}

static void write_entry(struct executing *executing, const ZydisDecodedOperand *operand,
                        const struct value *value)
{
    if (is_entry(operand))
        *find_entry(executing->state, operand) = *value;
    else
        operand_write(executing, operand, convert(*value, operand->size));
}

/* The operation of an instruction on two entries. */
static enum value_operation operation_of(const char *name)
{
    if (text_begins(name, "fadd") || text_begins(name, "fiadd"))
        return VALUE_ADD;
    return text_begins(name, "fmul") || text_begins(name, "fimul") ? VALUE_MULTIPLY : VALUE_NONE;
}

/* The sources and the destination of an operation: st0 is implicit if there is memory. */
static bool execute_operation(struct executing *executing, enum value_operation operation)
{
    const ZydisDecodedOperand *operands = executing->instruction->operands, *sources[2];
    const ZydisDecodedOperand *to = NULL;
    unsigned count = 0;
    for (unsigned i = 0; i < executing->instruction->decoded.operand_count; i++) {
        if (!is_entry(&operands[i]) && !operand_is_memory(&operands[i]))
            continue;
        if (count == 2)
            return false;
        sources[count++] = &operands[i];
        if (operand_is_written(&operands[i]))
            to = &operands[i];
    }
    if (count != 2 || !to)
        return false;
    const struct value a = read_entry(executing, sources[0]), b = read_entry(executing, sources[1]);
    const struct value_kind kind = {
        .operation = (uint8_t)operation, .domain = DOMAIN, .bits = VALUE_WHOLE};
    const struct value result = value_combine(kind, &a, &b);
    write_entry(executing, to, &result);
    return true;
}

/* All that is written depends on all that is read. Returns this. */
static value_set execute_other(struct executing *executing, bool pushes)
{
    const ZydisDecodedInstruction *decoded = &executing->instruction->decoded;
    const ZydisDecodedOperand *operands = executing->instruction->operands;
    value_set all = operand_flags(executing);
    for (unsigned i = 0; i < decoded->operand_count; i++)
        if (operand_is_read(&operands[i]) ||
            (operands[i].actions & ZYDIS_OPERAND_ACTION_CONDWRITE)) {
            const struct value value = read_entry(executing, &operands[i]);
            all |= value_all(&value);
        }
    operand_set_flags(executing, all);
    const struct value result = value_of_set(all);
    for (unsigned i = 0; i < decoded->operand_count; i++)
        if (operand_is_written(&operands[i]) && !(pushes && is_entry(&operands[i])))
            write_entry(executing, &operands[i], &result);
    return all;
}

/* Loads and stores, which copy; *copied: what a load pushes. */
static bool execute_copy(struct executing *executing, struct value *copied)
{
    const ZydisDecodedOperand *operands = executing->instruction->operands;
    switch (executing->instruction->decoded.mnemonic) {
    case ZYDIS_MNEMONIC_FLD:
        *copied = read_entry(executing, &operands[0]);
        return true;
    case ZYDIS_MNEMONIC_FST:
    case ZYDIS_MNEMONIC_FSTP:
        *copied = read_entry(executing, &operands[1]);
        write_entry(executing, &operands[0], copied);
        return true;
    default:
        return false;
    }
}

/* Nothing is known of the stack any more: each entry may be one of the head. */
static void forget(struct executing *executing)
{
    struct value_state *state = executing->state;
    value_set all = value_all(&state->values[VALUE_X87]) | value_set_of(VALUE_X87);
    for (int i = 0; i < state->depth; i++)
        all |= value_all(&state->entries[i]);
    executing->flow->read |= value_set_of(VALUE_X87);
    state->values[VALUE_X87] = value_of_set(all);
    state->depth = -1;
}

static void move_top(struct executing *executing, int pushes, const struct value *pushed)
{
    struct value_state *state = executing->state;
    const int depth = state->depth + pushes;
    const bool is_own = (value_all(&state->values[VALUE_X87]) & value_set_of(VALUE_X87)) != 0;
    if (state->depth < 0 || pushes == UNKNOWN || depth > (int)VALUE_ENTRIES ||
        (depth < 0 && is_own)) {
        forget(executing);
        return;
    }
    state->depth = (int8_t)(depth < 0 ? 0 : depth);
    if (pushes == 1)
        state->entries[depth - 1] = *pushed;
}

void value_x87_execute(struct executing *executing)
{
    const int pushes = pushes_of(executing->name);
    const enum value_operation operation = operation_of(executing->name);
    struct value pushed;
    if (pushes != UNKNOWN && !execute_copy(executing, &pushed) &&
        (operation == VALUE_NONE || !execute_operation(executing, operation)))
        pushed = value_of_set(execute_other(executing, pushes == 1));
    if (pushes != 0)
        move_top(executing, pushes, &pushed);
}
