/* The tables of a report. */
#include "tools/wet/wet_report_write_internal.h"

#include <inttypes.h>
#include <string.h>

static double share(uint64_t part, uint64_t whole)
{
    return whole > 0 ? (double)part / (double)whole : 0.0;
}

/* --- sources of loads --------------------------------------------------------------------------
 */

static const struct table_column source_columns[] = {{"WRITTEN BY", "source", TABLE_TEXT},
                                                     {"LOADS", "loads", TABLE_COUNT},
                                                     {"SHARE", "share", TABLE_SHARE}};

static void fill_source(void *argument, size_t row, struct table_cell *cells)
{
    static const char *const names[] = {[WET_REPORT_STORE] = "a store",
                                        [WET_REPORT_SYSTEM] = "a system call",
                                        [WET_REPORT_FARTHER] = "farther than kept",
                                        [WET_REPORT_NOTHING] = "nothing recorded"};
    const struct wet_report_look *look = argument;
    cells[0].text = names[row];
    cells[1].number = look->report->sources[row];
    cells[2].real = share(look->report->sources[row], look->report->loads);
}

/* --- distances ---------------------------------------------------------------------------------
 */

static const struct table_column distance_columns[] = {
    {"DISTANCE", NULL, TABLE_TEXT},
    {NULL, "from", TABLE_COUNT},
    {NULL, "to", TABLE_COUNT},
    {"IN STORES", "in_stores", TABLE_COUNT},
    {"SHARE", "in_stores_share", TABLE_SHARE},
    {"CUMULATIVE", "in_stores_cumulative", TABLE_SHARE},
    {"IN INSTRUCTIONS", "in_instructions", TABLE_COUNT},
    {"SHARE", "in_instructions_share", TABLE_SHARE},
    {"CUMULATIVE", "in_instructions_cumulative", TABLE_SHARE}};

static void fill_counts(const uint64_t *counts, size_t row, uint64_t all, struct table_cell *cells)
{
    uint64_t sum = 0;
    for (size_t i = 0; i <= row; i++)
        sum += counts[i];
    cells[0].number = counts[row];
    cells[1].real = share(counts[row], all);
    cells[2].real = share(sum, all);
}

static void fill_distance(void *argument, size_t row, struct table_cell *cells)
{
    struct wet_report_look *look = argument;
    const struct wet_report *report = look->report;
    const uint64_t from = wet_report_bucket_start((unsigned)row);
    const uint64_t to = from > 0 ? from + (from - 1) : 0;
    if (from == to)
        snprintf(look->name, sizeof look->name, "%" PRIu64, from);
    else if (from < UINT64_C(1) << 20)
        snprintf(look->name, sizeof look->name, "%" PRIu64 " to %" PRIu64, from, to);
    else
        snprintf(look->name, sizeof look->name, "from 2^%zu on", row - 1);
    cells[0].text = look->name;
    cells[1].number = from;
    cells[2].number = to;
    fill_counts(report->by_stores, row, report->sources[WET_REPORT_STORE], &cells[3]);
    fill_counts(report->by_instructions, row, report->sources[WET_REPORT_STORE], &cells[6]);
}

/* --- instructions ------------------------------------------------------------------------------
 */

/* Columns of an instruction's place. */
#define PLACE_COLUMNS                                                                              \
    {"ADDRESS", "address", TABLE_ADDRESS}, {"SYMBOL", NULL, TABLE_SYMBOL},                         \
        {NULL, "function", TABLE_TEXT}, {"SOURCE", NULL, TABLE_LINE}, {NULL, "file", TABLE_TEXT},  \
    {                                                                                              \
        NULL, "line", TABLE_COUNT                                                                  \
    }

static void fill_place(const struct wet_code *code, uint32_t id, struct table_cell *cells)
{
    const struct wet_instruction *instruction = &code->instructions[id];
    const struct wet_function *function = &code->functions[instruction->function];
    const char *path = code->files[instruction->file], *slash = strrchr(path, '/');
    const char *file = instruction->file == 0 ? NULL : slash ? slash + 1 : path;
    cells[0].number = instruction->address;
    cells[1].text = cells[2].text = function->name;
    cells[1].number = function->name ? instruction->address - function->start : 0;
    cells[3].text = cells[4].text = file;
    cells[3].number = cells[5].number = instruction->line;
    cells[5].none = instruction->line == 0;
}

static const struct table_column far_columns[] = {{"LOADS", "loads", TABLE_COUNT},
                                                  {"SHARE", "share", TABLE_SHARE},
                                                  {"NEAREST", "nearest", TABLE_COUNT},
                                                  {NULL, "id", TABLE_COUNT},
                                                  PLACE_COLUMNS};

static void fill_far(void *argument, size_t row, struct table_cell *cells)
{
    const struct wet_report_look *look = argument;
    const uint32_t id = look->far.ids[row];
    const struct wet_report_load *load = &look->report->load_of[id];
    cells[0].number = load->loads;
    cells[1].real = share(load->loads, look->report->loads);
    cells[2].number = load->nearest;
    cells[2].none = load->stores == 0;
    cells[3].number = id;
    fill_place(&look->report->trace->file.code, id, &cells[4]);
}

/* --- critical path -----------------------------------------------------------------------------
 */

static const struct table_column path_columns[] = {{"DEPENDENCES", "dependences", TABLE_TEXT},
                                                   {"CRITICAL PATH", "length", TABLE_COUNT},
                                                   {"PARALLELISM", "parallelism", TABLE_REAL}};

static void fill_path(void *argument, size_t row, struct table_cell *cells)
{
    const struct wet_report *report = ((const struct wet_report_look *)argument)->report;
    cells[0].text = row == 0 ? "data" : "data and control";
    cells[1].number = row == 0 ? report->path.data : report->path.all;
    cells[2].real = share(wet_report_instructions(report), cells[1].number);
}

/* --- value locality ----------------------------------------------------------------------------
 */

#define VALUE_COLUMNS                                                                              \
    {"VALUES", "values", TABLE_COUNT}, {"LAST", NULL, TABLE_SHARE}, {NULL, "last", TABLE_COUNT},   \
        {"STRIDE", NULL, TABLE_SHARE}, {NULL, "stride", TABLE_COUNT},                              \
        {"CONTEXT", NULL, TABLE_SHARE}, {NULL, "context", TABLE_COUNT},                            \
        {"ANY", NULL, TABLE_SHARE},                                                                \
    {                                                                                              \
        NULL, "any", TABLE_COUNT                                                                   \
    }
#define VALUE_CELLS (1u + 2u * WET_PREDICTOR_COUNT)

static void fill_values(const struct wet_locality_counts *counts, struct table_cell *cells)
{
    cells[0].number = counts->values;
    for (unsigned i = 0; i < WET_PREDICTOR_COUNT; i++) {
        cells[1 + 2 * i].real = share(counts->right[i], counts->values);
        cells[2 + 2 * i].number = counts->right[i];
    }
}

static const struct table_column class_columns[] = {{"CLASS", "class", TABLE_TEXT}, VALUE_COLUMNS};

static void fill_class(void *argument, size_t row, struct table_cell *cells)
{
    static const char *const names[] = {"loads", "stores", "others", "all"};
    cells[0].text = names[row];
    fill_values(&((const struct wet_report_look *)argument)->classes[row], &cells[1]);
}

static const struct table_column valued_columns[] = {
    VALUE_COLUMNS, {NULL, "id", TABLE_COUNT}, PLACE_COLUMNS};

static void fill_valued(void *argument, size_t row, struct table_cell *cells)
{
    const struct wet_report_look *look = argument;
    const uint32_t id = look->valued.ids[row];
    fill_values(&look->report->locality.of[id].counts, cells);
    cells[VALUE_CELLS].number = id;
    fill_place(&look->report->trace->file.code, id, &cells[VALUE_CELLS + 1]);
}

/* --- all ---------------------------------------------------------------------------------------
 */

#define TABLE(table_key, table_columns, table_rows, fill)                                          \
    (struct wet_report_table)                                                                      \
    {                                                                                              \
        .key = (table_key), .table = {                                                             \
            .columns = (table_columns),                                                            \
            .column_count = sizeof(table_columns) / sizeof(table_columns)[0],                      \
            .rows = (table_rows),                                                                  \
            .row = (fill),                                                                         \
            .argument = look                                                                       \
        }                                                                                          \
    }

size_t wet_report_tables(struct wet_report_look *look, struct wet_report_table *tables)
{
    tables[0] = TABLE("sources", source_columns, WET_REPORT_SOURCES, fill_source);
    tables[1] = TABLE("distances", distance_columns, look->buckets, fill_distance);
    tables[2] = TABLE("far_loads", far_columns, look->far.count, fill_far);
    tables[3] = TABLE("critical_paths", path_columns, 2, fill_path);
    tables[4] = TABLE("value_classes", class_columns, WET_REPORT_CLASSES + 1, fill_class);
    tables[5] = TABLE("value_instructions", valued_columns, look->valued.count, fill_valued);
    return look->report->has_values ? WET_REPORT_TABLES : WET_REPORT_TABLES - 2;
}
