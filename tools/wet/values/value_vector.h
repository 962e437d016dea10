/*
 * The vector registers of the machine that guesses (value_machine.h): moves, integer lanes, scalar
 * floating point.
 *
 * Floating point is that of IEEE 754, rounded to nearest, which C's operators are on x86-64; what
 * the standard leaves open (bits of a NaN) is made the same everywhere.
 */
#ifndef TOOLS_WET_VALUES_VALUE_VECTOR_H
#define TOOLS_WET_VALUES_VALUE_VECTOR_H

#include "tools/wet/values/value_machine.h"

/* Operations, from VALUE_VECTOR on. Those on integers have four numbers, for elements of 1, 2, 4
 * and 8 bytes. */
enum value_lanes {
    VALUE_LANES_MOVE = VALUE_VECTOR, /* the second operand, extended by zeros */
    VALUE_LANES_FROM_GENERAL,        /* the same, from a general register */
    VALUE_LANES_MERGE,               /* its lowest bytes; the rest is of the first one */
    VALUE_LANES_FROM_UPPER, /* its upper half, as the lower one: movhlps, movhps to memory */
    VALUE_LANES_TO_UPPER,   /* its lower half, as the upper one: movlhps, movhps */
    VALUE_LANES_REPEAT,     /* its lowest bytes, as often as there is room: broadcasts */
    VALUE_LANES_REPEAT_GENERAL,
    VALUE_LANES_AND,
    VALUE_LANES_AND_NOT,
    VALUE_LANES_OR,
    VALUE_LANES_XOR,
    VALUE_LANES_ADD, /* integers, of bytes, 2, 4, 8 */
    VALUE_LANES_SUB = VALUE_LANES_ADD + 4,
    VALUE_LANES_EQUAL = VALUE_LANES_SUB + 4,
    VALUE_LANES_GREATER = VALUE_LANES_EQUAL + 4,
    VALUE_LANES_UNPACK_LOW = VALUE_LANES_GREATER + 4,
    VALUE_LANES_UNPACK_HIGH = VALUE_LANES_UNPACK_LOW + 4,
    VALUE_LANES_SHIFT_LEFT = VALUE_LANES_UNPACK_HIGH + 4, /* by a constant */
    VALUE_LANES_SHIFT_RIGHT = VALUE_LANES_SHIFT_LEFT + 4,
    VALUE_LANES_MIN = VALUE_LANES_SHIFT_RIGHT + 4, /* unsigned */
    VALUE_LANES_MAX = VALUE_LANES_MIN + 4,
    VALUE_LANES_BYTES_LEFT = VALUE_LANES_MAX + 4, /* pslldq */
    VALUE_LANES_BYTES_RIGHT,
    VALUE_LANES_SHUFFLE,   /* pshufd */
    VALUE_LANES_SIGNS,     /* pmovmskb */
    VALUE_LANES_FLOAT_ADD, /* of the lowest element, 4 or 8 bytes in second_width */
    VALUE_LANES_FLOAT_SUB,
    VALUE_LANES_FLOAT_MUL,
    VALUE_LANES_FLOAT_DIV,
    VALUE_LANES_FROM_INTEGER, /* of a general register or memory; the result has `condition` bytes
                               */
    VALUE_LANES_TO_INTEGER,   /* truncated */
    VALUE_LANES_TO_DOUBLE,
    VALUE_LANES_TO_FLOAT,
    VALUE_LANES_COMPARE, /* comisd: flags */
    VALUE_LANES_END
};

/* Guesses into machine->words; returns the first. */
uint64_t value_vector_guess(struct value_machine *machine, const struct value_rule *rule);

/* Writes a vector register. */
void value_vector_settle(struct value_machine *machine, const struct value_rule *rule,
                         const uint64_t *value);

#endif
