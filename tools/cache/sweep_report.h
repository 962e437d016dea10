/* Reports and figures of `bustap cache --sweep`. */
#ifndef TOOLS_CACHE_SWEEP_REPORT_H
#define TOOLS_CACHE_SWEEP_REPORT_H

#include "tools/cache/study/sweep.h"
#include "tools/input/record_input.h"
#include "tools/plot/figure.h"

#include <stdio.h>

struct sweep_report {
    const struct hierarchy_settings *settings;
    unsigned level; /* the swept level */
    const struct sweep_point *points;
    unsigned count;
    uint64_t records;
    uint64_t warm_records;                     /* of the warm-up, not in records */
    const struct record_input_settings *input; /* what was read */
    uint64_t lost;                             /* requests lost by the capture */
};

/* 0 or BT_MEMORY. JSON goes to standard output. */
int sweep_report_text(const struct sweep_report *report, FILE *out, struct bt_error *error);
int sweep_report_json(const struct sweep_report *report, struct bt_error *error);
int sweep_report_csv(const struct sweep_report *report, FILE *out, struct bt_error *error);

/* Draws miss ratios over sizes, one curve for each line size and associativity. 0, or the error of
 * figure_write. */
int sweep_report_plot(const struct sweep_report *report, const struct figure_output *output,
                      struct bt_error *error);

#endif
