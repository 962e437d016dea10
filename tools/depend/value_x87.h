/* Instructions of the x87 unit: its stack holds sums of long double. */
#ifndef TOOLS_DEPEND_VALUE_X87_H
#define TOOLS_DEPEND_VALUE_X87_H

#include "tools/depend/value_operand.h"

void value_x87_execute(struct executing *executing);

#endif
