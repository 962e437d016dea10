/* Parses option values: line sizes, windows of time, sampling rates. */
#ifndef TOOLS_MRC_MRC_OPTIONS_H
#define TOOLS_MRC_MRC_OPTIONS_H

#include "tools/mrc/job.h"

/* "64" or "32,64,128": distinct powers of two. 0 or BT_USAGE. */
int mrc_options_lines(struct mrc_job *job, const char *text, struct bt_error *error);

/* "10ms", "1000000ticks", or "1M" requests. 0 or BT_USAGE. */
int mrc_options_window(struct mrc_job *job, const char *text, struct bt_error *error);

/* "processor", "kind", or both separated by a comma. 0 or BT_USAGE. */
int mrc_options_by(struct mrc_study_settings *settings, const char *text, struct bt_error *error);

/* "0.01", "1%" or "1/100". 0 or BT_USAGE. */
int mrc_options_sample(struct mrc_study_settings *settings, const char *text,
                       struct bt_error *error);

/* Checks the combination of a job's settings. 0, or BT_USAGE with the combinations allowed. */
int mrc_options_check(const struct mrc_job *job, struct bt_error *error);

#endif
