/* Which operation of the machine that guesses (value_rule.h) an instruction's mnemonic is. */
#ifndef TOOLS_WET_VALUES_VALUE_OPERATIONS_H
#define TOOLS_WET_VALUES_VALUE_OPERATIONS_H

#include <stdbool.h>
#include <stdint.h>

/* Mnemonics are ZydisMnemonic; movsd and cmpsd are of strings, or of vectors. VALUE_UNKNOWN: none.
 */
uint8_t value_operation_of(unsigned mnemonic, bool is_string);

/* Whether a scalar operation is one of floats, not doubles: addss, cvtsi2ss. */
bool value_operation_is_float(unsigned mnemonic);

/* Bytes of the element that a broadcast repeats. */
uint8_t value_operation_element(unsigned mnemonic);

/* The condition of setcc as in its encoding. */
uint8_t value_operation_condition(unsigned mnemonic);

#endif
