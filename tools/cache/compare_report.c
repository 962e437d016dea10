#include "tools/cache/compare_report.h"

#include "formats/text/table.h"
#include "tools/cache/cache_report.h"
#include "tools/cache/optimum_bound.h"
#include "tools/cache/study/access_time.h"
#include "tools/common/json_report.h"

#include <inttypes.h>

#define LEVEL_COLUMNS 5u

/* References, misses and ratio of a level, both sides together, and the optimum's ratio. */
#define COLUMNS(level)                                                                             \
    {NULL, "l" level "_references", TABLE_COUNT},                                                  \
        {"L" level " MISSES", "l" level "_misses", TABLE_COUNT},                                   \
        {"L" level " RATIO", "l" level "_miss_ratio", TABLE_SHARE},                                \
        {"OPTIMUM", "l" level "_optimum_miss_ratio", TABLE_SHARE},                                 \
    {                                                                                              \
        "+-", "l" level "_optimum_miss_ratio_error", TABLE_SHARE                                   \
    }

static const struct table_column level_columns[] = {COLUMNS("1"), COLUMNS("2"), COLUMNS("3"),
                                                    COLUMNS("4")};
_Static_assert(sizeof level_columns / sizeof *level_columns >= CACHE_LEVELS * LEVEL_COLUMNS,
               "a level has no columns");

/* The largest number of levels. */
static unsigned level_count(const struct comparison *comparison)
{
    unsigned most = 0;
    for (unsigned i = 0; i < comparison_count(comparison); i++) {
        const unsigned count = comparison_results(comparison, i)->settings.level_count;
        most = count > most ? count : most;
    }
    return most;
}

static bool has_times(const struct comparison *comparison)
{
    for (unsigned i = 0; i < comparison_count(comparison); i++)
        if (access_time_is_known(&comparison_results(comparison, i)->settings))
            return true;
    return false;
}

static void level_cells(const struct cache_results *results, unsigned level,
                        struct table_cell *cells)
{
    uint64_t references = 0, misses = 0;
    double optimum = 0, error = 0;
    const bool present = level < results->settings.level_count;
    bool known = true;
    for (unsigned side = 0; present && side < CACHE_SIDES; side++) {
        const struct cache_counters counters =
            cache_results_sum(results, level, (enum cache_side)side);
        const uint64_t more = reference_kinds_sum(counters.references);
        const struct optimum_bound bound = optimum_bound(
            &results->settings, level, (enum cache_side)side, &counters, REFERENCE_KINDS);
        references += more;
        misses += reference_kinds_sum(counters.misses);
        known = known && (bound.known || more == 0);
        optimum += bound.ratio * (double)more;
        error += bound.error * (double)more;
    }
    cells[0] = (struct table_cell){.number = references, .none = !present};
    cells[1] = (struct table_cell){.number = misses, .none = !present};
    cells[2] = (struct table_cell){.real = references ? (double)misses / (double)references : 0,
                                   .none = references == 0};
    known = known && references > 0;
    cells[3] =
        (struct table_cell){.real = known ? optimum / (double)references : 0, .none = !known};
    cells[4] = (struct table_cell){.real = known ? error / (double)references : 0,
                                   .text = known && error == 0 ? "exact" : NULL,
                                   .none = !known};
}

/* Whether any configuration has a bound, and whether one is estimated. */
static bool has_bounds(const struct comparison *comparison, bool estimated)
{
    for (unsigned i = 0; i < comparison_count(comparison); i++) {
        const struct hierarchy_settings *settings = &comparison_results(comparison, i)->settings;
        struct table_column unused[OPTIMUM_BOUND_COLUMNS];
        if (optimum_bound_columns(settings, unused) > (estimated ? OPTIMUM_BOUND_COLUMNS - 1 : 0))
            return true;
    }
    return false;
}

static void compare_row(void *argument, size_t number, struct table_cell *cells)
{
    const struct comparison *comparison = argument;
    const struct cache_results *results = comparison_results(comparison, (unsigned)number);
    const bool known = access_time_is_known(&results->settings);
    const unsigned levels = level_count(comparison);
    size_t at = 0;
    cells[at++].text = comparison_name(comparison, (unsigned)number);
    for (unsigned level = 0; level < levels; level++, at += LEVEL_COLUMNS)
        level_cells(results, level, cells + at);
    cells[at++].number = reference_kinds_sum(results->counters.memory_references);
    cells[at++].number = reference_kinds_sum(results->counters.memory_bytes);
    cells[at].none = !known;
    cells[at].real = known ? access_time_of_all(results).cycles : 0;
}

/* columns has room for TABLE_COLUMNS_MAX. */
static struct table make_table(const struct comparison *comparison, struct table_column *columns)
{
    const unsigned levels = level_count(comparison) * LEVEL_COLUMNS;
    size_t at = 0;
    columns[at++] = (struct table_column){"CONFIGURATION", "configuration", TABLE_TEXT};
    for (unsigned i = 0; i < levels; i++) {
        columns[at] = level_columns[i];
        if (i % LEVEL_COLUMNS >= 3 && !has_bounds(comparison, i % LEVEL_COLUMNS == 4))
            columns[at].heading = NULL;
        at++;
    }
    columns[at++] = (struct table_column){"MEMORY", "memory_references", TABLE_COUNT};
    columns[at++] = (struct table_column){"BYTES", "memory_bytes", TABLE_COUNT};
    columns[at++] =
        (struct table_column){has_times(comparison) ? "CYCLES" : NULL, "access_cycles", TABLE_REAL};
    return (struct table){.columns = columns,
                          .column_count = at,
                          .rows = comparison_count(comparison),
                          .row = compare_row,
                          .argument = (void *)(uintptr_t)comparison};
}

void comparison_text(const struct comparison *comparison, const struct record_input_settings *input,
                     FILE *out)
{
    char only[RECORD_INPUT_ONLY_BYTES];
    struct table_column columns[TABLE_COLUMNS_MAX];
    const struct cache_results *first = comparison_results(comparison, 0);
    for (unsigned i = 0; i < comparison_count(comparison); i++) {
        fprintf(out, "%s:\n", comparison_name(comparison, i));
        cache_report_settings(&comparison_results(comparison, i)->settings, -1, out);
        optimum_bound_print(&comparison_results(comparison, i)->settings, out);
        fputs("\n", out);
    }
    fprintf(out, "%" PRIu64 " records%s", first->counters.records, record_input_only(only, input));
    if (first->warm_records > 0)
        fprintf(out, ", after %" PRIu64 " records of warm-up", first->warm_records);
    if (comparison_lost(comparison) > 0)
        fprintf(out, "; %" PRIu64 " requests were lost when they were captured",
                comparison_lost(comparison));
    fputs("\n\n", out);
    const struct table table = make_table(comparison, columns);
    table_print(&table, out);
}

void comparison_csv(const struct comparison *comparison, FILE *out)
{
    struct table_column columns[TABLE_COLUMNS_MAX];
    const struct table table = make_table(comparison, columns);
    table_print_csv(&table, out);
}

int comparison_json(const struct comparison *comparison, const struct record_input_settings *input,
                    struct bt_error *error)
{
    struct table_column columns[TABLE_COLUMNS_MAX];
    const struct cache_results *first = comparison_results(comparison, 0);
    struct json_put *json = json_report_begin(stdout);
    if (!json)
        return bt_fail(error, BT_MEMORY, "no memory for JSON");
    json_array(json, "configurations");
    for (unsigned i = 0; i < comparison_count(comparison); i++) {
        json_put_object(json);
        json_text(json, "name", comparison_name(comparison, i));
        cache_report_json_settings(json, &comparison_results(comparison, i)->settings, -1);
        json_put_object_end(json);
    }
    json_put_array_end(json);
    record_input_json(json, input);
    json_count(json, "records", first->counters.records);
    if (first->warm_records > 0)
        json_count(json, "warm_records", first->warm_records);
    json_count(json, "lost", comparison_lost(comparison));
    const struct table table = make_table(comparison, columns);
    table_json(&table, "comparison", json);
    json_report_end(json);
    return 0;
}
