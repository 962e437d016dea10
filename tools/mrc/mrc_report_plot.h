/* The picture of a study: curves, or what happens over windows of time. */
#ifndef TOOLS_MRC_MRC_REPORT_PLOT_H
#define TOOLS_MRC_MRC_REPORT_PLOT_H

#include "tools/mrc/mrc_report.h"
#include "tools/plot/figure.h"

#define MRC_REPORT_PLOT_SERIES_MAX                                                                 \
    48u /* of what there is more is left out, and the title says so */

/* Draws it. 0 or a negative code. */
int mrc_report_plot(const struct mrc_report *report, const struct figure_output *output,
                    struct bt_error *error);

#endif
