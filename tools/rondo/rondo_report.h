/* Reports of `bustap rondo`: text, CSV, JSON. */
#ifndef TOOLS_RONDO_RONDO_REPORT_H
#define TOOLS_RONDO_RONDO_REPORT_H

#include "tools/profile/functions.h"
#include "tools/rondo/run.h"

struct rondo_report {
    const struct front_end_settings *settings;
    const char *const *names; /* names of the predictors, as the user gave them */
    const struct front_end_totals *totals;
    const struct rondo_results *results;
    uint32_t depth;
    bool store_buffer;          /* wrong paths had a store buffer */
    uint64_t quantum, switches; /* threads: instructions of a time slice, and number of switches */
    const struct branch_table *branches; /* NULL: branches are not counted separately */
    uint32_t top;                        /* maximum number of branches listed; 0: all */
    struct functions *functions;         /* of the program's modules; NULL if branches is NULL */
};

/* These write to out; the caller checks out for errors. 0 or BT_MEMORY. */
int rondo_report_text(const struct rondo_report *report, FILE *out, struct bt_error *error);

/* A single table: the branches if they are counted separately, else the predictors. */
int rondo_report_csv(const struct rondo_report *report, FILE *out, struct bt_error *error);
int rondo_report_json(const struct rondo_report *report, FILE *out, struct bt_error *error);

#endif
