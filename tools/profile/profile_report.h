/* Reports of `bustap profile`: tables by function, source line, block and module. */
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
    unsigned by[PROFILE_BYS]; /* enum profile_by, in printing order */
    unsigned by_count;
    bool usual;   /* the default tables: lines are omitted if none is known */
    uint64_t top; /* maximum number of rows of each table */
    bool threads; /* list threads separately */
    bool data;    /* include reads and writes */
    bool csv, json;
    uint64_t quantum, switches; /* threads: instructions of a time slice, and number of switches */
};

/* The name of a table in the option --by. */
const char *profile_by_name(enum profile_by by);

/* Prints the report; the caller checks out for errors. 0 or BT_MEMORY. */
int profile_report_print(const struct profile_report *report, FILE *out, struct bt_error *error);

#endif
