/* What a profile tells: tables by function, source line, block and module. */
#ifndef TOOLS_PROFILE_PROFILE_REPORT_H
#define TOOLS_PROFILE_PROFILE_REPORT_H

#include "tools/profile/profiler.h"

#include <stdio.h>

enum profile_by { PROFILE_BY_FUNCTION, PROFILE_BY_LINE, PROFILE_BY_BLOCK, PROFILE_BY_MODULE };
#define PROFILE_BYS 4u

struct profile_report {
    struct functions *functions;
    const struct profiler *profiler;
    const char *program;
    const char *ended;        /* "exit status 0", "signal 11" */
    unsigned by[PROFILE_BYS]; /* enum profile_by, in the order in which they are shown */
    unsigned by_count;
    bool usual;   /* nobody has asked for just these: lines are left out if none is known */
    uint64_t top; /* rows of each */
    bool threads; /* each apart */
    bool data;    /* reads and writes, too */
    bool csv, json;
    uint64_t quantum, switches; /* of threads: instructions of a turn, and how many passed on */
};

/* The name of a table, as --by has it. */
const char *profile_by_name(enum profile_by by);

/* Prints it; the caller looks for errors of out. 0 or BT_MEMORY. */
int profile_report_print(const struct profile_report *report, FILE *out, struct bt_error *error);

#endif
