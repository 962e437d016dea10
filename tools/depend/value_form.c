#include "tools/depend/value_form.h"

#include "formats/base/hash_index.h"

struct value value_of_variable(unsigned variable)
{
    return (struct value){.bases = value_set_of(variable), .is_exact = true};
}

struct value value_of_set(value_set others)
{
    return (struct value){.others = others};
}

bool value_is_equal(const struct value *a, const struct value *b)
{
    return a->bases == b->bases && a->others == b->others && a->constant == b->constant &&
           a->is_exact == b->is_exact && a->operation == b->operation;
}

bool value_is_same(const struct value *a, const struct value *b)
{
    return value_is_equal(a, b) && value_identify(a) != 0;
}

uint64_t value_identify(const struct value *value)
{
    return value->is_exact ? hash_pair((uint64_t)value->bases ^ (uint64_t)(value->bases >> 64) * 3,
                                       value->constant) |
                                 UINT64_C(1) << 32
                           : value->constant;
}

/* The identity of the result of an operation. */
static uint64_t identify_pair(unsigned operation, uint64_t a, uint64_t b)
{
    return a && b ? (hash_pair(hash_pair(a, b), operation) | UINT64_C(1) << 33) : 0;
}

struct value value_add_constant(struct value value, uint64_t constant)
{
    if (value.is_exact) {
        value.constant += constant;
        return value;
    }
    const uint64_t identity =
        identify_pair(VALUE_ADD, value.constant, constant | UINT64_C(1) << 63);
    if (value.operation != VALUE_ADD)
        value = value_of_set(value_all(&value));
    value.constant = identity;
    return value;
}

/* Of an operand of the operation: what may be a base of the result. */
static value_set bases_for(enum value_operation operation, const struct value *value)
{
    return value->is_exact || value->operation == operation ? value->bases : 0;
}

struct value value_combine(enum value_operation operation, const struct value *a,
                           const struct value *b)
{
    const value_set left = bases_for(operation, a), right = bases_for(operation, b);
    const value_set others = (value_all(a) & ~left) | (value_all(b) & ~right) | (left & right);
    const value_set bases = (left | right) & ~others;
    const uint64_t identity = identify_pair(operation, value_identify(a), value_identify(b));
    if (bases == 0)
        return (struct value){.others = others, .constant = identity};
    return (struct value){
        .bases = bases, .others = others, .constant = identity, .operation = (uint8_t)operation};
}

struct value value_subtract(const struct value *a, const struct value *b)
{
    const struct value rest = value_of_set(value_all(b));
    struct value difference = value_combine(VALUE_ADD, a, &rest);
    difference.constant = identify_pair(VALUE_NONE, value_identify(a), value_identify(b));
    return difference;
}

/* The operation by which a value may have come from a base; VALUE_NONE: it is the base itself. */
static bool comes_from(const struct value *value, value_set base, enum value_operation *operation)
{
    *operation = value->is_exact ? (value->constant == 0 ? VALUE_NONE : VALUE_ADD)
                                 : (enum value_operation)value->operation;
    return (value->bases & base) != 0;
}

/* Both come from a base by the same operation, or one of them is the base. */
static bool join_updates(const struct value *a, const struct value *b, value_set base,
                         struct value *joined)
{
    enum value_operation first, second;
    if (!comes_from(a, base, &first) || !comes_from(b, base, &second) ||
        (first != second && first != VALUE_NONE && second != VALUE_NONE))
        return false;
    const value_set others = (value_all(a) | value_all(b)) & ~base;
    *joined = (struct value){.bases = base,
                             .others = others,
                             .operation = (uint8_t)(first == VALUE_NONE ? second : first)};
    return ((a->others | b->others) & base) == 0;
}

/* The value of a variable itself, or of one of several. */
static bool keeps(const struct value *value)
{
    return (value->is_exact && value->constant == 0) || value->operation == VALUE_SELECT;
}

static struct value join_known(const struct value *a, const struct value *b)
{
    const value_set all = value_all(a) | value_all(b);
    struct value joined;
    for (value_set rest = a->bases & b->bases; rest != 0; rest &= rest - 1)
        if (join_updates(a, b, rest & -rest, &joined))
            return joined;
    /* one path keeps a variable, the other one assigns something else */
    const value_set kept =
        (keeps(a) ? a->bases & ~value_all(b) : 0) | (keeps(b) ? b->bases & ~value_all(a) : 0);
    if (kept != 0)
        return (struct value){.bases = kept, .others = all & ~kept, .operation = VALUE_SELECT};
    return value_of_set(all);
}

struct value value_join(const struct value *a, const struct value *b, value_set decision)
{
    if (value_is_equal(a, b))
        return *a;
    struct value joined = join_known(a, b);
    joined.bases &= ~decision;
    joined.others |= decision;
    return joined.bases ? joined : value_of_set(joined.others);
}

struct value value_replace_part(const struct value *old, const struct value *new)
{
    struct value joined;
    if (value_all(old) == 0)
        return *new;
    for (value_set rest = old->bases & new->bases; rest != 0; rest &= rest - 1)
        if (join_updates(old, new, rest & -rest, &joined))
            return joined;
    return value_of_set(value_all(old) | value_all(new));
}

bool value_choose(struct value *chosen, enum value_condition condition, const struct value *left,
                  const struct value *right, const struct value *kept, const struct value *taken)
{
    const bool takes_left = value_is_same(taken, left) && value_is_same(kept, right);
    const bool takes_right = value_is_same(taken, right) && value_is_same(kept, left);
    if ((condition != VALUE_CONDITION_LESS && condition != VALUE_CONDITION_GREATER) ||
        takes_left == takes_right)
        return false;
    const bool is_minimum = takes_left == (condition == VALUE_CONDITION_LESS);
    *chosen = value_combine(is_minimum ? VALUE_MINIMUM : VALUE_MAXIMUM, kept, taken);
    return true;
}
