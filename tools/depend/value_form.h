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

/* What a conditional instruction tells about the operands of the comparison before it. */
enum value_condition {
    VALUE_CONDITION_OTHER,
    VALUE_CONDITION_LESS,    /* it holds only if left <= right, and whenever left < right */
    VALUE_CONDITION_GREATER, /* likewise with >= and > */
    VALUE_CONDITION_EQUAL,
    VALUE_CONDITION_UNEQUAL
};

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

struct value value_add_constant(struct value value, uint64_t constant);

struct value value_combine(enum value_operation operation, const struct value *a,
                           const struct value *b);

/* a - b: b is no base of the result. */
struct value value_subtract(const struct value *a, const struct value *b);

/* Either of them, where two paths meet that begin where `decision` is decided: variables. */
struct value value_join(const struct value *a, const struct value *b, value_set decision);

/* A part of an old value is replaced by a new one. One that depends on nothing is zero. */
struct value value_replace_part(const struct value *old, const struct value *new);

/* A minimum or maximum of two values: `taken` if the condition holds for left and right, else
 * `kept`. False: it is none. */
bool value_choose(struct value *chosen, enum value_condition condition, const struct value *left,
                  const struct value *right, const struct value *kept, const struct value *taken);

#endif
