/* The arithmetic of general registers, and the flags that follow from it: part of
 * value_machine.h. Bits of operands above their width are ignored. */
#ifndef TOOLS_WET_VALUES_VALUE_INTEGER_H
#define TOOLS_WET_VALUES_VALUE_INTEGER_H

#include "tools/wet/values/value_machine.h"

static inline uint64_t value_integer_set(struct value_thread *thread, enum value_flags kind,
                                         unsigned width, uint64_t first, uint64_t second,
                                         uint64_t result)
{
    thread->flag_kind = (uint8_t)kind;
    thread->flag_width = (uint8_t)width;
    thread->flag_first = first;
    thread->flag_second = second;
    thread->flag_result = result;
    return result;
}

static inline uint64_t value_integer_add(struct value_thread *thread, unsigned width,
                                         uint64_t first, uint64_t second)
{
    return value_integer_set(thread, VALUE_FLAGS_ADD, width, first, second, first + second);
}

static inline uint64_t value_integer_sub(struct value_thread *thread, unsigned width,
                                         uint64_t first, uint64_t second)
{
    return value_integer_set(thread, VALUE_FLAGS_SUB, width, first, second, first - second);
}

static inline uint64_t value_integer_logic(struct value_thread *thread, unsigned width,
                                           uint64_t result)
{
    return value_integer_set(thread, VALUE_FLAGS_LOGIC, width, 0, 0, result);
}

/* What a condition as in the encoding of jcc is. */
bool value_integer_condition(const struct value_thread *thread, unsigned condition);

/* Computes all operations that value_machine_guess() does not. */
uint64_t value_integer_guess(struct value_thread *thread, const struct value_rule *rule,
                             uint64_t first, uint64_t second);

#endif
