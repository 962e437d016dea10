/* The registers in which a function gets arguments, by its machine code: no call tells. */
#ifndef TOOLS_DEPEND_CALLEE_ARGUMENTS_H
#define TOOLS_DEPEND_CALLEE_ARGUMENTS_H

#include "tools/depend/loop_flow.h"

/* Finds the registers that the function at callee->address may read before it writes them, and
 * whether it is pure. False: not all of its code can be found, there may be more. */
bool callee_arguments_find(loop_flow_read *read, void *context, struct value_callee *callee);

#endif
