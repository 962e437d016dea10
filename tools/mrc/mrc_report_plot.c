#include "tools/mrc/mrc_report_plot.h"

#include "formats/base/grow.h"
#include "formats/base/quantity.h"
#include "tools/cache/model/replacement.h"
#include "tools/mrc/buckets.h"
#include "tools/mrc/curve.h"
#include "tools/mrc/sample.h"
#include "tools/plot/axis.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define STEPS      8u /* sizes drawn for each power of two */
#define NAME_BYTES 96u
#define SIZES_MAX  6u /* cache sizes drawn over windows of time */

/* A curve of the picture under construction. */
struct curve_line {
    char name[NAME_BYTES];   /* of the series: its colour */
    char second[NAME_BYTES]; /* size of lines or caches: its dashes */
    double *x, *y;
    double *low, *high; /* of a sample: confidence interval around each y; else NULL */
    size_t count;
    size_t x_capacity, y_capacity, low_capacity, high_capacity;
};

struct picture {
    struct curve_line lines[MRC_REPORT_PLOT_SERIES_MAX];
    size_t count;
    bool more; /* lines were left out */
};

static void free_picture(struct picture *picture)
{
    for (size_t i = 0; i < MRC_REPORT_PLOT_SERIES_MAX; i++) {
        free(picture->lines[i].x);
        free(picture->lines[i].y);
        free(picture->lines[i].low);
        free(picture->lines[i].high);
    }
    free(picture);
}

/* Appends a number; *count is the number of elements. */
static int add_number(double **numbers, size_t *capacity, size_t count, double number,
                      struct bt_error *error)
{
    double *grown = grow_array(*numbers, capacity, count + 1, sizeof *grown);
    if (!grown)
        return bt_fail(error, BT_MEMORY, "no memory for a picture");
    grown[count] = number;
    *numbers = grown;
    return 0;
}

static int add_point(struct curve_line *line, double x, double y, struct bt_error *error)
{
    int result = add_number(&line->x, &line->x_capacity, line->count, x, error);
    if (result == 0)
        result = add_number(&line->y, &line->y_capacity, line->count, y, error);
    line->count += result == 0;
    return result;
}

/* Sets the confidence interval of a curve's last point; either all points have one or none. */
static int add_interval(struct curve_line *line, const struct curve_interval *interval,
                        struct bt_error *error)
{
    size_t last = line->count - 1;
    int result = add_number(&line->low, &line->low_capacity, last, interval->low, error);
    if (result == 0)
        result = add_number(&line->high, &line->high_capacity, last, interval->high, error);
    return result;
}

/* Begins a curve named after its series. NULL if there are too many. */
static struct curve_line *add_line(struct picture *picture, const struct mrc_report *report,
                                   unsigned study, unsigned number, const char *more)
{
    const struct mrc_study_settings *settings = mrc_report_settings(report, study);
    const struct series_name name = mrc_study_series_name(settings, number);
    char processor[24] = "";
    char bytes[AXIS_LABEL_BYTES];
    picture->more = picture->more || picture->count == MRC_REPORT_PLOT_SERIES_MAX;
    if (picture->more)
        return NULL;
    struct curve_line *line = &picture->lines[picture->count++];
    /* without several sizes of lines, dashes tell kinds apart */
    const bool dashes = report->count == 1 && name.kind && (name.processor >= 0 || name.cache);
    const char *texts[] = {processor, name.cache, dashes ? NULL : name.kind};
    if (name.processor >= 0)
        snprintf(processor, sizeof processor, "processor %d", name.processor);
    size_t length = 0;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (texts[i] && *texts[i] && length < NAME_BYTES)
            length += (size_t)snprintf(line->name + length, NAME_BYTES - length, "%s%s",
                                       length > 0 ? ", " : "", texts[i]);
    if (dashes)
        snprintf(line->second, NAME_BYTES, "%s", name.kind);
    else
        snprintf(line->second, NAME_BYTES, "lines of %s",
                 axis_label(bytes, FIGURE_BYTES, settings->line_bytes));
    if (more) { /* colours show the sizes of caches */
        if (length > 0 && length < NAME_BYTES)
            length += (size_t)snprintf(line->name + length, NAME_BYTES - length, ", ");
        if (length < NAME_BYTES)
            snprintf(line->name + length, NAME_BYTES - length, "%s", more);
    }
    return line;
}

static int draw_curve(struct picture *picture, const struct mrc_report *report, unsigned study,
                      unsigned number, struct bt_error *error)
{
    const struct mrc_study_settings *settings = mrc_report_settings(report, study);
    const double unit = (double)settings->line_bytes * settings->sets;
    struct curve_line *line = add_line(picture, report, study, number, NULL);
    struct curve curve;
    int result = 0;
    if (!line)
        return 0;
    if (curve_init(&curve, report->studies[study], number, error) < 0)
        return error->code;
    for (uint64_t size = curve_next(&curve, 0, STEPS); size != 0 && result == 0;
         size = curve_next(&curve, size, STEPS)) {
        const struct curve_interval interval = curve_interval(&curve, size);
        result = add_point(line, (double)size * unit,
                           curve_ratio(&curve, curve_misses(&curve, size)), error);
        if (result == 0 && settings->sample < SAMPLE_ALL)
            result = add_interval(line, &interval, error);
    }
    curve_free(&curve);
    return result;
}

/* Position of a window on the time axis, in seconds if the clock is known. */
static double window_time(const struct mrc_report *report, const struct series *series,
                          size_t window)
{
    const double from = (double)(series->first_window + window) * (double)report->window.length;
    const bool seconds = report->window.unit == WINDOW_TICKS && report->clock_hz > 0;
    return seconds ? from / (double)report->clock_hz : from;
}

/* Miss ratio over windows for one cache size. */
static int draw_size(struct curve_line *line, const struct mrc_report *report,
                     const struct series *series, uint64_t lines, struct bt_error *error)
{
    int result = 0;
    for (size_t i = 0; i < series->window_count && result == 0; i++) {
        struct curve curve;
        if (curve_init_window(&curve, series->windows + i * (BUCKETS_DISTANCE + 1), error) < 0)
            return error->code;
        result = add_point(line, window_time(report, series, i),
                           curve.references > 0 ? curve_ratio(&curve, curve_misses(&curve, lines))
                                                : (double)NAN, /* a hole */
                           error);
        curve_free(&curve);
    }
    return result;
}

/* The largest distance in any window, rounded up to a power of two. */
static uint64_t largest_size(const struct series *series)
{
    uint64_t size = 1;
    for (size_t i = 0; i < series->window_count; i++)
        for (uint32_t bucket = 0; bucket < BUCKETS_DISTANCE; bucket++)
            while (series->windows[i * (BUCKETS_DISTANCE + 1) + bucket] > 0 &&
                   size <= buckets_first(bucket))
                size *= 2;
    return size;
}

static int draw_sizes(struct picture *picture, const struct mrc_report *report, unsigned study,
                      unsigned number, struct bt_error *error)
{
    const struct mrc_study_settings *settings = mrc_report_settings(report, study);
    const struct series *series = mrc_study_series(report->studies[study], number);
    uint64_t size = largest_size(series);
    for (unsigned i = 0; i < SIZES_MAX && size > 0; i++, size /= 4) {
        char text[AXIS_LABEL_BYTES];
        char more[AXIS_LABEL_BYTES + 16];
        axis_label(text, FIGURE_BYTES, (double)(size * settings->sets * settings->line_bytes));
        snprintf(more, sizeof more, "%s cache", text);
        struct curve_line *line = add_line(picture, report, study, number, more);
        if (line && draw_size(line, report, series, size, error) < 0)
            return error->code;
    }
    return 0;
}

static int draw_working_set(struct picture *picture, const struct mrc_report *report,
                            unsigned study, unsigned number, struct bt_error *error)
{
    const struct mrc_study_settings *settings = mrc_report_settings(report, study);
    const struct series *series = mrc_study_series(report->studies[study], number);
    const unsigned columns = mrc_study_buckets(settings) + 1;
    struct curve_line *line = add_line(picture, report, study, number, NULL);
    int result = 0;
    for (size_t i = 0; line && i < series->window_count && result == 0; i++)
        result = add_point(line, window_time(report, series, i),
                           (double)series->windows[i * columns + BANK_FIRST] * settings->line_bytes,
                           error);
    return result;
}

/* Cumulative reuse times, summed over all windows. */
static int draw_times(struct picture *picture, const struct mrc_report *report, unsigned study,
                      unsigned number, struct bt_error *error)
{
    const struct series *series = mrc_study_series(report->studies[study], number);
    struct curve_line *line = add_line(picture, report, study, number, NULL);
    uint64_t counts[BUCKETS_TIME + 1] = {0};
    uint64_t all = 0;
    uint64_t below = 0;
    int result = 0;
    for (size_t i = 0; i < series->window_count * (BUCKETS_TIME + 1); i++) {
        counts[i % (BUCKETS_TIME + 1)] += series->windows[i];
        all += series->windows[i];
    }
    for (uint32_t bucket = 0; line && bucket < BUCKETS_TIME && result == 0; bucket++) {
        below += counts[bucket];
        if (counts[bucket] > 0)
            result = add_point(
                line, (double)buckets_first(bucket + 1 < BUCKETS_TIME ? bucket + 1 : bucket),
                (double)below / (double)all, error);
    }
    return result;
}

static int draw_series(void *argument, const struct mrc_report *report, unsigned study,
                       unsigned number, struct bt_error *error)
{
    switch (mrc_report_settings(report, study)->kind) {
    case BANK_WINDOWS:
        return draw_working_set(argument, report, study, number, error);
    case BANK_TIMES:
        return draw_times(argument, report, study, number, error);
    default:
        return report->window.unit == WINDOW_NONE
                   ? draw_curve(argument, report, study, number, error)
                   : draw_sizes(argument, report, study, number, error);
    }
}

/* Extends all curves horizontally to the end of the longest one. */
static int lengthen(struct picture *picture, struct bt_error *error)
{
    double last = 0;
    int result = 0;
    for (size_t i = 0; i < picture->count; i++) {
        const struct curve_line *line = &picture->lines[i];
        last = line->count > 0 && line->x[line->count - 1] > last ? line->x[line->count - 1] : last;
    }
    for (size_t i = 0; i < picture->count && result == 0; i++) {
        struct curve_line *line = &picture->lines[i];
        const size_t end = line->count - 1;
        if (line->count == 0 || line->x[end] >= last)
            continue;
        result = add_point(line, last, line->y[end], error);
        if (result == 0 && line->low)
            result = add_interval(
                line, &(struct curve_interval){.low = line->low[end], .high = line->high[end]},
                error);
    }
    return result;
}

/* --- title and axes --- */

static void name_axes(const struct mrc_report *report, struct figure_panel *panel)
{
    const struct mrc_study_settings *settings = mrc_report_settings(report, 0);
    const bool seconds = report->window.unit == WINDOW_TICKS && report->clock_hz > 0;
    panel->y = (struct figure_axis){.label = "miss ratio", .unit = FIGURE_SHARE, .to = 1};
    panel->x = (struct figure_axis){.label = seconds                               ? "time"
                                             : report->window.unit == WINDOW_TICKS ? "tick"
                                                                                   : "request",
                                    .unit = seconds ? FIGURE_SECONDS : FIGURE_NUMBER};
    if (settings->kind == BANK_WINDOWS)
        panel->y =
            (struct figure_axis){.label = "bytes referenced in a window", .unit = FIGURE_BYTES};
    if (settings->kind == BANK_TIMES) {
        panel->y.label = "referenced again within";
        panel->x = (struct figure_axis){.label = settings->ticks ? "ticks" : "references",
                                        .scale = FIGURE_LOG10,
                                        .unit = FIGURE_NUMBER};
    } else if (settings->kind == BANK_DISTANCES && report->window.unit == WINDOW_NONE) {
        panel->x =
            (struct figure_axis){.label = "cache size", .scale = FIGURE_LOG2, .unit = FIGURE_BYTES};
    }
}

/* The name of a policy in a title: capitals, except for the word random. */
static void upper_case(char *text, size_t size, const char *name)
{
    const bool word = strcmp(name, "random") == 0;
    size_t i = 0;
    for (; name[i] && i + 1 < size; i++)
        text[i] = word ? name[i] : (char)toupper((unsigned char)name[i]);
    text[i] = 0;
}

static void write_titles(const struct mrc_report *report, const struct picture *picture,
                         char *title, size_t title_size, char *subtitle, size_t size)
{
    static const char *const titles[] = {[BANK_DISTANCES] = "Miss ratio of ",
                                         [BANK_TIMES] = "Reuse times",
                                         [BANK_WINDOWS] = "Working set"};
    const struct mrc_study_settings *settings = mrc_report_settings(report, 0);
    char sets[48] = "";
    char number[QUANTITY_TEXT_BYTES];
    char sample[96] = "";
    char bytes[AXIS_LABEL_BYTES];
    char lines[AXIS_LABEL_BYTES + 16] = "";
    if (report->count == 1)
        snprintf(lines, sizeof lines, ", lines of %s",
                 axis_label(bytes, FIGURE_BYTES, settings->line_bytes));
    if (settings->sets > 1)
        snprintf(sets, sizeof sets, ", %" PRIu32 " sets", settings->sets);
    if (settings->sample < SAMPLE_ALL)
        snprintf(sample, sizeof sample,
                 ", from %.4g %% of the lines; shaded: 95 %% confidence intervals",
                 100 * (double)settings->sample / (double)SAMPLE_ALL);
    char policy[16] = "";
    if (settings->kind == BANK_DISTANCES)
        upper_case(policy, sizeof policy, replacement_names[settings->replacement]);
    snprintf(title, title_size, "%s%s%s%s", titles[settings->kind], policy,
             settings->kind == BANK_DISTANCES ? " caches" : "", sets);
    snprintf(subtitle, size, "%s requests%s%s%s%s",
             quantity_text(number, mrc_study_totals(report->studies[0])->requests), lines,
             settings->replacement != CACHE_LRU ? ", simulated" : "", sample,
             picture->more ? "; not all curves are drawn" : "");
}

/* Ends the axis where the curves end: the last step has no width. */
static void set_ends(const struct picture *picture, struct figure_axis *axis)
{
    axis->from = INFINITY;
    for (size_t i = 0; i < picture->count; i++) {
        const struct curve_line *line = &picture->lines[i];
        if (line->count == 0)
            continue;
        axis->from = fmin(axis->from, line->x[0]);
        axis->to = fmax(axis->to, line->x[line->count - 1]);
    }
}

static int write_picture(const struct mrc_report *report, const struct picture *picture,
                         const struct figure_output *output, struct bt_error *error)
{
    struct figure_series series[MRC_REPORT_PLOT_SERIES_MAX] = {{.name = NULL}};
    struct figure_panel panel = {.series = series, .series_count = picture->count};
    char title[160];
    char subtitle[320];
    /* exact curves of sizes hold until the next size, windows of time until the next window;
     * nothing is known between two simulated sizes */
    const struct mrc_study_settings *settings = mrc_report_settings(report, 0);
    const enum figure_look look = settings->replacement != CACHE_LRU ? FIGURE_POINTS
                                  : settings->kind != BANK_TIMES     ? FIGURE_STEPS
                                                                     : FIGURE_LINE;
    for (size_t i = 0; i < picture->count; i++)
        series[i] = (struct figure_series){.name = picture->lines[i].name,
                                           .second = picture->lines[i].second,
                                           .look = look,
                                           .x = picture->lines[i].x,
                                           .y = picture->lines[i].y,
                                           .low = picture->lines[i].low,
                                           .high = picture->lines[i].high,
                                           .count = picture->lines[i].count};
    name_axes(report, &panel);
    if (panel.x.scale == FIGURE_LOG2)
        set_ends(picture, &panel.x);
    write_titles(report, picture, title, sizeof title, subtitle, sizeof subtitle);
    const struct figure figure = {
        .title = title, .subtitle = subtitle, .panels = &panel, .panel_count = 1};
    return figure_write(&figure, output, error);
}

int mrc_report_plot(const struct mrc_report *report, const struct figure_output *output,
                    struct bt_error *error)
{
    struct picture *picture = calloc(1, sizeof *picture);
    if (!picture)
        return bt_fail(error, BT_MEMORY, "no memory for a picture");
    int result = mrc_report_each(report, draw_series, picture, error);
    const bool curves = mrc_report_settings(report, 0)->kind == BANK_DISTANCES &&
                        report->window.unit == WINDOW_NONE;
    if (result == 0 && curves)
        result = lengthen(picture, error);
    if (result == 0)
        result = write_picture(report, picture, output, error);
    free_picture(picture);
    return result;
}
