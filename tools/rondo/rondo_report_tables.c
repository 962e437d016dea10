#include "tools/rondo/rondo_report_tables.h"

#include "tools/common/words.h"

#include <stdlib.h>
#include <string.h>

static const char *const kinds[BRANCH_KINDS] = {"conditional", "jump",          "call",
                                                "return",      "indirect jump", "indirect call"};

/* --- which branches, in which order ---------------------------------------------------------- */

struct ranked {
    const struct branch_counts *counts;
    uint64_t wrong;
};

/* By mispredictions, then by executions, descending; then by address. */
static int compare(const void *left, const void *right)
{
    const struct ranked *a = left, *b = right;
    if (a->wrong != b->wrong)
        return a->wrong > b->wrong ? -1 : 1;
    if (a->counts->executed != b->counts->executed)
        return a->counts->executed > b->counts->executed ? -1 : 1;
    return a->counts->address < b->counts->address ? -1 : 1;
}

static int rank(struct rondo_tables *tables, const struct branch_table *branches,
                struct bt_error *error)
{
    const struct rondo_report *report = tables->report;
    const bool others = branch_table_others(branches)->executed > 0;
    size_t count = branch_table_count(branches);
    struct ranked *ranked = malloc((count + 1) * sizeof *ranked);
    tables->branches = malloc((count + 1) * sizeof *tables->branches);
    if (!ranked || !tables->branches) {
        free(ranked);
        return bt_fail(error, BT_MEMORY, "no memory for the list of branches");
    }
    for (size_t i = 0; i < count; i++) {
        ranked[i].counts = branch_table_get(branches, i);
        ranked[i].wrong = ranked[i].counts->wrong[report->settings->followed];
    }
    qsort(ranked, count, sizeof *ranked, compare);
    if (report->top > 0 && count > report->top)
        count = report->top;
    for (size_t i = 0; i < count; i++)
        tables->branches[i] = ranked[i].counts;
    tables->branch_count = count;
    for (size_t i = 0; i < count; i++)
        functions_at(report->functions, tables->branches[i]->address, true, FUNCTION_NONE);
    functions_demangle(report->functions);
    if (others)
        tables->branches[tables->branch_count++] = branch_table_others(branches);
    free(ranked);
    return 0;
}

int rondo_tables_make(struct rondo_tables *tables, const struct rondo_report *report,
                      struct bt_error *error)
{
    memset(tables, 0, sizeof *tables);
    tables->report = report;
    return report->branches ? rank(tables, report->branches, error) : 0;
}

void rondo_tables_clear(struct rondo_tables *tables)
{
    free(tables->branches);
}

/* --- predictors ------------------------------------------------------------------------------ */

static void predictor_row(void *argument, size_t row, struct table_cell *cells)
{
    const struct rondo_report *report = ((struct rondo_tables *)argument)->report;
    const struct front_end_totals *totals = report->totals;
    const uint64_t executed = totals->executed[BRANCH_CONDITIONAL];
    const uint64_t wrong = totals->wrong[row];
    const uint64_t instructions = report->results->instructions;
    cells[0].text = report->names[row];
    cells[1].number = predictor_settings_storage(&report->settings->predictors[row]);
    cells[2].number = wrong;
    cells[3].real = words_ratio(executed - wrong, executed);
    cells[3].none = executed == 0;
    cells[4].real = 1000 * words_ratio(wrong, instructions);
    cells[5].real = 1000 * words_ratio(front_end_mispredicted(totals, row), instructions);
}

struct table rondo_tables_predictors(struct rondo_tables *tables)
{
    static const struct table_column columns[] = {{"PREDICTOR", "predictor", TABLE_TEXT},
                                                  {"BITS", "bits", TABLE_COUNT},
                                                  {"MISPREDICTED", "mispredicted", TABLE_COUNT},
                                                  {"ACCURACY", "accuracy", TABLE_SHARE},
                                                  {"MPKI", "mpki", TABLE_REAL},
                                                  {"ALL MPKI", "all_mpki", TABLE_REAL}};
    return (struct table){.columns = columns,
                          .column_count = sizeof columns / sizeof *columns,
                          .rows = tables->report->settings->predictor_count,
                          .row = predictor_row,
                          .argument = tables};
}

/* --- kinds of branches ----------------------------------------------------------------------- */

static void kind_row(void *argument, size_t row, struct table_cell *cells)
{
    const struct rondo_report *report = ((struct rondo_tables *)argument)->report;
    const struct front_end_totals *totals = report->totals;
    const bool conditional = row == BRANCH_CONDITIONAL;
    const uint64_t executed = totals->executed[row];
    const uint64_t wrong = conditional ? totals->wrong[report->settings->followed]
                                       : totals->wrong_targets[row] + totals->unknown_targets[row];
    cells[0].text = kinds[row];
    cells[1].number = executed;
    cells[2].number = conditional ? totals->taken : executed;
    cells[3].number = wrong;
    cells[4].real = words_ratio(executed - wrong, executed);
    cells[4].none = executed == 0;
    cells[5].real = 1000 * words_ratio(wrong, report->results->instructions);
    cells[6].number = totals->unknown_targets[row];
    cells[7].number = totals->looked_up[row];
    cells[8].number = totals->btb_miss[row];
    cells[9].number = totals->btb_wrong_target[row];
    for (unsigned c = 7; c < 10; c++)
        cells[c].none = totals->looked_up[row] == 0;
}

struct table rondo_tables_kinds(struct rondo_tables *tables)
{
    static const struct table_column columns[] = {
        {"KIND", "kind", TABLE_TEXT},
        {"EXECUTED", "executed", TABLE_COUNT},
        {NULL, "taken", TABLE_COUNT},
        {"MISPREDICTED", "mispredicted", TABLE_COUNT},
        {"ACCURACY", "accuracy", TABLE_SHARE},
        {"MPKI", "mpki", TABLE_REAL},
        {NULL, "no_target_predicted", TABLE_COUNT},
        {NULL, "target_buffer", TABLE_COUNT},
        {"BTB MISS", "btb_miss", TABLE_COUNT},
        {"BTB WRONG TARGET", "btb_wrong_target", TABLE_COUNT}};
    return (struct table){.columns = columns,
                          .column_count = sizeof columns / sizeof *columns,
                          .rows = BRANCH_KINDS,
                          .row = kind_row,
                          .argument = tables};
}

/* --- branches one by one --------------------------------------------------------------------- */

/* Cells of source file without folders, symbol or file, source line, module. */
static void name_cells(const struct rondo_report *report, uint64_t address,
                       struct table_cell *cells)
{
    struct functions *functions = report->functions;
    const struct module *module = functions_module(functions, address);
    const struct function_line line = functions_line(functions, module, address);
    uint32_t number = functions_at(functions, address, true, FUNCTION_NONE);
    const struct function *function =
        number != FUNCTION_NONE ? functions_get(functions, number) : NULL;
    cells[0].text = words_file_name(line.file);
    cells[0].number = line.line;
    cells[3].text = words_file_name(module ? module->path : NULL);
    if (function && function->symbol) {
        cells[1].text = function->name;
        cells[1].number = address - function->start;
    } else {
        cells[1].text = cells[3].text;
        cells[1].number = module ? address - functions_bias(functions, module) : 0;
    }
    cells[2].text = line.file;
    cells[2].number = line.line;
}

static void branch_row(void *argument, size_t row, struct table_cell *cells)
{
    const struct rondo_tables *tables = argument;
    const struct rondo_report *report = tables->report;
    const struct branch_counts *counts = tables->branches[row];
    const bool others = counts == branch_table_others(report->branches);
    const uint64_t wrong = counts->wrong[report->settings->followed];
    cells[0].number = counts->address;
    cells[0].none = others;
    cells[1].text = others ? "others" : kinds[counts->kind];
    cells[2].number = counts->executed;
    cells[3].real = words_ratio(counts->taken, counts->executed);
    cells[4].number = wrong;
    cells[5].real = words_ratio(counts->executed - wrong, counts->executed);
    if (!others)
        name_cells(report, counts->address, &cells[6]);
    for (size_t i = 0; i < report->settings->predictor_count; i++)
        cells[10 + i].number = counts->wrong[i];
}

struct table rondo_tables_branches(struct rondo_tables *tables)
{
    static const struct table_column columns[] = {{"BRANCH", "address", TABLE_ADDRESS},
                                                  {"KIND", "kind", TABLE_TEXT},
                                                  {"EXECUTED", "executed", TABLE_COUNT},
                                                  {"TAKEN", "taken", TABLE_SHARE},
                                                  {"WRONG", "mispredicted", TABLE_COUNT},
                                                  {NULL, "accuracy", TABLE_SHARE},
                                                  {"SOURCE", NULL, TABLE_LINE},
                                                  {"SYMBOL", "symbol", TABLE_SYMBOL},
                                                  {NULL, "line", TABLE_LINE},
                                                  {NULL, "module", TABLE_TEXT}};
    const size_t predictors = tables->report->settings->predictor_count;
    const size_t fixed = sizeof columns / sizeof *columns;
    memcpy(tables->columns, columns, sizeof columns);
    for (size_t i = 0; i < predictors; i++) {
        snprintf(tables->names[i], sizeof tables->names[i], "wrong_%s", tables->report->names[i]);
        tables->columns[fixed + i] = (struct table_column){NULL, tables->names[i], TABLE_COUNT};
    }
    return (struct table){.columns = tables->columns,
                          .column_count = fixed + predictors,
                          .rows = tables->branch_count,
                          .row = branch_row,
                          .argument = tables};
}
