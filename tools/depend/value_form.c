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
           a->is_exact == b->is_exact && a->operation == b->operation && a->domain == b->domain &&
           a->bits == b->bits && a->rough == b->rough && a->extended == b->extended;
}

bool value_is_same(const struct value *a, const struct value *b)
{
    return value_is_equal(a, b) && value_identify(a) != 0;
}

uint64_t value_identify(const struct value *value)
{
    const uint64_t form =
        (uint64_t)value->bits << 32 | (uint64_t)value->rough << 16 | value->extended;
    if (!value->is_exact)
        return value->constant ? hash_pair(value->constant, form) | UINT64_C(1) << 37 : 0;
    return hash_pair(hash_pair((uint64_t)value->bases ^ (uint64_t)(value->bases >> 64) * 3,
                               value->constant),
                     form) |
           UINT64_C(1) << 32;
}

/* The identity of the result of an operation. */
static uint64_t identify_pair(unsigned operation, uint64_t a, uint64_t b)
{
    return a && b ? (hash_pair(hash_pair(a, b), operation) | UINT64_C(1) << 33) : 0;
}

static unsigned bits_of(const struct value *value)
{
    return value->bits ? value->bits : VALUE_WHOLE;
}

/* Low bits of the result depend on low bits of the operands only. */
static bool is_modular(const struct value *value)
{
    return value->domain == VALUE_INTEGER && value->operation != VALUE_MINIMUM &&
           value->operation != VALUE_MAXIMUM && value->operation != VALUE_SELECT;
}

struct value value_cut(struct value value, unsigned bits)
{
    const unsigned before = bits_of(&value);
    if (bits >= before) {
        value.rough = bits == before ? 0 : value.rough > bits ? (uint16_t)bits : value.rough;
        value.extended = bits == before          ? 0
                         : value.extended > bits ? (uint16_t)bits
                                                 : value.extended;
        return value;
    }
    if (!value.is_exact && value.operation != VALUE_SELECT && !is_modular(&value))
        value = (struct value){.others = value_all(&value), .constant = value.constant};
    value.bits = (uint16_t)bits;
    value.rough = value.extended = 0;
    return value;
}

struct value value_extend(struct value value, unsigned bits, unsigned to)
{
    value = value_cut(value, bits);
    if (value.bits == bits)
        value.extended = (uint16_t)to;
    return value;
}

/* The bits up to which a value of some bits is rough, after an operation on more bits. */
static uint16_t roughen(unsigned bits, unsigned operation)
{
    return bits < operation ? (uint16_t)operation : 0;
}

struct value value_add_constant(struct value value, uint64_t constant, unsigned bits)
{
    const uint64_t identity =
        identify_pair(VALUE_ADD, value_identify(&value), constant | UINT64_C(1) << 63);
    if (!value.is_exact && (value.operation != VALUE_ADD || value.domain != VALUE_INTEGER))
        value = value_of_set(value_all(&value));
    const uint16_t rough = roughen(bits_of(&value), bits);
    if (value.is_exact && rough && (value.rough || value.extended)) {
        value.is_exact = false; /* other values have the same low bits */
        value.operation = VALUE_ADD;
        value.domain = VALUE_INTEGER;
    }
    value.constant = value.is_exact ? value.constant + constant : identity;
    value.rough = rough;
    value.extended = 0;
    return bits < 64 ? value_cut(value, bits) : value;
}

/* Of an operand of the operation: what may be a base of the result, of so many bits. */
static value_set bases_for(struct value_kind kind, const struct value *value, unsigned *bits)
{
    const bool is_plain = value->is_exact && value->constant == 0;
    const bool is_step = value->is_exact && kind.operation == VALUE_ADD && kind.domain == 0;
    const bool is_same =
        !value->is_exact && value->operation == kind.operation && value->domain == kind.domain;
    const struct value result = {.operation = kind.operation, .domain = kind.domain};
    const bool is_cut = bits_of(value) < kind.bits;
    if ((!is_plain && !is_step && !is_same) || value->bases == 0)
        return 0;
    if (is_modular(&result)) {
        *bits = is_cut && value->bits < *bits ? value->bits : *bits;
        return value->bases;
    }
    if (value->rough || is_cut || (is_same && value->bits != kind.bits))
        return 0;
    return value->bases;
}

/* Of two sets of bases the one that holds for fewer bits is none, or else what was loaded. */
static void prefer(value_set *left, unsigned left_bits, value_set *right, unsigned right_bits,
                   unsigned *bits)
{
    const bool is_left_stored = (*left & ~value_loads()) != 0;
    const bool is_right_stored = (*right & ~value_loads()) != 0;
    *bits = left_bits < right_bits ? left_bits : right_bits;
    if (left_bits == right_bits || is_left_stored == is_right_stored || !*left || !*right)
        return;
    *bits = is_left_stored ? left_bits : right_bits;
    *(is_left_stored ? right : left) = 0;
}

struct value value_combine(struct value_kind kind, const struct value *a, const struct value *b)
{
    unsigned bits, left_bits = kind.bits, right_bits = left_bits;
    value_set left = bases_for(kind, a, &left_bits), right = bases_for(kind, b, &right_bits);
    prefer(&left, left_bits, &right, right_bits, &bits);
    const value_set others = (value_all(a) & ~left) | (value_all(b) & ~right) | (left & right);
    const value_set bases = (left | right) & ~others;
    const uint64_t identity = identify_pair(kind.operation, value_identify(a), value_identify(b));
    if (bases == 0)
        return (struct value){.others = others, .constant = identity, .bits = kind.bits};
    return (struct value){.bases = bases,
                          .others = others,
                          .constant = identity,
                          .operation = kind.operation,
                          .domain = kind.domain,
                          .bits = (uint16_t)bits,
                          .rough = roughen(bits, kind.bits)};
}

struct value value_subtract(struct value_kind kind, const struct value *a, const struct value *b)
{
    const struct value rest = value_of_set(value_all(b));
    kind.operation = VALUE_ADD;
    struct value difference = value_combine(kind, a, &rest);
    difference.constant = identify_pair(VALUE_NONE, value_identify(a), value_identify(b));
    return difference;
}

bool value_kind_is_equal(struct value_kind a, struct value_kind b)
{
    return a.operation == b.operation && a.domain == b.domain && a.bits == b.bits;
}

struct value_kind value_kind_of(const struct value *value, value_set variable)
{
    const bool is_base = value->is_exact && value->constant == 0;
    if (is_base || value->rough || !(value->bases & variable))
        return (struct value_kind){.operation = VALUE_NONE};
    return (struct value_kind){
        .operation = value->is_exact ? VALUE_ADD : value->operation,
        .domain = value->domain,
        .bits = value->is_exact && value->bits == 0 ? 64 : value->bits,
    };
}

/* Both come from a base by the same operation, or one of them is the base. */
static bool join_updates(const struct value *a, const struct value *b, value_set base,
                         struct value *joined)
{
    const bool is_first = a->is_exact && a->constant == 0,
               is_second = b->is_exact && b->constant == 0;
    const struct value_kind first = value_kind_of(a, base), second = value_kind_of(b, base);
    const struct value_kind kind = is_first ? second : first;
    if (kind.operation == VALUE_NONE || (!is_second && second.operation == VALUE_NONE) ||
        (!is_first && !is_second && !value_kind_is_equal(first, second)) ||
        (is_first && bits_of(a) < kind.bits) || (is_second && bits_of(b) < kind.bits))
        return false;
    const value_set others = (value_all(a) | value_all(b)) & ~base;
    *joined = (struct value){.bases = base,
                             .others = others,
                             .operation = kind.operation,
                             .domain = kind.domain,
                             .bits = kind.bits};
    return ((a->others | b->others) & base) == 0;
}

/* The value of a variable itself, or of one of several. */
static bool keeps(const struct value *value)
{
    return ((value->is_exact && value->constant == 0) || value->operation == VALUE_SELECT) &&
           bits_of(value) >= 32 && !value->extended;
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

/* A value is what is compared, but for what lies above. */
static bool is_compared(const struct value *value, const struct value *compared, unsigned bits)
{
    const struct value cut = value_cut(*value, bits), other = value_cut(*compared, bits);
    return value_is_same(&cut, &other);
}

/* It has no bits beside those that are compared, by which others could be told from it. */
static bool is_narrow(const struct value *value, unsigned bits)
{
    return bits_of(value) <= bits && !value->rough;
}

/* Of extended values only what was extended is compared. */
static void shrink(struct value_comparison *compared, bool *is_unsigned)
{
    const struct value *left = &compared->left, *right = &compared->right;
    if (left->bits == 0 || left->bits >= compared->bits || left->bits != right->bits ||
        left->extended != right->extended || left->rough || right->rough)
        return;
    *is_unsigned |= left->extended == 0;
    compared->bits = left->bits;
}

bool value_choose(struct value *chosen, enum value_condition condition,
                  const struct value_comparison *operands, const struct value *kept,
                  const struct value *taken)
{
    struct value_comparison compared = *operands;
    const bool is_below = condition == VALUE_CONDITION_LESS || condition == VALUE_CONDITION_BELOW;
    bool is_unsigned = condition == VALUE_CONDITION_BELOW || condition == VALUE_CONDITION_ABOVE;
    const struct value *left = &compared.left, *right = &compared.right;
    if (!is_below && condition != VALUE_CONDITION_GREATER && condition != VALUE_CONDITION_ABOVE)
        return false;
    if (compared.domain == VALUE_INTEGER)
        shrink(&compared, &is_unsigned);
    const unsigned bits = compared.bits;
    const bool takes_left = is_compared(taken, left, bits) && is_compared(kept, right, bits);
    const bool takes_right = is_compared(taken, right, bits) && is_compared(kept, left, bits);
    if (takes_left == takes_right ||
        (bits < 64 && !is_narrow(kept, bits) && !is_narrow(taken, bits)))
        return false;
    const struct value first = value_cut(*kept, bits), second = value_cut(*taken, bits);
    const struct value_kind kind = {
        .operation = takes_left == is_below ? VALUE_MINIMUM : VALUE_MAXIMUM,
        .domain =
            compared.domain == VALUE_INTEGER && is_unsigned ? VALUE_UNSIGNED : compared.domain,
        .bits = (uint16_t)bits,
    };
    *chosen = value_combine(kind, &first, &second);
    return true;
}
