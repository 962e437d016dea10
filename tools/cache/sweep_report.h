/* What `bustap cache --sweep` prints and draws. */
#ifndef TOOLS_CACHE_SWEEP_REPORT_H
#define TOOLS_CACHE_SWEEP_REPORT_H

#include "tools/cache/sweep.h"
#include "tools/plot/figure.h"

#include <stdio.h>

struct sweep_report {
    const struct hierarchy_settings *settings;
    unsigned level; /* that was swept over */
    const struct sweep_point *points;
    unsigned count;
    uint64_t records;
    uint64_t lost; /* when they were captured */
};

/* 0 or BT_MEMORY. JSON goes to standard output, as json_print has it. */
int sweep_report_text(const struct sweep_report *report, FILE *out, struct bt_error *error);
int sweep_report_json(const struct sweep_report *report, struct bt_error *error);
int sweep_report_csv(const struct sweep_report *report, FILE *out, struct bt_error *error);

/* Miss ratios over sizes, a curve for each line size and associativity. 0 or what figure_write
 * says. */
int sweep_report_plot(const struct sweep_report *report, const struct figure_output *output,
                      struct bt_error *error);

#endif
