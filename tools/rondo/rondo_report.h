/* What `bustap rondo` tells of a run: for people, as comma separated values, or as JSON. */
#ifndef TOOLS_RONDO_RONDO_REPORT_H
#define TOOLS_RONDO_RONDO_REPORT_H

#include "tools/profile/functions.h"
#include "tools/rondo/run.h"

struct rondo_report {
    const struct front_end_settings *settings;
    const char *const *names; /* of the predictors, as they were asked for */
    const struct front_end_totals *totals;
    const struct rondo_results *results;
    uint32_t depth;
    bool store_buffer;          /* wrong paths had one */
    uint64_t quantum, switches; /* of threads: instructions of a turn, and how many passed on */
    const struct branch_table *branches; /* NULL: not one by one */
    uint32_t top;                        /* so many at most; 0: all */
    struct functions *functions;         /* with the program's modules; NULL without branches */
};

/* Each writes to out, whose errors the caller looks for. 0 or BT_MEMORY. */
int rondo_report_text(const struct rondo_report *report, FILE *out, struct bt_error *error);

/* One table: the branches, if they were counted one by one; else the predictors. */
int rondo_report_csv(const struct rondo_report *report, FILE *out, struct bt_error *error);
int rondo_report_json(const struct rondo_report *report, FILE *out, struct bt_error *error);

#endif
