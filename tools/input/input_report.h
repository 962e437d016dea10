/*
 * Reports of errors in traces, for every command that reads them: each goes to standard error
 * and raises the exit status; reading continues.
 */
#ifndef TOOLS_INPUT_INPUT_REPORT_H
#define TOOLS_INPUT_INPUT_REPORT_H

#include "formats/base/error.h"
#include "tools/common/progress.h"

#include <stdint.h>

/* Corrupt places of a file that are reported one by one; further ones are counted. */
#define INPUT_REPORT_MAX 10u

struct input_report {
    int status;          /* the worst exit status so far */
    uint64_t damaged;    /* BT_DATA errors so far */
    uint64_t notes;      /* BT_NOTE errors so far */
    unsigned printed;    /* corrupt places of the current file that were reported, */
    uint64_t suppressed; /* and those beyond INPUT_REPORT_MAX */
    struct progress progress;
};

/* quiet_output: nothing is printed on standard output while records are read. */
void input_report_begin(struct input_report *report, bool quiet_output);
void input_report_end(struct input_report *report);

/* Prints "bustap: message" and raises the exit status to that of the error. */
void input_report_error(struct input_report *report, const struct bt_error *error);

/*
 * Reports and counts what a reader found in its input. Corruption and truncation (BT_DATA) raise
 * the exit status to 1; harmless oddities (BT_NOTE), such as stray bytes after raw records, do not.
 */
void input_report_found(struct input_report *report, const struct bt_error *error);

/* A file has been read: prints how many of its corrupt places were not reported. */
void input_report_end_file(struct input_report *report, const char *path);

#endif
