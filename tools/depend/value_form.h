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
    VALUE_EXTREME, /* a minimum or maximum, by comparing */
    VALUE_SELECT   /* one of them: a conditional assignment */
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
    uint64_t constant; /* of an exact one, modulo 2^64 */
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

struct value value_add_constant(struct value value, uint64_t constant);

struct value value_combine(enum value_operation operation, const struct value *a,
                           const struct value *b);

/* a - b: b is no base of the result. */
struct value value_subtract(const struct value *a, const struct value *b);

/* Either of them, where two paths meet. are_compared: with one another. */
struct value value_join(const struct value *a, const struct value *b, bool are_compared);

/* What a call leaves in a register that it need not preserve. */
struct value value_clobbered(void);
bool value_is_clobbered(const struct value *value);

#endif
