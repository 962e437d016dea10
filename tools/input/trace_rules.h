/*
 * The rules of a capture file beyond its checksums: doc/capture-file.md, "Verifying". Each function
 * compares a member with those before it. 0, or BT_DATA for the first contradiction, with a
 * sentence without file and offset in *error.
 */
#ifndef TOOLS_INPUT_TRACE_RULES_H
#define TOOLS_INPUT_TRACE_RULES_H

#include "tools/input/trace_check.h"

/* file->info has just been read. Begins file->order. */
int trace_rules_header(struct trace_file *file, struct bt_error *error);

/* A data member with all of its records comes next in the file. Updates file->order. torn: members
 * before it are missing. */
int trace_rules_data(struct trace_file *file, const struct batch *batch, bool torn,
                     struct bt_error *error);

/* file->totals has just been read; the file's other fields are those of its data members. Updates
 * file->order. torn: members are missing. */
int trace_rules_closing(struct trace_file *file, bool torn, struct bt_error *error);

/*
 * file is the one before next in the same capture, both with headers; order is that of all files
 * up to file.
 */
int trace_rules_seam(const struct trace_file *file, const struct trace_order *order,
                     const struct trace_file *next, struct bt_error *error);

/* Makes order, of all files up to some file, that of all files up to next. */
void trace_rules_advance(struct trace_order *order, const struct trace_file *next);

#endif
