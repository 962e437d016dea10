#include "tools/depend/value_form.h"

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

#define CLOBBERED UINT64_MAX /* the identity of such values */

struct value value_clobbered(void)
{
    return (struct value){.constant = CLOBBERED};
}

bool value_is_clobbered(const struct value *value)
{
    return !value->is_exact && value->constant == CLOBBERED;
}

struct value value_add_constant(struct value value, uint64_t constant)
{
    if (value.is_exact)
        value.constant += constant;
    else if (value.operation != VALUE_ADD)
        return value_of_set(value_all(&value));
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
    if (bases == 0)
        return value_of_set(others);
    return (struct value){.bases = bases, .others = others, .operation = (uint8_t)operation};
}

struct value value_subtract(const struct value *a, const struct value *b)
{
    const struct value rest = value_of_set(value_all(b));
    return value_combine(VALUE_ADD, a, &rest);
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

static bool is_variable(const struct value *value)
{
    return value->is_exact && value->constant == 0;
}

struct value value_join(const struct value *a, const struct value *b, bool are_compared)
{
    const value_set all = value_all(a) | value_all(b);
    struct value joined;
    if (value_is_equal(a, b))
        return *a;
    for (value_set rest = a->bases & b->bases; rest != 0; rest &= rest - 1)
        if (join_updates(a, b, rest & -rest, &joined))
            return joined;
    /* one path keeps a variable, the other one assigns something else */
    const value_set kept =
        (keeps(a) ? a->bases & ~value_all(b) : 0) | (keeps(b) ? b->bases & ~value_all(a) : 0);
    const bool is_extreme = are_compared && (is_variable(a) || is_variable(b));
    if (kept != 0)
        return (struct value){.bases = kept,
                              .others = all & ~kept,
                              .operation = is_extreme ? VALUE_EXTREME : VALUE_SELECT};
    return value_of_set(all);
}
