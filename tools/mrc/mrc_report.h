/* What bustap mrc prints: tables for people, comma separated values, JSON. */
#ifndef TOOLS_MRC_MRC_REPORT_H
#define TOOLS_MRC_MRC_REPORT_H

#include "tools/mrc/mrc_study.h"

#include <stdio.h>

/* What is to be reported of. */
struct mrc_report {
    const struct mrc_study *const *studies; /* of each line size */
    unsigned count;
    struct mrc_window window; /* as the studies had it */
    uint64_t clock_hz;        /* 0: not known */
    unsigned steps;           /* as curve_next has it */
};

/* Prints to standard output. 0 or BT_MEMORY. */
int mrc_report_text(const struct mrc_report *report, struct bt_error *error);
int mrc_report_csv(const struct mrc_report *report, struct bt_error *error);
int mrc_report_json(const struct mrc_report *report, struct bt_error *error);

/* The settings that a curve is a curve of. */
static inline const struct mrc_study_settings *mrc_report_settings(const struct mrc_report *report,
                                                                   unsigned study)
{
    return mrc_study_settings(report->studies[study]);
}

/* Calls put for each series of each study, until it fails. */
typedef int mrc_report_series(void *argument, const struct mrc_report *report, unsigned study,
                              unsigned number, struct bt_error *error);
int mrc_report_each(const struct mrc_report *report, mrc_report_series *put, void *argument,
                    struct bt_error *error);

#endif
