/*
 * The rules of a capture file beyond its checksums: doc/capture-file.md, "Verifying". Each function
 * compares a member with the previous ones. Returns 0, or BT_DATA for the first contradiction; the
 * message in *error names neither file nor offset.
 */
#ifndef TOOLS_INPUT_TRACE_RULES_H
#define TOOLS_INPUT_TRACE_RULES_H

#include "tools/input/trace_check.h"

/* Checks file->info, the header just read. Begins file->order. */
int trace_rules_header(struct trace_file *file, struct bt_error *error);

/* Checks the next data member, whose records are all in batch. Updates file->order. torn: members
 * before it are missing. */
int trace_rules_data(struct trace_file *file, const struct batch *batch, bool torn,
                     struct bt_error *error);

/* Checks file->totals, the closing member just read, against the fields set by the data members.
 * Updates file->order. torn: members are missing. */
int trace_rules_closing(struct trace_file *file, bool torn, struct bt_error *error);

/*
 * Checks the border of two successive files of a capture, both with headers. order is that of all
 * files up to file.
 */
int trace_rules_seam(const struct trace_file *file, const struct trace_order *order,
                     const struct trace_file *next, struct bt_error *error);

/* Extends order, that of all files before next, by next. */
void trace_rules_advance(struct trace_order *order, const struct trace_file *next);

#endif
