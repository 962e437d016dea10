#include "tools/plot/plot_study_report.h"

#include "formats/base/quantity.h"
#include "tools/common/json_report.h"
#include "tools/plot/axis.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

size_t plot_study_report_bins(const struct plot_study_settings *settings, size_t usual)
{
    size_t suitable = usual * settings->width / FIGURE_WIDTH;
    if (settings->bins > 0)
        return settings->bins;
    return suitable < TIME_BINS_MIN ? TIME_BINS_MIN : suitable;
}

double plot_study_report_position(const struct plot_study_settings *settings,
                                  const struct time_bins *time, size_t bin)
{
    const double origin = settings->input->time.given ? (double)time->origin : 0;
    return time_bins_position(time, bin) +
           (time->clock_hz > 0 ? origin / (double)time->clock_hz : origin);
}

struct figure_axis plot_study_report_time_axis(const struct plot_study_settings *settings,
                                               const struct time_bins *time)
{
    bool seconds = time->clock_hz > 0;
    bool part = settings->input->time.given;
    size_t count = time_bins_count(time);
    return (struct figure_axis){
        .label = part
                     ? (seconds ? "time since the trace began" : "ticks")
                     : (seconds ? "time since the first request" : "ticks since the first request"),
        .unit = seconds ? FIGURE_SECONDS : FIGURE_NUMBER,
        .from = plot_study_report_position(settings, time, 0),
        .to = plot_study_report_position(settings, time, count > 0 ? count : 1)};
}

struct figure_interval *plot_study_report_missing(const struct plot_study_settings *settings,
                                                  const struct time_bins *time, size_t more,
                                                  size_t *count, struct bt_error *error)
{
    struct time_missing missing;
    struct figure_interval *intervals = calloc(time->limit + more, sizeof *intervals);
    *count = 0;
    if (!intervals) {
        bt_fail(error, BT_MEMORY, "no memory for a figure");
        return NULL;
    }
    for (size_t bin = 0; time_bins_missing(time, bin, &missing); bin = missing.last + 1)
        intervals[(*count)++] = (struct figure_interval){
            .from = plot_study_report_position(settings, time, missing.first),
            .to = plot_study_report_position(settings, time, missing.last + 1)};
    return intervals;
}

void plot_study_report_subtitle(char text[PLOT_SUBTITLE_BYTES], uint64_t counted, const char *what,
                                uint64_t lost, uint64_t gaps)
{
    char number[QUANTITY_TEXT_BYTES];
    int size = snprintf(text, PLOT_SUBTITLE_BYTES, "%s %s", quantity_text(number, counted), what);
    if (lost > 0 && size < (int)PLOT_SUBTITLE_BYTES)
        size += snprintf(text + size, PLOT_SUBTITLE_BYTES - (size_t)size, "; %s %s lost",
                         quantity_text(number, lost), lost == 1 ? "was" : "were");
    if (gaps > 0 && size < (int)PLOT_SUBTITLE_BYTES)
        snprintf(text + size, PLOT_SUBTITLE_BYTES - (size_t)size, "; %s %s",
                 quantity_text(number, gaps), gaps == 1 ? "gap" : "gaps");
}

void plot_study_report_cell(char label[PLOT_LABEL_BYTES], const char *what,
                            const struct time_bins *time, uint64_t bytes)
{
    char height[AXIS_LABEL_BYTES];
    char width[AXIS_LABEL_BYTES];
    double ticks = ldexp(1, (int)time->shift);
    bool seconds = time->clock_hz > 0;
    axis_label(height, FIGURE_BYTES, (double)bytes);
    axis_label(width, seconds ? FIGURE_SECONDS : FIGURE_NUMBER,
               seconds ? ticks / (double)time->clock_hz : ticks);
    snprintf(label, PLOT_LABEL_BYTES, "%s per %s and %s%s", what, height, width,
             seconds            ? ""
             : time->shift == 0 ? " tick"
                                : " ticks");
}

void plot_study_report_time_json(struct json_put *json, const struct time_bins *time)
{
    size_t count = time_bins_count(time);
    if (time->clock_hz > 0)
        json_count(json, "clock_hz", time->clock_hz);
    else
        json_null(json, "clock_hz");
    json_count(json, "first_tick", time->origin);
    json_count(json, "last_tick", time->end);
    json_count(json, "bins", count);
    json_count(json, "bin_ticks", UINT64_C(1) << time->shift);
    json_count(json, "lost", time->lost);
    json_count(json, "gaps", time->gaps);
}

int plot_study_report_data(enum plot_form form, const struct table *table, const char *key,
                           void (*members)(struct json_put *json, void *argument),
                           struct bt_error *error)
{
    if (form == PLOT_CSV)
        table_print_csv(table, stdout);
    if (form != PLOT_JSON)
        return 0;
    struct json_put *json = json_report_begin(stdout);
    if (!json)
        return bt_fail(error, BT_MEMORY, "no memory for JSON");
    if (members)
        members(json, table->argument);
    table_json(table, key, json);
    json_report_end(json);
    return 0;
}
