#define _GNU_SOURCE /* qsort_r */
#include "tools/wet/wet_report_write.h"

#include "formats/base/printable.h"
#include "tools/common/json_report.h"
#include "tools/wet/wet_report_write_internal.h"

#include <inttypes.h>

/* --- what is printed ---------------------------------------------------------------------------
 */

static uint64_t key_of(const struct wet_report *report, uint32_t id, bool by_values)
{
    return by_values ? report->locality.of[id].counts.values : report->load_of[id].loads;
}

struct order {
    const struct wet_report *report;
    bool by_values;
};

static int compare(const void *a, const void *b, void *context)
{
    const struct order *order = context;
    const uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    const uint64_t left_key = key_of(order->report, left, order->by_values);
    const uint64_t right_key = key_of(order->report, right, order->by_values);
    if (left_key != right_key)
        return left_key > right_key ? -1 : 1;
    return (left > right) - (left < right);
}

static void sort_list(const struct wet_report *report, struct wet_report_list *list, bool by_values,
                      uint64_t top)
{
    struct order order = {.report = report, .by_values = by_values};
    qsort_r(list->ids, list->count, sizeof *list->ids, compare, &order);
    list->count = list->count < top ? list->count : (size_t)top;
}

static void add_counts(struct wet_locality_counts *to, const struct wet_locality_counts *from)
{
    to->values += from->values;
    for (unsigned i = 0; i < WET_PREDICTOR_COUNT; i++)
        to->right[i] += from->right[i];
}

/* Collects what the tables show. 0 or BT_MEMORY; clear it in either case. */
static int look_init(struct wet_report_look *look, const struct wet_report *report, uint64_t top)
{
    const size_t ids = report->trace->file.code.instruction_count;
    *look = (struct wet_report_look){.report = report};
    look->far.ids = malloc(ids * sizeof *look->far.ids);
    look->valued.ids = malloc(ids * sizeof *look->valued.ids);
    if (!look->far.ids || !look->valued.ids)
        return BT_MEMORY;
    for (uint32_t id = 1; id < ids; id++) {
        const struct wet_report_load *load = &report->load_of[id];
        const struct wet_locality_counts *counts = &report->locality.of[id].counts;
        look->loading += load->loads > 0;
        if (load->loads > 0 && load->near == 0) {
            look->far.ids[look->far.count++] = id;
            look->far_loads += load->loads;
        }
        if (counts->values > 0)
            look->valued.ids[look->valued.count++] = id;
        add_counts(&look->classes[wet_report_class(report, id)], counts);
        add_counts(&look->classes[WET_REPORT_CLASSES], counts);
    }
    look->far_count = look->far.count;
    sort_list(report, &look->far, false, top);
    sort_list(report, &look->valued, true, top);
    for (unsigned i = 0; i < WET_REPORT_BUCKETS; i++)
        if (report->by_stores[i] + report->by_instructions[i] > 0)
            look->buckets = i + 1;
    return 0;
}

static void look_clear(struct wet_report_look *look)
{
    free(look->far.ids);
    free(look->valued.ids);
}

/* --- text --------------------------------------------------------------------------------------
 */

static void print_summary(const struct wet_report_look *look, FILE *out)
{
    const struct wet_report *report = look->report;
    fprintf(out,
            "bustap wet report: %s: %" PRIu64 " instructions, %" PRIu64 " loads, %" PRIu64
            " stores\n\nLoads by what wrote the bytes:\n",
            PRINTABLE(report->trace->file.header.command), wet_report_instructions(report),
            report->loads, report->stores);
}

static void print_far(const struct wet_report_look *look, FILE *out)
{
    const struct wet_report *report = look->report;
    fprintf(out,
            "\n%" PRIu64 " of %" PRIu64 " instructions that load never depended on one of the last "
            "%" PRIu64 " stores; they have %.2f %% of the loads",
            look->far_count, look->loading, report->settings.within,
            report->loads ? 100.0 * (double)look->far_loads / (double)report->loads : 0.0);
    if (look->far.count > 0)
        fprintf(out, look->far.count < look->far_count ? ". The first %zu:\n" : ":\n",
                look->far.count);
    else
        fputc('\n', out);
}

static void print_text(const struct wet_report_look *look, const struct wet_report_table *tables,
                       FILE *out)
{
    const struct wet_report *report = look->report;
    print_summary(look, out);
    table_print(&tables[0].table, out);
    if (look->buckets > 0) {
        fputs("\nLoads by their distance from the latest store that they depend on:\n", out);
        table_print(&tables[1].table, out);
    }
    print_far(look, out);
    if (look->far.count > 0)
        table_print(&tables[2].table, out);
    fputs("\nIdeal parallelism, each instruction taking one step:\n", out);
    table_print(&tables[3].table, out);
    if (report->cut > 0)
        fprintf(out,
                "Without the dependences of %" PRIu64 " loads on writes that were too far away to "
                "be kept; see --max-memory.\n",
                report->cut);
    if (!report->has_values) {
        fputs("\nThe trace has no values.\n", out);
        return;
    }
    fputs("\nValues that predictors say right:\n", out);
    table_print(&tables[4].table, out);
    if (report->locality.lost > 0)
        fprintf(out, "%" PRIu64 " contexts were not kept; see --max-memory.\n",
                report->locality.lost);
    if (look->valued.count > 0) {
        fprintf(out, "\nInstructions with the most values:\n");
        table_print(&tables[5].table, out);
    }
}

/* --- JSON --------------------------------------------------------------------------------------
 */

static int print_json(const struct wet_report_look *look, const struct wet_report_table *tables,
                      size_t count, FILE *out)
{
    const struct wet_report *report = look->report;
    struct json_put *json = json_report_begin(out);
    if (!json)
        return BT_MEMORY;
    json_text(json, "command", report->trace->file.header.command);
    json_bool(json, "complete", report->trace->file.is_closed);
    json_count(json, "instructions", wet_report_instructions(report));
    json_count(json, "loads", report->loads);
    json_count(json, "stores", report->stores);
    json_count(json, "loads_cut", report->cut);
    json_count(json, "within", report->settings.within);
    json_count(json, "load_instructions", look->loading);
    json_count(json, "far_load_instructions", look->far_count);
    json_count(json, "far_load_executions", look->far_loads);
    if (report->has_values)
        json_count(json, "contexts_lost", report->locality.lost);
    for (size_t i = 0; i < count; i++)
        table_json(&tables[i].table, tables[i].key, json);
    json_report_end(json);
    return 0;
}

/* --- CSV ---------------------------------------------------------------------------------------
 */

static const struct table_column csv_columns[] = {{NULL, "table", TABLE_TEXT},
                                                  {NULL, "row", TABLE_COUNT},
                                                  {NULL, "column", TABLE_TEXT},
                                                  {NULL, "value", TABLE_TEXT}};

/* One row of one of the tables: a cell a line, so that all lines have the same columns. */
struct csv_row {
    const struct wet_report_table *table;
    size_t row;
    size_t columns[TABLE_COLUMNS_MAX]; /* those with a key */
    char value[32];
};

static const char *show_cell(struct csv_row *row, enum table_kind kind,
                             const struct table_cell *cell)
{
    if (cell->none)
        return NULL;
    switch (kind) {
    case TABLE_TEXT:
        return cell->text;
    case TABLE_ADDRESS:
        snprintf(row->value, sizeof row->value, "0x%" PRIx64, cell->number);
        break;
    case TABLE_SHARE:
    case TABLE_REAL:
        snprintf(row->value, sizeof row->value, "%.6g", cell->real);
        break;
    default:
        snprintf(row->value, sizeof row->value, "%" PRIu64, cell->number);
    }
    return row->value;
}

static void fill_csv(void *argument, size_t number, struct table_cell *cells)
{
    struct csv_row *row = argument;
    const struct table *table = &row->table->table;
    const struct table_column *column = &table->columns[row->columns[number]];
    struct table_cell filled[TABLE_COLUMNS_MAX] = {{.text = NULL}};
    table->row(table->argument, row->row, filled);
    cells[0].text = row->table->key;
    cells[1].number = row->row;
    cells[2].text = column->key;
    cells[3].text = show_cell(row, column->kind, &filled[row->columns[number]]);
}

static void print_csv(const struct wet_report_table *tables, size_t count, FILE *out)
{
    struct csv_row row = {.row = 0};
    struct table lines = {.columns = csv_columns,
                          .column_count = sizeof csv_columns / sizeof csv_columns[0],
                          .row = fill_csv,
                          .argument = &row};
    table_print_csv_heading(&lines, out);
    for (size_t i = 0; i < count; i++) {
        const struct table *table = &tables[i].table;
        row.table = &tables[i];
        lines.rows = 0;
        for (size_t k = 0; k < table->column_count; k++)
            if (table->columns[k].key)
                row.columns[lines.rows++] = k;
        for (row.row = 0; row.row < table->rows && !ferror(out); row.row++)
            table_print_csv_rows(&lines, out);
    }
}

/* --- interface ---------------------------------------------------------------------------------
 */

int wet_report_write(const struct wet_report *report, enum wet_report_format format, uint64_t top,
                     FILE *out, struct bt_error *error)
{
    struct wet_report_look look;
    struct wet_report_table tables[WET_REPORT_TABLES];
    int result = look_init(&look, report, top);
    const size_t count = wet_report_tables(&look, tables);
    if (result == 0 && format == WET_REPORT_JSON)
        result = print_json(&look, tables, count, out);
    else if (result == 0 && format == WET_REPORT_CSV)
        print_csv(tables, count, out);
    else if (result == 0)
        print_text(&look, tables, out);
    look_clear(&look);
    return result < 0 ? bt_fail(error, BT_MEMORY, "no memory for the report") : 0;
}
