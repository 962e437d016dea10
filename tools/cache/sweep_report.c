#include "tools/cache/sweep_report.h"

#include "formats/base/quantity.h"
#include "formats/text/table.h"
#include "tools/cache/cache_report.h"
#include "tools/cache/optimum_bound.h"
#include "tools/common/json_report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define NAME_BYTES 48u

/* --- the table --- */

static unsigned sides(const struct sweep_report *report)
{
    return report->settings->levels[report->level].split ? CACHE_SIDES : 1;
}

static double ratio(const struct cache_counters *counters)
{
    uint64_t references = reference_kinds_sum(counters->references);
    return references ? (double)reference_kinds_sum(counters->misses) / (double)references : 0;
}

static const struct table_column all_columns[] = {{"LINE", "line", TABLE_COUNT},
                                                  {"WAYS", "ways", TABLE_COUNT},
                                                  {"SIZE", "size", TABLE_COUNT},
                                                  {"CACHE", "cache", TABLE_TEXT},
                                                  {NULL, "fetches", TABLE_COUNT},
                                                  {NULL, "reads", TABLE_COUNT},
                                                  {NULL, "writes", TABLE_COUNT},
                                                  {"REFERENCES", "references", TABLE_COUNT},
                                                  {"FETCH MISSES", "fetch_misses", TABLE_COUNT},
                                                  {"READ MISSES", "read_misses", TABLE_COUNT},
                                                  {"WRITE MISSES", "write_misses", TABLE_COUNT},
                                                  {"MISSES", "misses", TABLE_COUNT},
                                                  {"RATIO", "miss_ratio", TABLE_SHARE},
                                                  {"FILLED BYTES", "fill_bytes", TABLE_COUNT},
                                                  {"WRITE-BACKS", "write_backs", TABLE_COUNT},
                                                  {NULL, "write_back_bytes", TABLE_COUNT},
                                                  {NULL, "write_throughs", TABLE_COUNT},
                                                  {NULL, "write_through_bytes", TABLE_COUNT}};

#define FIRST_COLUMNS (sizeof all_columns / sizeof *all_columns)

static void fill_row(void *argument, size_t number, struct table_cell *cells)
{
    static const char *const names[] = {"unified", "instruction", "data"};
    const struct sweep_report *report = argument;
    const struct sweep_point *point = &report->points[number / sides(report)];
    unsigned side = (unsigned)(number % sides(report));
    const struct cache_counters *counters = &point->sides[side];
    cells[0].number = point->line;
    cells[1].number = point->ways ? point->ways : point->size / point->line;
    cells[2].number = point->size;
    cells[3].text = names[sides(report) == 1 ? 0 : side + 1];
    for (unsigned kind = 0; kind < REFERENCE_KINDS; kind++) {
        cells[4 + kind].number = counters->references[kind];
        cells[8 + kind].number = counters->misses[kind];
    }
    cells[7].number = reference_kinds_sum(counters->references);
    cells[11].number = reference_kinds_sum(counters->misses);
    cells[12] = (struct table_cell){.real = ratio(counters), .none = cells[7].number == 0};
    cells[13].number = counters->fill_bytes;
    cells[14].number = counters->write_backs;
    cells[15].number = counters->write_back_bytes;
    cells[16].number = counters->write_throughs;
    cells[17].number = counters->write_through_bytes;
    struct table_column unused[OPTIMUM_BOUND_COLUMNS];
    if (optimum_bound_columns(report->settings, unused) == 0)
        return;
    struct hierarchy_settings settings = *report->settings;
    sweep_point_settings(&settings, report->level, point);
    const struct optimum_bound bound =
        optimum_bound(&settings, report->level, (enum cache_side)side, counters, REFERENCE_KINDS);
    optimum_bound_cells(&bound, &settings, cells[7].number, cells + FIRST_COLUMNS);
}

/* columns has room for TABLE_COLUMNS_MAX. */
static struct table make_table(const struct sweep_report *report, struct table_column *columns)
{
    memcpy(columns, all_columns, sizeof all_columns);
    return (struct table){.columns = columns,
                          .column_count =
                              FIRST_COLUMNS +
                              optimum_bound_columns(report->settings, columns + FIRST_COLUMNS),
                          .rows = report->count * sides(report),
                          .row = fill_row,
                          .argument = (void *)(uintptr_t)report};
}

/* --- for people and programs --- */

int sweep_report_text(const struct sweep_report *report, FILE *out, struct bt_error *error)
{
    (void)error;
    struct table_column columns[TABLE_COLUMNS_MAX];
    const struct table table = make_table(report, columns);
    cache_report_settings(report->settings, (int)report->level, out);
    char only[RECORD_INPUT_ONLY_BYTES];
    fprintf(out, "%" PRIu64 " records%s", report->records, record_input_only(only, report->input));
    if (report->warm_records > 0)
        fprintf(out, ", after %" PRIu64 " records of warm-up", report->warm_records);
    if (report->lost > 0)
        fprintf(out, "; %" PRIu64 " requests were lost when they were captured", report->lost);
    fputs("\n\n", out);
    table_print(&table, out);
    return 0;
}

int sweep_report_csv(const struct sweep_report *report, FILE *out, struct bt_error *error)
{
    (void)error;
    struct table_column columns[TABLE_COLUMNS_MAX];
    const struct table table = make_table(report, columns);
    table_print_csv(&table, out);
    return 0;
}

int sweep_report_json(const struct sweep_report *report, struct bt_error *error)
{
    struct table_column columns[TABLE_COLUMNS_MAX];
    const struct table table = make_table(report, columns);
    struct json_put *json = json_report_begin(stdout);
    if (!json)
        return bt_fail(error, BT_MEMORY, "no memory for JSON");
    cache_report_json_settings(json, report->settings, (int)report->level);
    json_count(json, "level", report->level + 1);
    record_input_json(json, report->input);
    json_count(json, "records", report->records);
    if (report->warm_records > 0)
        json_count(json, "warm_records", report->warm_records);
    json_count(json, "lost", report->lost);
    table_json(&table, "sweep", json);
    json_report_end(json);
    return 0;
}

/* --- the figure --- */

/* Makes the curves of a figure: consecutive points of one line size and associativity. */
struct curves {
    struct figure_series *series;
    char (*names)[NAME_BYTES];   /* associativities: colours */
    char (*seconds)[NAME_BYTES]; /* line sizes: dashes */
    double *x, *y;
    size_t count;
};

static void name_curve(char name[NAME_BYTES], const struct sweep_point *point)
{
    if (point->ways == 0)
        snprintf(name, NAME_BYTES, "fully associative");
    else if (point->ways == 1)
        snprintf(name, NAME_BYTES, "direct mapped");
    else
        snprintf(name, NAME_BYTES, "%" PRIu32 " ways", point->ways);
}

static void add_point(struct curves *curves, const struct sweep_report *report, unsigned number)
{
    const struct sweep_point *point = &report->points[number];
    const struct sweep_point *last = number > 0 ? point - 1 : NULL;
    struct cache_counters all = point->sides[0];
    if (sides(report) > 1)
        cache_counters_add(&all, &point->sides[1]);
    curves->x[number] = (double)point->size;
    curves->y[number] = ratio(&all);
    if (!last || last->line != point->line || last->ways != point->ways) {
        struct figure_series *series = &curves->series[curves->count];
        name_curve(curves->names[curves->count], point);
        snprintf(curves->seconds[curves->count], NAME_BYTES, "lines of %" PRIu32 " B", point->line);
        *series = (struct figure_series){.name = curves->names[curves->count],
                                         .second = curves->seconds[curves->count],
                                         .look = FIGURE_POINTS,
                                         .x = &curves->x[number],
                                         .y = &curves->y[number]};
        curves->count++;
    }
    curves->series[curves->count - 1].count++;
}

static int draw(const struct curves *curves, const struct sweep_report *report,
                const struct figure_output *output, struct bt_error *error)
{
    char title[64];
    char subtitle[192];
    char number[QUANTITY_TEXT_BYTES];
    char parts[2 * NAME_BYTES + 8] = "";
    const struct sweep_point *first = &report->points[0];
    if (first->line == report->points[report->count - 1].line)
        snprintf(parts, sizeof parts, ", %s", curves->seconds[0]);
    if (curves->count == 1)
        snprintf(parts, sizeof parts, ", %s, %s", curves->names[0], curves->seconds[0]);
    snprintf(title, sizeof title, "Miss ratio of the caches of level %u", report->level + 1);
    snprintf(subtitle, sizeof subtitle, "%s records%s%s, attributes %s",
             quantity_text(number, report->records), report->lost > 0 ? ", some were lost" : "",
             parts, report->settings->honour_attributes ? "honoured" : "ignored");
    struct figure_panel panel = {
        .x = {.label = sides(report) > 1 ? "size of each of the two caches" : "cache size",
              .scale = FIGURE_LOG2,
              .unit = FIGURE_BYTES},
        .y = {.label = "miss ratio", .unit = FIGURE_SHARE},
        .series = curves->series,
        .series_count = curves->count};
    struct figure figure = {
        .title = title, .subtitle = subtitle, .panels = &panel, .panel_count = 1};
    return figure_write(&figure, output, error);
}

int sweep_report_plot(const struct sweep_report *report, const struct figure_output *output,
                      struct bt_error *error)
{
    struct curves curves = {.count = 0};
    int result;
    curves.series = calloc(report->count, sizeof *curves.series);
    curves.names = calloc(report->count, sizeof *curves.names);
    curves.seconds = calloc(report->count, sizeof *curves.seconds);
    curves.x = calloc(report->count, sizeof *curves.x);
    curves.y = calloc(report->count, sizeof *curves.y);
    if (curves.series && curves.names && curves.seconds && curves.x && curves.y) {
        for (unsigned i = 0; i < report->count; i++)
            add_point(&curves, report, i);
        result = draw(&curves, report, output, error);
    } else {
        result = bt_fail(error, BT_MEMORY, "no memory for a figure");
    }
    free(curves.series);
    free(curves.names);
    free(curves.seconds);
    free(curves.x);
    free(curves.y);
    return result;
}
