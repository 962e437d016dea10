/* States: values, flags and loads between two instructions, and where paths meet. */
#include "tools/depend/value_flow.h"

#include "formats/base/hash_index.h"

#include <string.h>

void value_state_begin(struct value_state *state)
{
    memset(state, 0, sizeof *state);
    for (unsigned i = 0; i < VALUE_STORED; i++)
        state->values[i] = value_of_variable(i);
    state->flags.set = state->flags.carry = value_set_of(VALUE_FLAGS);
}

static bool is_equal_part(const struct value_part *a, const struct value_part *b)
{
    return a->bits == b->bits && a->width == b->width &&
           (a->bits == 0 || value_is_equal(&a->value, &b->value));
}

static bool is_equal_flags(const struct value_flags *a, const struct value_flags *b)
{
    return a->set == b->set && a->carry == b->carry && a->is_compared == b->is_compared &&
           (!a->is_compared || (value_is_equal(&a->compared.left, &b->compared.left) &&
                                value_is_equal(&a->compared.right, &b->compared.right)));
}

bool value_state_is_equal(const struct value_state *a, const struct value_state *b)
{
    for (unsigned i = 0; i < VALUE_STORED; i++)
        if (!value_is_equal(&a->values[i], &b->values[i]))
            return false;
    for (unsigned i = 0; i < VALUE_REGISTERS; i++)
        if (!is_equal_part(&a->parts[i], &b->parts[i]))
            return false;
    for (int i = 0; i < a->depth && a->depth == b->depth; i++)
        if (!value_is_equal(&a->entries[i], &b->entries[i]))
            return false;
    return is_equal_flags(&a->flags, &b->flags) && a->decision == b->decision &&
           a->condition == b->condition && a->depth == b->depth && a->current == b->current &&
           a->unread == b->unread;
}

/* A value after paths have met: it is the same number until they meet again. */
static struct value join_values(const struct value *a, const struct value *b, value_set decision,
                                uint32_t block, unsigned variable)
{
    struct value joined = value_join(a, b, decision);
    if (!joined.is_exact && !value_is_equal(a, b))
        joined.constant = hash_pair(block, variable) | UINT64_C(1) << 34;
    return joined;
}

void value_state_join(struct value_state *state, const struct value_state *other,
                      value_set decision, uint32_t block)
{
    for (unsigned i = 0; i < VALUE_STORED; i++)
        state->values[i] = join_values(&state->values[i], &other->values[i], decision, block, i);
    for (unsigned i = 0; i < VALUE_REGISTERS; i++) {
        struct value_part *part = &state->parts[i];
        if (part->width != other->parts[i].width)
            part->width = 0;
        if (part->bits != other->parts[i].bits)
            part->bits = 0;
        else if (part->bits > 0)
            part->value = join_values(&part->value, &other->parts[i].value, decision, block,
                                      VALUE_STORED + i);
    }
    state->flags.set |= other->flags.set | decision;
    state->flags.carry |= other->flags.carry | decision;
    state->flags.is_compared = false;
    if (state->depth != other->depth)
        state->depth = -1;
    for (int i = 0; i < state->depth; i++)
        state->entries[i] = join_values(&state->entries[i], &other->entries[i], decision, block,
                                        VALUE_VARIABLES + (unsigned)i);
    state->current &= other->current;
    state->unread |= other->unread;
}

value_set value_state_choose(struct value_state *state, const struct value_state *decided,
                             const struct value_state *kept, const struct value_state *taken)
{
    const struct value_flags *flags = &decided->flags;
    const enum value_condition condition = (enum value_condition)decided->condition;
    struct value chosen;
    value_set bases = 0;
    for (unsigned i = 0; flags->is_compared && i < VALUE_STORED; i++)
        if (value_choose(&chosen, condition, &flags->compared, &kept->values[i],
                         &taken->values[i])) {
            state->values[i] = chosen;
            bases |= chosen.bases;
        }
    for (unsigned i = 0; flags->is_compared && i < VALUE_REGISTERS; i++)
        if (kept->parts[i].bits > 0 && kept->parts[i].bits == taken->parts[i].bits &&
            value_choose(&chosen, condition, &flags->compared, &kept->parts[i].value,
                         &taken->parts[i].value)) {
            state->parts[i].value = chosen;
            bases |= chosen.bases;
        }
    return bases;
}

void value_state_leave(struct value_state *state, bool is_taken)
{
    const struct value *left = &state->flags.compared.left, *right = &state->flags.compared.right;
    if (!state->flags.is_compared || left->is_exact == right->is_exact ||
        state->condition != (is_taken ? VALUE_CONDITION_EQUAL : VALUE_CONDITION_UNEQUAL))
        return;
    const struct value simple = left->is_exact ? *left : *right;
    const struct value other = left->is_exact ? *right : *left;
    for (unsigned i = 0; i < VALUE_VECTORS; i++)
        if (value_is_same(&state->values[i], &other))
            state->values[i] = simple;
}
