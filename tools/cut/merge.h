/* Joins the records of several captures in the order of their ticks. */
#ifndef TOOLS_CUT_MERGE_H
#define TOOLS_CUT_MERGE_H

#include "tools/cut/derived_writer.h"
#include "tools/cut/merge_clock.h"
#include "tools/input/input_report.h"
#include "tools/input/input_trace.h"

/* An offset of the user. */
struct merge_file_offset {
    const char *file; /* an operand; not terminated: */
    size_t length;
    struct merge_offset offset;
};

struct merge_settings {
    struct input_trace_settings trace;
    const struct merge_file_offset *offsets;
    size_t offset_count;
    uint64_t clock_hz;   /* of the new file; 0: that of the first input */
    bool by_start;       /* place the inputs by their start times */
    uint64_t processors; /* added to the processors of each input, once more than to those of the
                            input before it; 0: processors stay */
    struct input_report *report; /* gets corruption of the inputs */
};

/*
 * Merges the captures that count files belong to and writes them to fd, whose name is for messages.
 * Records with the same tick are in the order of the files. Sets *counts. 0 or a negative code:
 * BT_USAGE if it is not known how the clocks of two captures are related.
 */
int merge_run(struct derived_counts *counts, int fd, const char *name, int count, char **paths,
              const struct merge_settings *settings, struct bt_error *error);

#endif
