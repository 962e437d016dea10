/* The captures of `bustap exec`: one for each used lane. */
#ifndef TOOLS_EXEC_EXEC_OUTPUTS_H
#define TOOLS_EXEC_EXEC_OUTPUTS_H

#include "capture/patience.h"
#include "capture/program/exec_lanes.h"
#include "tools/capture/capture_report.h"
#include "tools/exec/exec_settings.h"

#include <stdio.h>

struct exec_outputs {
    struct exec_settings *settings;
    const char *path; /* of the program */
    struct exec_lanes *lanes;
    struct capture *captures[EXEC_LANES];
    struct exec_user users[EXEC_LANES];
    FILE *summary; /* receives a line of JSON for each capture; NULL: no summary */
    struct capture_report report;
    uint64_t records, seen;   /* of the captures that have ended: written, and offered to them */
    int status;               /* the worst exit status so far */
    struct patience patience; /* with signals that end the program, or the wait for captures */
};

/* Starts the capture of a used lane. 0 or a negative code. */
int exec_outputs_open(struct exec_outputs *outputs, int lane, struct bt_error *error);

/* Starts captures for new lanes, ends those whose process has ended, and concludes those that are
 * complete. Returns whether any capture remains. */
bool exec_outputs_look(struct exec_outputs *outputs);

/* Ends the rings of a process that has ended. */
void exec_outputs_end_process(struct exec_outputs *outputs, pid_t process);

/* After the end of all captures: reports if no record was captured, and why. */
void exec_outputs_report_empty(struct exec_outputs *outputs);

/* Ends all captures; the programs continue uncaptured. */
void exec_outputs_stop(struct exec_outputs *outputs);

/* Ends all captures of a program that was not started, without a report: their threads read the
 * lanes, which must not be freed before. */
void exec_outputs_abandon(struct exec_outputs *outputs);

#endif
