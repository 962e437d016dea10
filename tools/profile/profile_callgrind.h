/* A profile in Callgrind's format. */
#ifndef TOOLS_PROFILE_PROFILE_CALLGRIND_H
#define TOOLS_PROFILE_PROFILE_CALLGRIND_H

#include "tools/profile/profile_report.h"

/*
 * Writes the sum of all threads, with reads and writes if the report has them. Cost lines have the
 * instructions' addresses in their files. Recursive calls have no cost: the outermost call has it.
 * The caller checks out for errors. 0 or BT_MEMORY.
 */
int profile_callgrind_write(const struct profile_report *report, FILE *out, struct bt_error *error);

#endif
