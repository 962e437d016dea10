#include "tools/plot/address_layout.h"
#include "tools/plot/address_map.h"
#include "tools/plot/plot_study.h"
#include "tools/plot/plot_study_report.h"

#include "formats/base/saturating.h"
#include "tools/common/json_report.h"

#include <stdlib.h>
#include <string.h>

#define PIXELS_PER_ROW  4u  /* minimum height of a row, axes and titles included */
#define PIXELS_PER_TICK 24u /* keeps labels apart */

struct address_study {
    const struct plot_study_settings *settings;
    struct address_map *map;
    struct address_layout layout;
    size_t columns; /* number of bins of time */
    uint64_t
        *cells; /* requests, [position * columns + bin]; only the first position of a row counts */
    struct listed *listed;
    size_t listed_count;
};

/* One line of the data: a non-empty cell, or a bin with missing records. */
struct listed {
    size_t bin, bins;
    uint32_t address;
    uint64_t requests;
    bool missing;
    uint64_t lost;
};

static void *addresses_begin(const struct plot_study_settings *settings, struct bt_error *error)
{
    struct address_study *study = calloc(1, sizeof *study);
    const struct address_map_settings map = {
        .bins = plot_study_report_bins(settings, 500), .from = settings->from, .to = settings->to};
    if (!study) {
        bt_fail(error, BT_MEMORY, "no memory for a map of addresses");
        return NULL;
    }
    study->settings = settings;
    study->map = address_map_new(&map, error);
    if (study->map)
        return study;
    free(study);
    return NULL;
}

static void addresses_free(void *state)
{
    struct address_study *study = state;
    if (!study)
        return;
    address_map_free(study->map);
    address_layout_free(&study->layout);
    free(study->cells);
    free(study->listed);
    free(study);
}

static int addresses_put(void *state, const struct batch *batch, const struct capture_info *info,
                         struct bt_error *error)
{
    struct address_study *study = state;
    return address_map_put(study->map, batch, info, error);
}

/* --- cells --- */

/* Adds the rows of the map to those of the axis. */
static int make_cells(struct address_study *study, struct bt_error *error)
{
    const struct plot_study_settings *settings = study->settings;
    unsigned height = settings->height;
    unsigned shift = address_map_shift(study->map);
    size_t count;
    const struct address_map_row *rows = address_map_rows(study->map, &count);
    int result = address_layout_make(&study->layout, rows, count, shift, height / PIXELS_PER_ROW,
                                     settings->whole, settings->from, settings->to, error);
    if (result < 0)
        return result;
    study->columns = time_bins_count(address_map_time(study->map));
    study->cells = calloc(study->layout.length * study->columns + 1, sizeof *study->cells);
    if (!study->cells)
        return bt_fail(error, BT_MEMORY, "no memory for a map of addresses");
    for (size_t i = 0; i < count; i++) {
        uint32_t address = (uint32_t)((uint64_t)rows[i].number << shift);
        /* the first row may begin below the range's first address */
        address = address < settings->from ? settings->from : address;
        uint64_t *cells =
            study->cells + address_layout_position(&study->layout, address) * study->columns;
        for (size_t bin = 0; bin < study->columns; bin++)
            cells[bin] = saturating_add(cells[bin], rows[i].counts[bin]);
    }
    return 0;
}

/* --- the data --- */

static void list_missing(struct address_study *study)
{
    const struct time_bins *time = address_map_time(study->map);
    struct time_missing missing;
    for (size_t bin = 0; time_bins_missing(time, bin, &missing); bin = missing.last + 1) {
        struct listed *listed = &study->listed[study->listed_count++];
        *listed = (struct listed){
            .bin = missing.first, .bins = missing.last - missing.first + 1, .missing = true};
        for (size_t i = missing.first; i <= missing.last; i++)
            listed->lost = saturating_add(listed->lost, time->lost_in[i]);
    }
}

static void list_band(struct address_study *study, const struct address_band *band)
{
    const struct address_layout *layout = &study->layout;
    for (uint64_t row = band->first; row <= band->last; row++) {
        size_t position = band->position + (size_t)(row - band->first) * layout->scale;
        const uint64_t *cells = study->cells + position * study->columns;
        for (size_t bin = 0; bin < study->columns; bin++)
            if (cells[bin] > 0)
                study->listed[study->listed_count++] =
                    (struct listed){.bin = bin,
                                    .bins = 1,
                                    .address = (uint32_t)(row << layout->shift),
                                    .requests = cells[bin]};
    }
}

static void fill_row(void *argument, size_t row, struct table_cell *cells)
{
    const struct address_study *study = argument;
    const struct time_bins *time = address_map_time(study->map);
    const struct listed *listed = &study->listed[row];
    cells[0].number = time_bins_tick(time, listed->bin);
    cells[1].number = time_bins_tick(time, listed->bin + listed->bins) - cells[0].number;
    cells[2] = (struct table_cell){.number = listed->address, .none = listed->missing};
    cells[3] =
        (struct table_cell){.number = UINT64_C(1) << study->layout.shift, .none = listed->missing};
    cells[4] = (struct table_cell){.number = listed->requests, .none = listed->missing};
    cells[5] = (struct table_cell){.number = listed->lost, .none = !listed->missing};
}

static void put_members(struct json_put *json, void *argument)
{
    const struct address_study *study = argument;
    const struct address_map_counts *totals = address_map_totals(study->map);
    json_text(json, "of", "addresses");
    plot_study_report_time_json(json, address_map_time(study->map));
    json_count(json, "row_bytes", UINT64_C(1) << study->layout.shift);
    record_input_json(json, study->settings->input);
    json_count(json, "requests", totals->requests);
    json_count(json, "dropped", totals->dropped);
    json_count(json, "outside", totals->outside);
}

static int print_data(struct address_study *study, struct bt_error *error)
{
    static const struct table_column columns[] = {
        {NULL, "tick", TABLE_COUNT},      {NULL, "ticks", TABLE_COUNT},
        {NULL, "address", TABLE_ADDRESS}, {NULL, "bytes", TABLE_COUNT},
        {NULL, "requests", TABLE_COUNT},  {NULL, "lost", TABLE_COUNT}};
    size_t most = study->columns;
    for (size_t i = 0; i < study->layout.length * study->columns; i++)
        most += study->cells[i] > 0;
    study->listed = calloc(most + 1, sizeof *study->listed);
    if (!study->listed)
        return bt_fail(error, BT_MEMORY, "no memory for a list of %zu cells", most);
    list_missing(study);
    for (size_t i = 0; i < study->layout.band_count; i++)
        list_band(study, &study->layout.bands[i]);
    const struct table table = {.columns = columns,
                                .column_count = sizeof columns / sizeof columns[0],
                                .rows = study->listed_count,
                                .row = fill_row,
                                .argument = study};
    return plot_study_report_data(study->settings->form, &table, "cells", put_members, error);
}

/* --- the picture --- */

/* Values of the heat map; a row that has several positions is repeated at each. */
static double *make_values(const struct address_study *study)
{
    const struct address_layout *layout = &study->layout;
    size_t columns = study->columns > 0 ? study->columns : 1;
    double *values = calloc(layout->length * columns, sizeof *values);
    for (size_t b = 0; values && b < layout->band_count; b++) {
        const struct address_band *band = &layout->bands[b];
        size_t length = ((size_t)(band->last - band->first) + 1) * layout->scale;
        for (size_t i = 0; i < length; i++) {
            size_t from = band->position + i / layout->scale * layout->scale;
            for (size_t bin = 0; bin < study->columns; bin++)
                values[(band->position + i) * columns + bin] =
                    (double)study->cells[from * columns + bin];
        }
    }
    return values;
}

/* Appends the breaks between bands to the intervals. */
static void add_breaks(const struct address_layout *layout, struct figure_interval *intervals,
                       size_t *count)
{
    for (size_t b = 1; b < layout->band_count; b++) {
        double to = (double)layout->bands[b].position;
        intervals[(*count)++] = (struct figure_interval){
            .from = to - (double)layout->gap, .to = to, .vertical = true, .is_break = true};
    }
}

static int write_figure(const struct address_study *study, const double *values,
                        struct figure_interval *intervals, size_t interval_count,
                        struct bt_error *error)
{
    const struct plot_study_settings *settings = study->settings;
    const struct address_layout *layout = &study->layout;
    const struct time_bins *time = address_map_time(study->map);
    const struct address_map_counts *totals = address_map_totals(study->map);
    unsigned height = settings->height;
    struct figure_tick ticks[ADDRESS_LAYOUT_TICKS];
    char labels[ADDRESS_LAYOUT_TICKS][ADDRESS_LAYOUT_LABEL];
    char subtitle[PLOT_SUBTITLE_BYTES];
    char label[PLOT_LABEL_BYTES];
    size_t apart = layout->length * PIXELS_PER_TICK / height + 1;
    struct figure_heat heat = {.columns = study->columns > 0 ? study->columns : 1,
                               .rows = layout->length,
                               .values = values,
                               .y_to = (double)layout->length,
                               .label = label,
                               .logarithmic = true};
    struct figure_panel panel = {.x = plot_study_report_time_axis(settings, time),
                                 .y = {.label = "address", .ticks = ticks},
                                 .heat = &heat,
                                 .intervals = intervals,
                                 .interval_count = interval_count,
                                 .missing_name = "requests are missing",
                                 .break_name = "addresses not used"};
    const struct figure figure = {
        .title = settings->title, .subtitle = subtitle, .panels = &panel, .panel_count = 1};
    heat.x_from = panel.x.from;
    heat.x_to = panel.x.to;
    plot_study_report_cell(label, "requests", time, UINT64_C(1) << layout->shift);
    panel.y.tick_count = address_layout_ticks(layout, apart, ticks, labels);
    plot_study_report_subtitle(subtitle, totals->requests,
                               totals->requests == 1 ? "reference to memory"
                                                     : "references to memory",
                               time->lost, time->gaps);
    return figure_write(&figure, settings->output, error);
}

static int draw(const struct address_study *study, struct bt_error *error)
{
    size_t count;
    double *values = make_values(study);
    if (!values)
        return bt_fail(error, BT_MEMORY, "no memory for a figure");
    struct figure_interval *intervals = plot_study_report_missing(
        study->settings, address_map_time(study->map), study->layout.band_count, &count, error);
    int result = intervals ? 0 : BT_MEMORY;
    if (intervals) {
        add_breaks(&study->layout, intervals, &count);
        result = write_figure(study, values, intervals, count, error);
    }
    free(values);
    free(intervals);
    return result;
}

static int addresses_finish(void *state, struct bt_error *error)
{
    struct address_study *study = state;
    int result = make_cells(study, error);
    if (result == 0 && study->settings->output)
        result = draw(study, error);
    if (result == 0 && study->settings->form != PLOT_NO_DATA)
        result = print_data(study, error);
    return result;
}

const struct plot_study plot_study_addresses = {"addresses", addresses_begin, addresses_put,
                                                addresses_finish, addresses_free};
