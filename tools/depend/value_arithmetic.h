/* Instructions whose result is a known function of their operands. */
#ifndef TOOLS_DEPEND_VALUE_ARITHMETIC_H
#define TOOLS_DEPEND_VALUE_ARITHMETIC_H

#include "tools/depend/value_operand.h"

/* Begins with. */
bool text_begins(const char *text, const char *with);

/* Executes the instruction; false: it is none of these. */
bool value_arithmetic_execute(struct executing *executing);

#endif
