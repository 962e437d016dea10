/* Checks what wet_flow.h says against the processor: what an instruction changes, it defines. */
#ifndef TESTS_SUPPORT_WET_CHANGES_H
#define TESTS_SUPPORT_WET_CHANGES_H

#include "tests/support/wet_flow.h"

/* Describes a register or flag that has changed and is not defined; false: there is none. */
bool wet_changes_find(const struct random_instruction *made, const struct wet_flow *flow,
                      const struct machine *before, const struct machine *after, char what[64]);

#endif
