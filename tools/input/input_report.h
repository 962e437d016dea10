/*
 * Reports of errors in traces, for every command that reads them: each goes to standard error
 * and raises the exit status; reading continues.
 */
#ifndef TOOLS_INPUT_INPUT_REPORT_H
#define TOOLS_INPUT_INPUT_REPORT_H

#include "formats/base/error.h"
#include "tools/common/progress.h"

#include <stdint.h>

/* Maximum number of corrupt places reported per file; further ones are only counted. */
#define INPUT_REPORT_MAX 10u

struct input_report {
    int status;          /* the worst exit status so far */
    uint64_t damaged;    /* number of BT_DATA errors so far */
    uint64_t notes;      /* number of BT_NOTE errors so far */
    unsigned printed;    /* corrupt places of the current file that were reported */
    uint64_t suppressed; /* corrupt places of the current file beyond INPUT_REPORT_MAX */
    struct progress progress;
};

/* quiet_output: the command prints nothing to standard output while it reads records. */
void input_report_begin(struct input_report *report, bool quiet_output);
void input_report_end(struct input_report *report);

/* Prints "bustap: message" and raises the exit status to that of the error. */
void input_report_error(struct input_report *report, const struct bt_error *error);

/*
 * Reports and counts an error that a reader found in its input. Corruption and truncation (BT_DATA)
 * raise the exit status to 1; harmless deviations (BT_NOTE), such as extra bytes after raw records,
 * do not.
 */
void input_report_found(struct input_report *report, const struct bt_error *error);

/* Ends a file: prints the number of its corrupt places that were not reported. */
void input_report_end_file(struct input_report *report, const char *path);

#endif
