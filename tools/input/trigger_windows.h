/* Reports of the windows that the files of a trigger hold. */
#ifndef TOOLS_INPUT_TRIGGER_WINDOWS_H
#define TOOLS_INPUT_TRIGGER_WINDOWS_H

#include "tools/common/json_report.h"
#include "tools/input/trace_check.h"

/* Prints a line for each of count files that holds a window, with the indices of its matches in the
 * whole stream; the first line begins with a label. */
void trigger_windows_print(const struct trace_file *files, size_t count);

/* "windows": [{"path": ..., "file_number": 1, "snapshot": false, "records": 12, "omitted": 34,
 * "matches": 1, "first_match_index": ..., ...}] */
void trigger_windows_json(struct json_put *json, const struct trace_file *files, size_t count);

#endif
