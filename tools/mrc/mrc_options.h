/* What users write for a study of reuse: line sizes, windows of time, rates. */
#ifndef TOOLS_MRC_MRC_OPTIONS_H
#define TOOLS_MRC_MRC_OPTIONS_H

#include "tools/mrc/job.h"

/* "64" or "32,64,128": powers of two, each once. 0 or BT_USAGE. */
int mrc_options_lines(struct mrc_job *job, const char *text, struct bt_error *error);

/* "10ms", "1000000ticks", "1M" requests: the job's window. 0 or BT_USAGE. */
int mrc_options_window(struct mrc_job *job, const char *text, struct bt_error *error);

/* "processor", "kind", or both with a comma between. 0 or BT_USAGE. */
int mrc_options_by(struct mrc_study_settings *settings, const char *text, struct bt_error *error);

/* "0.01", "1%" or "1/100". 0 or BT_USAGE. */
int mrc_options_sample(struct mrc_study_settings *settings, const char *text,
                       struct bt_error *error);

/* Whether the settings of a job make sense together. 0 or BT_USAGE, with what would. */
int mrc_options_check(const struct mrc_job *job, struct bt_error *error);

#endif
