/* Common parts of the studies' reports: time axis, missing intervals, data as CSV or JSON. */
#ifndef TOOLS_PLOT_PLOT_STUDY_REPORT_H
#define TOOLS_PLOT_PLOT_STUDY_REPORT_H

#include "formats/text/json_put.h"
#include "formats/text/table.h"
#include "tools/plot/figure.h"
#include "tools/plot/plot_study.h"
#include "tools/plot/time_bins.h"

#define PLOT_SUBTITLE_BYTES 200u
#define PLOT_LABEL_BYTES    100u

/* Maximum number of bins: as requested, or scaled with the picture's width from `usual` for the
 * default width. */
size_t plot_study_report_bins(const struct plot_study_settings *settings, size_t usual);

/* Start of a bin on the axis of time: since the first request, or since tick 0 if the settings
 * choose a part of the trace; in seconds, or in ticks without a clock. */
double plot_study_report_position(const struct plot_study_settings *settings,
                                  const struct time_bins *time, size_t bin);

/* A time axis for all bins. */
struct figure_axis plot_study_report_time_axis(const struct plot_study_settings *settings,
                                               const struct time_bins *time);

/* Allocates the intervals of x in which records are missing, with room for `more` others; *count
 * becomes their number. NULL and *error without memory. */
struct figure_interval *plot_study_report_missing(const struct plot_study_settings *settings,
                                                  const struct time_bins *time, size_t more,
                                                  size_t *count, struct bt_error *error);

/* "1,000 requests; 12 were lost; 2 gaps": number of items, losses and gaps. */
void plot_study_report_subtitle(char text[PLOT_SUBTITLE_BYTES], uint64_t counted, const char *what,
                                uint64_t lost, uint64_t gaps);

/* "requests per 4 KiB and 1.05 ms": what a cell of bytes and a bin of time counts, and in which
 * units. */
void plot_study_report_cell(char label[PLOT_LABEL_BYTES], const char *what,
                            const struct time_bins *time, uint64_t bytes);

/* Puts clock, ticks, length of a bin, losses and gaps as members of a JSON object. */
void plot_study_report_time_json(struct json_put *json, const struct time_bins *time);

/* Prints a table as CSV, or as a JSON object that begins with the members put by members(), which
 * may be NULL. 0 or BT_MEMORY. */
int plot_study_report_data(enum plot_form form, const struct table *table, const char *key,
                           void (*members)(struct json_put *json, void *argument),
                           struct bt_error *error);

#endif
