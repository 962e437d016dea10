#include "tools/plot/plot_study.h"
#include "tools/plot/plot_study_report.h"
#include "tools/plot/request_mix.h"

#include "tools/common/json_report.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define LAYERS_MAX 9u

struct mix_study {
    const struct plot_study_settings *settings;
    struct request_mix mix;
    size_t bins;
    double *x, *y; /* of the areas: `bins` x, and `bins` y for each area */
    struct figure_series layers[LAYERS_MAX];
    size_t layer_count;
};

static void *mix_begin(const struct plot_study_settings *settings, struct bt_error *error)
{
    struct mix_study *study = calloc(1, sizeof *study);
    if (!study) {
        bt_fail(error, BT_MEMORY, "no memory for counts");
        return NULL;
    }
    study->settings = settings;
    if (request_mix_begin(&study->mix, plot_study_report_bins(settings, 200), error) == 0)
        return study;
    request_mix_free(&study->mix);
    free(study);
    return NULL;
}

static void mix_free(void *state)
{
    struct mix_study *study = state;
    if (!study)
        return;
    request_mix_free(&study->mix);
    free(study->x);
    free(study->y);
    free(study);
}

static int mix_put(void *state, const struct batch *batch, const struct capture_info *info,
                   struct bt_error *error)
{
    struct mix_study *study = state;
    (void)error; /* cannot fail */
    request_mix_put(&study->mix, batch, info);
    return 0;
}

/* --- the data --- */

static const char *type_name(unsigned ordinal)
{
    return ordinal == REQUEST_TYPE_UNKNOWN ? "unknown"
                                           : request_type_name(request_type_at(ordinal));
}

static void fill_row(void *argument, size_t row, struct table_cell *cells)
{
    const struct mix_study *study = argument;
    const struct time_bins *time = &study->mix.time;
    struct time_missing missing;
    cells[0].number = time_bins_tick(time, row);
    cells[1].number = UINT64_C(1) << time->shift;
    for (unsigned type = 0; type < REQUEST_MIX_TYPES; type++)
        cells[2 + type].number = study->mix.counts[type][row];
    cells[2 + REQUEST_MIX_TYPES].number = time->lost_in[row];
    bool found = time_bins_missing(time, row, &missing);
    cells[3 + REQUEST_MIX_TYPES].number = found && missing.first == row;
}

static void put_members(struct json_put *json, void *argument)
{
    const struct mix_study *study = argument;
    uint64_t requests = 0;
    for (unsigned type = 0; type < REQUEST_MIX_TYPES; type++)
        requests += study->mix.totals[type];
    json_text(json, "of", "mix");
    plot_study_report_time_json(json, &study->mix.time);
    record_input_json(json, study->settings->input);
    json_count(json, "requests", requests);
}

static int print_data(struct mix_study *study, struct bt_error *error)
{
    struct table_column columns[4 + REQUEST_MIX_TYPES] = {{NULL, "tick", TABLE_COUNT},
                                                          {NULL, "ticks", TABLE_COUNT}};
    for (unsigned type = 0; type < REQUEST_MIX_TYPES; type++)
        columns[2 + type] = (struct table_column){NULL, type_name(type), TABLE_COUNT};
    columns[2 + REQUEST_MIX_TYPES] = (struct table_column){NULL, "lost", TABLE_COUNT};
    columns[3 + REQUEST_MIX_TYPES] = (struct table_column){NULL, "missing", TABLE_COUNT};
    const struct table table = {.columns = columns,
                                .column_count = sizeof columns / sizeof columns[0],
                                .rows = study->bins,
                                .row = fill_row,
                                .argument = study};
    return plot_study_report_data(study->settings->form, &table, "time", put_members, error);
}

/* --- the picture --- */

/* Types with their own colour, in stacking order. */
static const struct {
    uint8_t type;
    uint32_t color;
} colors[] = {{REQUEST_FETCH, 0x0072b2},      {REQUEST_MEMREAD, 0x56b4e9},
              {REQUEST_MEMREADINV, 0xcc79a7}, {REQUEST_MEMWRITE, 0xd55e00},
              {REQUEST_IOREAD, 0x009e73},     {REQUEST_IOWRITE, 0xe69f00},
              {REQUEST_DEFERREPLY, 0x222222}, {REQUEST_INTA, 0x8c6d31}};
#define COLORS (sizeof colors / sizeof colors[0])

/* Factor from requests of a bin to the axis's unit: requests a second, or a bin without a clock. */
static double rate(const struct time_bins *time)
{
    return time->clock_hz > 0 ? (double)time->clock_hz / ldexp(1, (int)time->shift) : 1;
}

/* Adds an area for the types whose ordinals are set in bits, if they occur. */
static void add_layer(struct mix_study *study, uint32_t types, const char *name, uint32_t color)
{
    const struct request_mix *mix = &study->mix;
    double *y = study->y + study->layer_count * study->bins;
    bool any = false;
    for (size_t bin = 0; bin < study->bins; bin++)
        y[bin] = 0;
    for (unsigned type = 0; type < REQUEST_MIX_TYPES; type++) {
        if (!(types >> type & 1) || mix->totals[type] == 0)
            continue;
        any = true;
        for (size_t bin = 0; bin < study->bins; bin++)
            y[bin] += (double)mix->counts[type][bin] * rate(&mix->time);
    }
    if (any)
        study->layers[study->layer_count++] = (struct figure_series){.name = name,
                                                                     .look = FIGURE_AREA,
                                                                     .x = study->x,
                                                                     .y = y,
                                                                     .count = study->bins,
                                                                     .color = color};
}

static int make_layers(struct mix_study *study, struct bt_error *error)
{
    uint32_t others = (UINT32_C(1) << REQUEST_MIX_TYPES) - 1;
    study->x = calloc(study->bins + 1, sizeof *study->x);
    study->y = calloc(study->bins + 1, LAYERS_MAX * sizeof *study->y);
    if (!study->x || !study->y)
        return bt_fail(error, BT_MEMORY, "no memory for a figure");
    for (size_t bin = 0; bin < study->bins; bin++)
        study->x[bin] = plot_study_report_position(study->settings, &study->mix.time, bin);
    for (size_t i = 0; i < COLORS; i++) {
        uint32_t type = UINT32_C(1) << request_type_ordinal(colors[i].type);
        add_layer(study, type, request_type_name(colors[i].type), colors[i].color);
        others &= ~type;
    }
    add_layer(study, others, "others", 0x999999);
    return 0;
}

static int draw(struct mix_study *study, struct bt_error *error)
{
    const struct plot_study_settings *settings = study->settings;
    const struct time_bins *time = &study->mix.time;
    char subtitle[PLOT_SUBTITLE_BYTES];
    char label[80];
    uint64_t requests = 0;
    struct figure_panel panel = {.series = study->layers,
                                 .missing_name = "requests are missing",
                                 .x = plot_study_report_time_axis(settings, time),
                                 .y = {.label = label}};
    int result = make_layers(study, error);
    if (result < 0)
        return result;
    struct figure_interval *missing =
        plot_study_report_missing(settings, time, 0, &panel.interval_count, error);
    if (!missing)
        return error->code;
    for (unsigned type = 0; type < REQUEST_MIX_TYPES; type++)
        requests += study->mix.totals[type];
    panel.series_count = study->layer_count;
    panel.intervals = missing;
    snprintf(label, sizeof label, "requests in %" PRIu64 " tick%s", UINT64_C(1) << time->shift,
             time->shift == 0 ? "" : "s");
    if (time->clock_hz > 0)
        panel.y.label = "requests a second";
    plot_study_report_subtitle(subtitle, requests, requests == 1 ? "request" : "requests",
                               time->lost, time->gaps);
    const struct figure figure = {
        .title = settings->title, .subtitle = subtitle, .panels = &panel, .panel_count = 1};
    result = figure_write(&figure, settings->output, error);
    free(missing);
    return result;
}

static int mix_finish(void *state, struct bt_error *error)
{
    struct mix_study *study = state;
    study->bins = time_bins_count(&study->mix.time);
    int result = study->settings->output ? draw(study, error) : 0;
    return result < 0 ? result : print_data(study, error);
}

const struct plot_study plot_study_mix = {"mix", mix_begin, mix_put, mix_finish, mix_free};
