/* A profile in callgrind's format. */
#ifndef TOOLS_PROFILE_PROFILE_CALLGRIND_H
#define TOOLS_PROFILE_PROFILE_CALLGRIND_H

#include "tools/profile/profile_report.h"

/*
 * Writes the profile of all threads together, with reads and writes if the report has them. Costs
 * are at instructions' addresses in their files. Calls of functions that are at work already cost
 * nothing: their first call has it. The caller looks for errors of out. 0 or BT_MEMORY.
 */
int profile_callgrind_write(const struct profile_report *report, FILE *out, struct bt_error *error);

#endif
