/* Prints a report about a WET trace: text, JSON or comma separated values. */
#ifndef TOOLS_WET_WET_REPORT_WRITE_H
#define TOOLS_WET_WET_REPORT_WRITE_H

#include "tools/wet/wet_report.h"

#include <stdio.h>

enum wet_report_format { WET_REPORT_TEXT, WET_REPORT_JSON, WET_REPORT_CSV };

/* top: how many instructions each list has at most. The caller checks the stream for errors. 0 or
 * BT_MEMORY. */
int wet_report_write(const struct wet_report *report, enum wet_report_format format, uint64_t top,
                     FILE *out, struct bt_error *error);

#endif
