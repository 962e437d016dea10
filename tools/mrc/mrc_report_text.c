/* Text tables: one for each curve with common cache sizes, or one for each curve over windows. */
#include "formats/text/table.h"
#include "tools/cache/model/replacement.h"
#include "tools/common/words.h"
#include "tools/mrc/buckets.h"
#include "tools/mrc/curve.h"
#include "tools/mrc/mrc_report.h"
#include "tools/mrc/sample.h"

#include <inttypes.h>
#include <stdlib.h>

#define WINDOW_SIZES 8u /* columns of a table over windows, each 4 times the previous size */

/* --- headings --- */

static void put_totals(const struct mrc_report *report)
{
    const struct mrc_study_totals *totals = mrc_study_totals(report->studies[0]);
    char only[RECORD_INPUT_ONLY_BYTES];
    printf("%" PRIu64 " requests%s", totals->requests, record_input_only(only, report->input));
    if (totals->dropped > 0)
        printf(", %" PRIu64 " of them no references to memory", totals->dropped);
    if (totals->lost > 0)
        printf("; %" PRIu64 " more were lost in the capture", totals->lost);
    if (totals->gaps > 0)
        printf("; %" PRIu64 " %s, chosen: reuse continues across them", totals->gaps,
               totals->gaps == 1 ? "gap" : "gaps");
    puts("");
    if (report->window.unit != WINDOW_NONE)
        printf("windows of %" PRIu64 " %s\n", report->window.length,
               report->window.unit == WINDOW_TICKS ? "ticks" : "requests");
}

static void put_what(const struct mrc_report *report, unsigned study, unsigned number)
{
    const struct mrc_study_settings *settings = mrc_report_settings(report, study);
    const struct series_name name = mrc_study_series_name(settings, number);
    printf("\nlines of %" PRIu32 " bytes", settings->line_bytes);
    if (name.processor >= 0)
        printf(", processor %d", name.processor);
    if (name.cache)
        printf(", %s cache", name.cache);
    if (name.kind)
        printf(", kind %s", name.kind);
    if (settings->sets > 1)
        printf(", %" PRIu32 " sets", settings->sets);
    if (settings->replacement != CACHE_LRU)
        printf(", %s, simulated", replacement_names[settings->replacement]);
    if (settings->sample < SAMPLE_ALL)
        printf(", from %.4g %% of the lines", 100 * (double)settings->sample / (double)SAMPLE_ALL);
    fputs(": ", stdout);
}

static void put_footprint(const struct mrc_report *report, unsigned study,
                          const struct curve *curve)
{
    char text[WORDS_SIZE_BYTES];
    const uint32_t line_bytes = mrc_report_settings(report, study)->line_bytes;
    printf("%" PRIu64 " references, %s%" PRIu64 " lines (%s)\n", curve->references,
           curve->rate < 1 ? "about " : "", curve->compulsory,
           words_size(text, (double)curve->compulsory * line_bytes));
}

/* --- a curve --- */

struct curve_table {
    const struct curve *curve;
    uint64_t line_bytes, sets;
    uint64_t *sizes; /* in lines or ways */
    char text[WORDS_SIZE_BYTES];
};

static void curve_row(void *argument, size_t row, struct table_cell *cells)
{
    struct curve_table *table = argument;
    const uint64_t size = table->sizes[row];
    const uint64_t misses = curve_misses(table->curve, size);
    cells[0].text = words_size(table->text, (double)(size * table->sets * table->line_bytes));
    cells[1].number = size;
    cells[2].number = misses;
    cells[3].real = curve_ratio(table->curve, misses);
    const struct curve_interval interval = curve_interval(table->curve, size);
    cells[4].real = interval.low;
    cells[5].real = interval.high;
}

/* The sizes to print; *count limits their number. The last size has compulsory misses only. */
static uint64_t *list_sizes(const struct curve *curve, unsigned steps, size_t *count)
{
    size_t some = 0;
    for (uint64_t size = curve_next(curve, 0, steps); size; size = curve_next(curve, size, steps))
        some++;
    uint64_t *sizes = malloc((some + 1) * sizeof *sizes);
    *count = some;
    some = 0;
    for (uint64_t size = curve_next(curve, 0, steps); size && sizes;
         size = curve_next(curve, size, steps))
        sizes[some++] = size;
    return sizes;
}

static int put_curve(const struct mrc_report *report, unsigned study, unsigned number,
                     struct bt_error *error)
{
    const struct mrc_study_settings *settings = mrc_report_settings(report, study);
    const struct table_column columns[] = {
        {"size", "size", TABLE_TEXT},
        {settings->sets > 1 ? "ways" : "lines", "lines", TABLE_COUNT},
        {"misses", "misses", TABLE_COUNT},
        {"miss ratio", "miss_ratio", TABLE_SHARE},
        {"from (95 %)", "low", TABLE_SHARE},
        {"to (95 %)", "high", TABLE_SHARE}};
    const bool sampled = settings->sample < SAMPLE_ALL;
    struct curve curve;
    if (curve_init(&curve, report->studies[study], number, error) < 0)
        return error->code;
    put_what(report, study, number);
    put_footprint(report, study, &curve);
    struct curve_table rows = {.curve = &curve,
                               .line_bytes = settings->line_bytes,
                               .sets = settings->sets,
                               .sizes = NULL,
                               .text = {0}};
    struct table table = {.columns = columns,
                          .column_count = sampled ? 6 : 4,
                          .rows = 0,
                          .row = curve_row,
                          .argument = &rows};
    rows.sizes = list_sizes(&curve, report->steps, &table.rows);
    if (rows.sizes && curve.references > 0)
        table_print(&table, stdout);
    const bool good = rows.sizes != NULL;
    free(rows.sizes);
    curve_free(&curve);
    return good ? 0 : bt_fail(error, BT_MEMORY, "no memory for a table");
}

/* --- windows of time --- */

struct window_table {
    const struct mrc_report *report;
    const struct mrc_study_settings *settings;
    const struct series *series;
    unsigned columns;                /* numbers of each window in the series */
    uint64_t windows;                /* number of non-empty windows */
    const uint64_t **counts;         /* counts of each non-empty window */
    uint64_t sizes[WINDOW_SIZES];    /* in lines or ways */
    char headings[WINDOW_SIZES][32]; /* column headings */
    unsigned size_count;
};

static uint64_t sum(const uint64_t *counts, unsigned columns)
{
    uint64_t all = 0;
    for (unsigned i = 0; i < columns; i++)
        all += counts[i];
    return all;
}

/* Finds the non-empty windows. 0 or BT_MEMORY. */
static int find_windows(struct window_table *rows, struct bt_error *error)
{
    rows->counts = malloc((rows->series->window_count + 1) * sizeof *rows->counts);
    if (!rows->counts)
        return bt_fail(error, BT_MEMORY, "no memory for a table");
    for (size_t i = 0; i < rows->series->window_count; i++) {
        const uint64_t *counts = rows->series->windows + i * rows->columns;
        if (sum(counts, rows->columns) > 0)
            rows->counts[rows->windows++] = counts;
    }
    return 0;
}

static uint64_t window_from(const struct window_table *rows, const uint64_t *counts)
{
    const uint64_t place = (uint64_t)(counts - rows->series->windows) / rows->columns;
    return (rows->series->first_window + place) * rows->report->window.length;
}

/* Chooses the sizes: up to the largest one at which the hits of any window still grow. */
static void choose_sizes(struct window_table *rows)
{
    const uint64_t unit = (uint64_t)rows->settings->sets * rows->settings->line_bytes;
    uint32_t last = 0;
    for (uint64_t i = 0; i < rows->windows; i++)
        for (uint32_t bucket = last; bucket < BUCKETS_DISTANCE; bucket++)
            last = rows->counts[i][bucket] > 0 ? bucket : last;
    uint64_t size = 1;
    while (size <= buckets_first(last) && size < UINT64_C(1) << 32)
        size *= 2;
    for (unsigned i = 1; i < WINDOW_SIZES && size >= 4; i++)
        size /= 4;
    for (; rows->size_count < WINDOW_SIZES; size *= 4) {
        rows->sizes[rows->size_count] = size;
        words_size(rows->headings[rows->size_count++], (double)(size * unit));
        if (size > buckets_first(last))
            break;
    }
}

static void window_row(void *argument, size_t row, struct table_cell *cells)
{
    const struct window_table *rows = argument;
    const uint64_t *counts = rows->counts[row];
    const uint64_t references = sum(counts, rows->columns);
    cells[0].number = window_from(rows, counts);
    cells[1].number = references;
    for (unsigned i = 0; i < rows->size_count; i++) {
        uint64_t misses = counts[BUCKETS_DISTANCE];
        for (uint32_t bucket = buckets_of(rows->sizes[i]); bucket < BUCKETS_DISTANCE; bucket++)
            misses += counts[bucket];
        cells[2 + i].real = (double)misses / (double)references;
    }
}

static void working_set_row(void *argument, size_t row, struct table_cell *cells)
{
    const struct window_table *rows = argument;
    const uint64_t *counts = rows->counts[row];
    cells[0].number = window_from(rows, counts);
    cells[1].number = sum(counts, rows->columns);
    cells[2].number = counts[BANK_FIRST];
    cells[3].number = counts[BANK_FIRST] * rows->settings->line_bytes;
}

static int put_windows(const struct mrc_report *report, unsigned study, unsigned number,
                       struct bt_error *error)
{
    struct window_table rows = {.report = report,
                                .settings = mrc_report_settings(report, study),
                                .series = mrc_study_series(report->studies[study], number)};
    const bool curves = rows.settings->kind == BANK_DISTANCES;
    struct table_column columns[2 + WINDOW_SIZES] = {
        {report->window.unit == WINDOW_TICKS ? "from tick" : "from request", "from", TABLE_COUNT},
        {"references", "references", TABLE_COUNT},
        {"lines", "lines", TABLE_COUNT},
        {"bytes", "bytes", TABLE_COUNT}};
    rows.columns = mrc_study_buckets(rows.settings) + 1;
    if (find_windows(&rows, error) < 0)
        return error->code;
    if (curves)
        choose_sizes(&rows);
    for (unsigned i = 0; i < rows.size_count; i++)
        columns[2 + i] = (struct table_column){rows.headings[i], rows.headings[i], TABLE_SHARE};
    const struct table table = {.columns = columns,
                                .column_count = curves ? 2 + rows.size_count : 4,
                                .rows = (size_t)rows.windows,
                                .row = curves ? window_row : working_set_row,
                                .argument = &rows};
    put_what(report, study, number);
    puts(curves ? "miss ratio by cache size" : "lines that each window references");
    table_print(&table, stdout);
    free(rows.counts);
    return 0;
}

/* --- reuse times --- */

struct time_table {
    const uint64_t *counts;
    uint64_t references;
    unsigned powers; /* number of rows: 0, 1, 2 to 3, 4 to 7, ... */
};

/* References whose reuse time has `digits` binary digits. */
static uint64_t times_with_digits(const struct time_table *rows, unsigned digits)
{
    uint64_t all = 0;
    for (uint32_t bucket = 0; bucket < BUCKETS_TIME; bucket++) {
        const uint64_t first = buckets_first(bucket);
        const unsigned has = first == 0 ? 0 : 64u - (unsigned)__builtin_clzll(first);
        all += has == digits ? rows->counts[bucket] : 0;
    }
    return all;
}

static void time_row(void *argument, size_t row, struct table_cell *cells)
{
    const struct time_table *rows = argument;
    uint64_t below = 0;
    for (unsigned i = 0; i <= row; i++)
        below += times_with_digits(rows, i);
    cells[0].number = row == 0 ? 0 : UINT64_C(1) << (row - 1);
    cells[1].number = row == 0 ? 0 : UINT64_MAX >> (64 - row);
    cells[2].number = times_with_digits(rows, (unsigned)row);
    cells[3].real = (double)below / (double)rows->references;
}

static int put_times(const struct mrc_report *report, unsigned study, unsigned number,
                     struct bt_error *error)
{
    static const struct table_column columns[] = {{"from", "from", TABLE_COUNT},
                                                  {"to", "to", TABLE_COUNT},
                                                  {"references", "references", TABLE_COUNT},
                                                  {"so far", "cumulative", TABLE_SHARE}};
    const struct mrc_study_settings *settings = mrc_report_settings(report, study);
    const struct series *series = mrc_study_series(report->studies[study], number);
    (void)error;
    for (size_t i = 0; i < series->window_count; i++) {
        struct time_table rows = {
            .counts = series->windows + i * (BUCKETS_TIME + 1), .references = 0, .powers = 0};
        rows.references = sum(rows.counts, BUCKETS_TIME + 1);
        for (unsigned digits = 0; digits <= 64; digits++)
            rows.powers = times_with_digits(&rows, digits) > 0 ? digits + 1 : rows.powers;
        if (rows.references == 0)
            continue;
        put_what(report, study, number);
        if (report->window.unit != WINDOW_NONE)
            printf("from %" PRIu64 ", ", (series->first_window + i) * report->window.length);
        printf("%" PRIu64 " references, %" PRIu64 " of them first ones; reuse times in %s\n",
               rows.references, rows.counts[BUCKETS_TIME],
               settings->ticks ? "ticks" : "references");
        const struct table table = {.columns = columns,
                                    .column_count = 4,
                                    .rows = rows.powers,
                                    .row = time_row,
                                    .argument = &rows};
        table_print(&table, stdout);
    }
    return 0;
}

static int put_series(void *argument, const struct mrc_report *report, unsigned study,
                      unsigned number, struct bt_error *error)
{
    (void)argument;
    if (mrc_report_settings(report, study)->kind == BANK_TIMES)
        return put_times(report, study, number, error);
    if (report->window.unit != WINDOW_NONE)
        return put_windows(report, study, number, error);
    return put_curve(report, study, number, error);
}

int mrc_report_text(const struct mrc_report *report, struct bt_error *error)
{
    put_totals(report);
    return mrc_report_each(report, put_series, NULL, error);
}
