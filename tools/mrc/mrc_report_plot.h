/* The picture of a study: miss-ratio curves, or values over windows of time. */
#ifndef TOOLS_MRC_MRC_REPORT_PLOT_H
#define TOOLS_MRC_MRC_REPORT_PLOT_H

#include "tools/mrc/mrc_report.h"
#include "tools/plot/figure.h"

#define MRC_REPORT_PLOT_SERIES_MAX 48u /* further curves are left out, and the title says so */

/* 0 or a negative code. */
int mrc_report_plot(const struct mrc_report *report, const struct figure_output *output,
                    struct bt_error *error);

#endif
