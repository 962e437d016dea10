/* The registers in which a function gets arguments, by its machine code: no call tells. */
#ifndef TOOLS_DEPEND_CALLEE_ARGUMENTS_H
#define TOOLS_DEPEND_CALLEE_ARGUMENTS_H

#include "tools/depend/loop_flow.h"

/* Finds the registers that the function at an address may read before it writes them: variables
 * of value_flow.h. False: not all of its code can be found, there may be more. */
bool callee_arguments_find(loop_flow_read *read, void *context, uint64_t callee,
                           value_set *registers);

#endif
