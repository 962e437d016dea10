/*
 * Values of registers and stack slots in an iteration of a loop, in terms of the variables at the
 * iteration's head. A variable is a register, a slot, or what an instruction has loaded from
 * memory.
 */
#ifndef TOOLS_DEPEND_VALUE_FORM_H
#define TOOLS_DEPEND_VALUE_FORM_H

#include <stdbool.h>
#include <stdint.h>

#define VALUE_VARIABLES 128u

__extension__ typedef unsigned __int128 value_set; /* bits 1 << variable */

static inline value_set value_set_of(unsigned variable)
{
    return (value_set)1 << variable;
}

#define VALUE_VECTORS   16u /* after the general registers: 32 vector registers, */
#define VALUE_MASKS     48u /* 8 mask registers, */
#define VALUE_X87       56u /* what the x87 stack and MMX registers held at the head */
#define VALUE_FLAGS     57u
#define VALUE_REGISTERS 58u
#define VALUE_SLOTS     38u
#define VALUE_STORED    (VALUE_REGISTERS + VALUE_SLOTS) /* variables that have values */

/* All variables that are loads. */
static inline value_set value_loads(void)
{
    return ~(value_set_of(VALUE_STORED) - 1);
}

/* Associative and commutative operations. */
enum value_operation {
    VALUE_NONE,
    VALUE_ADD,
    VALUE_MULTIPLY,
    VALUE_AND,
    VALUE_OR,
    VALUE_XOR,
    VALUE_MINIMUM,
    VALUE_MAXIMUM,
    VALUE_SELECT /* one of them: a conditional assignment */
};

/*
 * What an operation is done with: two operations are the same only if they are done with the same,
 * as a sum of bytes is another one than a sum of words. The size of the elements of a vector, or of
 * a floating-point number, in bits, plus one of these; bitwise operations have no elements.
 */
enum value_domain {
    VALUE_INTEGER = 0,  /* of a general register: value.bits tells its size */
    VALUE_UNSIGNED = 1, /* of a minimum or maximum */
    VALUE_LANES = 0x100,
    VALUE_UNSIGNED_LANES = 0x200,
    VALUE_FLOAT = 0x400,
    VALUE_BITWISE = 0x800 /* of a vector */
};

/* An operation. */
struct value_kind {
    uint8_t operation; /* enum value_operation */
    uint16_t domain;   /* enum value_domain + bits of an element */
    uint16_t bits;     /* of the operands */
};

bool value_kind_is_equal(struct value_kind a, struct value_kind b);

/* What a conditional instruction tells about the operands of the comparison before it. */
enum value_condition {
    VALUE_CONDITION_OTHER,
    VALUE_CONDITION_LESS,    /* it holds only if left <= right, and whenever left < right */
    VALUE_CONDITION_GREATER, /* likewise with >= and > */
    VALUE_CONDITION_BELOW,   /* these two without signs, and for floating-point numbers */
    VALUE_CONDITION_ABOVE,
    VALUE_CONDITION_EQUAL,
    VALUE_CONDITION_UNEQUAL
};

#define VALUE_WHOLE 512u /* bits: nothing is cut */

/*
 * A value is one of:
 * - a variable plus a constant: is_exact, bases has the variable;
 * - variables combined by an operation with something else: `operation`; each variable of bases is
 *   in it once, `others` are the variables on which the rest depends;
 * - anything else: bases is empty, `others` are the variables on which it depends.
 */
struct value {
    value_set bases, others;
    uint64_t constant; /* of an exact one, modulo 2^64. Otherwise values that are equal are the same
                          if they have the same number here, other than 0 */
    bool is_exact;
    uint8_t operation; /* enum value_operation */
    uint16_t domain;   /* of the operation */
    uint16_t bits;     /* the low ones, for which the above holds; 0: all */
    uint16_t rough;    /* up to here, the bits above these depend on the bases in another way, */
    uint16_t extended; /* or are copies of the highest one. The rest is zero */
};

struct value value_of_variable(unsigned variable);

/* Depends on these variables. */
struct value value_of_set(value_set others);

static inline value_set value_all(const struct value *value)
{
    return value->bases | value->others;
}

bool value_is_equal(const struct value *a, const struct value *b);

/* Equal, and known to be the same number in one iteration. */
bool value_is_same(const struct value *a, const struct value *b);

/* A number that only values that are the same have; 0: such values are not known. */
uint64_t value_identify(const struct value *value);

/* The low bits of a value. */
struct value value_cut(struct value value, unsigned bits);

/* The value is extended by copies of its sign, from bits to others. */
struct value value_extend(struct value value, unsigned bits, unsigned to);

/* Adds a constant to an integer of so many bits. */
struct value value_add_constant(struct value value, uint64_t constant, unsigned bits);

struct value value_combine(struct value_kind kind, const struct value *a, const struct value *b);

/* a - b: b is no base of the result. */
struct value value_subtract(struct value_kind kind, const struct value *a, const struct value *b);

/* The operation by which a value comes from a variable; VALUE_NONE: by none, or no other value of
 * it is left. */
struct value_kind value_kind_of(const struct value *value, value_set variable);

/* Either of them, where two paths meet that begin where `decision` is decided: variables. */
struct value value_join(const struct value *a, const struct value *b, value_set decision);

/* A part of an old value is replaced by a new one. One that depends on nothing is zero. */
struct value value_replace_part(const struct value *old, const struct value *new);

/* What is compared. */
struct value_comparison {
    struct value left, right;
    uint16_t domain, bits; /* of both; the condition tells about signs of integers */
};

/* A minimum or maximum of two values: `taken` if the condition holds for what is compared, else
 * `kept`. False: it is none. */
bool value_choose(struct value *chosen, enum value_condition condition,
                  const struct value_comparison *compared, const struct value *kept,
                  const struct value *taken);

#endif
