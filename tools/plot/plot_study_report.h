/* What the studies' reports have in common: the axis of time, what is missing, data in two forms.
 */
#ifndef TOOLS_PLOT_PLOT_STUDY_REPORT_H
#define TOOLS_PLOT_PLOT_STUDY_REPORT_H

#include "formats/text/json_put.h"
#include "tools/common/table.h"
#include "tools/plot/figure.h"
#include "tools/plot/plot_study.h"
#include "tools/plot/time_bins.h"

#define PLOT_SUBTITLE_BYTES 200u

/* How many bins of time at most: as many as are asked for, or as suit the picture's width, where
 * `usual` do for the usual one. */
size_t plot_study_report_bins(const struct plot_study_settings *settings, size_t usual);

/* An axis of time for all bins. */
struct figure_axis plot_study_report_time_axis(const struct time_bins *time);

/*
 * Intervals of x in which something is missing, from malloc, with room for `more` others behind
 * them; *count of them. NULL and *error without memory.
 */
struct figure_interval *plot_study_report_missing(const struct time_bins *time, size_t more,
                                                  size_t *count, struct bt_error *error);

/* "1,000 requests; 12 are lost; the board was away twice": counted ones, then what is missing. */
void plot_study_report_subtitle(char text[PLOT_SUBTITLE_BYTES], uint64_t counted, const char *what,
                                uint64_t lost, uint64_t gaps);

/* Members of a JSON object: clock, ticks, length of a bin, losses and gaps. */
void plot_study_report_time_json(struct json_put *json, const struct time_bins *time);

/*
 * Prints a table as CSV, or as an object of JSON in which members(), which may be NULL, has put
 * others before. 0 or BT_MEMORY.
 */
int plot_study_report_data(enum plot_form form, const struct table *table, const char *key,
                           void (*members)(struct json_put *json, void *argument),
                           struct bt_error *error);

#endif
