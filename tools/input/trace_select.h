/* Reads a part of traces, chosen by time and filter, and collects its totals. */
#ifndef TOOLS_INPUT_TRACE_SELECT_H
#define TOOLS_INPUT_TRACE_SELECT_H

#include "tools/input/trace_check.h"

/*
 * Reads what the settings select of each path and appends each of its concatenated files, at least
 * one, to set, with header, records, losses, ticks and gaps of the selection: what is not selected
 * may not be read, so that nothing is known of its completeness. The range of time applies to each
 * capture. Reports errors of traces. 0, BT_MEMORY, or BT_USAGE if the settings do not suit a trace;
 * call trace_set_free in any case.
 */
int trace_select(struct trace_set *set, const struct input_paths *paths,
                 const struct record_input_settings *settings, struct input_report *report,
                 struct tally *tally, struct bt_error *error);

#endif
