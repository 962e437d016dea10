/* The captures of `bustap exec`: one for each lane that is in use. */
#ifndef TOOLS_EXEC_EXEC_OUTPUTS_H
#define TOOLS_EXEC_EXEC_OUTPUTS_H

#include "capture/program/exec_lanes.h"
#include "tools/capture/capture_report.h"
#include "tools/exec/exec_settings.h"

#include <stdio.h>

struct exec_outputs {
    struct exec_settings *settings;
    struct exec_lanes *lanes;
    struct capture *captures[EXEC_LANES];
    struct exec_user users[EXEC_LANES];
    FILE *summary; /* a line of JSON for each; NULL: nobody wants it */
    struct capture_report report;
    int status; /* the worst so far: 0, or a command's */
};

/* Begins the capture of a lane that is in use. 0 or a negative code. */
int exec_outputs_open(struct exec_outputs *outputs, int lane, struct bt_error *error);

/* Looks after all: begins those of new lanes, ends those whose process is gone, concludes those
 * that have ended. Whether any is left. */
bool exec_outputs_look(struct exec_outputs *outputs);

/* A process has ended: nothing will come of it. */
void exec_outputs_end_process(struct exec_outputs *outputs, pid_t process);

/* Ends all captures; programs go on without. */
void exec_outputs_stop(struct exec_outputs *outputs);

#endif
