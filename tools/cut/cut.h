/* Copies a part of a trace into a capture file. */
#ifndef TOOLS_CUT_CUT_H
#define TOOLS_CUT_CUT_H

#include "tools/cut/derived_writer.h"
#include "tools/input/record_input.h"

struct cut_settings {
    struct record_input_settings input; /* its trace, time, first, count and filter */
    struct input_report *report;        /* gets corruption of the input */
};

/*
 * Cuts count files of one capture, or a trace of another format, and writes the part to fd, whose
 * name is for messages. Sets *counts. 0 or a negative code: BT_USAGE if the files are of several
 * captures or the times need a clock that is unknown.
 */
int cut_run(struct derived_counts *counts, int fd, const char *name, int count, char **paths,
            const struct cut_settings *settings, struct bt_error *error);

#endif
