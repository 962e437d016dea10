/* Reports of `bustap mrc`: text, CSV, JSON. */
#ifndef TOOLS_MRC_MRC_REPORT_H
#define TOOLS_MRC_MRC_REPORT_H

#include "tools/input/record_input.h"
#include "tools/mrc/mrc_study.h"

#include <stdio.h>

/* Input of a report. */
struct mrc_report {
    const struct mrc_study *const *studies; /* one for each line size */
    unsigned count;
    struct mrc_window window;                  /* as in the studies */
    uint64_t clock_hz;                         /* 0: unknown */
    const struct record_input_settings *input; /* what was read */
    unsigned steps;                            /* as in curve_next */
};

/* Prints to standard output. 0 or BT_MEMORY. */
int mrc_report_text(const struct mrc_report *report, struct bt_error *error);
int mrc_report_csv(const struct mrc_report *report, struct bt_error *error);
int mrc_report_json(const struct mrc_report *report, struct bt_error *error);

/* The settings of a study. */
static inline const struct mrc_study_settings *mrc_report_settings(const struct mrc_report *report,
                                                                   unsigned study)
{
    return mrc_study_settings(report->studies[study]);
}

/* Calls put for each series of each study until it fails. */
typedef int mrc_report_series(void *argument, const struct mrc_report *report, unsigned study,
                              unsigned number, struct bt_error *error);
int mrc_report_each(const struct mrc_report *report, mrc_report_series *put, void *argument,
                    struct bt_error *error);

#endif
