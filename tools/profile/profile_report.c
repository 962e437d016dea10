#include "tools/profile/profile_report.h"

#include "formats/base/printable.h"
#include "formats/text/table.h"
#include "tools/common/json_report.h"
#include "tools/common/words.h"
#include "tools/profile/rows.h"

#include <inttypes.h>
#include <stdlib.h>

static const char *const names[PROFILE_BYS] = {"function", "line", "block", "module"};
static const char *const keys[PROFILE_BYS] = {"functions", "lines", "blocks", "modules"};
static const char *const titles[PROFILE_BYS] = {"functions", "source lines", "blocks", "modules"};

const char *profile_by_name(enum profile_by by)
{
    return names[by];
}

/* --- columns ---------------------------------------------------------------------------------- */

/* Columns of a row. */
enum profile_column {
    THREAD,
    INSTRUCTIONS,
    SHARE,
    INCLUSIVE,
    INCLUSIVE_SHARE,
    CALLS,
    EXECUTIONS,
    READS,
    WRITES,
    ADDRESS,
    BLOCK_INSTRUCTIONS,
    MODULE,
    MODULE_PATH,
    LOAD_ADDRESS,
    SOURCE,
    SOURCE_FILE,
    SOURCE_LINE,
    FUNCTION,
    FUNCTION_NAME,
    FUNCTION_ADDRESS,
    OFFSET,
    END
};

static const struct table_column columns[] = {
    [THREAD] = {"THREAD", "thread", TABLE_COUNT},
    [INSTRUCTIONS] = {"INSTRUCTIONS", "instructions", TABLE_COUNT},
    [SHARE] = {"SHARE", "share", TABLE_SHARE},
    [INCLUSIVE] = {"INCLUSIVE", "inclusive", TABLE_COUNT},
    [INCLUSIVE_SHARE] = {NULL, "inclusive_share", TABLE_SHARE},
    [CALLS] = {"CALLS", "calls", TABLE_COUNT},
    [EXECUTIONS] = {"EXECUTIONS", "executions", TABLE_COUNT},
    [READS] = {"READS", "reads", TABLE_COUNT},
    [WRITES] = {"WRITES", "writes", TABLE_COUNT},
    [ADDRESS] = {"ADDRESS", "address", TABLE_ADDRESS},
    [BLOCK_INSTRUCTIONS] = {NULL, "block_instructions", TABLE_COUNT},
    [MODULE] = {"MODULE", NULL, TABLE_TEXT},
    [MODULE_PATH] = {NULL, "module", TABLE_TEXT},
    [LOAD_ADDRESS] = {NULL, "load_address", TABLE_ADDRESS},
    [SOURCE] = {"SOURCE", NULL, TABLE_LINE},
    [SOURCE_FILE] = {NULL, "file", TABLE_TEXT},
    [SOURCE_LINE] = {NULL, "line", TABLE_COUNT},
    [FUNCTION] = {"FUNCTION", NULL, TABLE_SYMBOL},
    [FUNCTION_NAME] = {NULL, "function", TABLE_TEXT},
    [FUNCTION_ADDRESS] = {NULL, "function_address", TABLE_ADDRESS},
    [OFFSET] = {NULL, "offset", TABLE_COUNT},
};

static const uint8_t shown[PROFILE_BYS][END + 1] = {
    {THREAD, INSTRUCTIONS, SHARE, INCLUSIVE, INCLUSIVE_SHARE, CALLS, READS, WRITES, MODULE,
     MODULE_PATH, FUNCTION, FUNCTION_NAME, FUNCTION_ADDRESS, END},
    {THREAD, INSTRUCTIONS, SHARE, READS, WRITES, SOURCE, SOURCE_FILE, SOURCE_LINE, MODULE_PATH,
     FUNCTION, FUNCTION_NAME, END},
    {THREAD, EXECUTIONS, INSTRUCTIONS, SHARE, READS, WRITES, ADDRESS, BLOCK_INSTRUCTIONS, MODULE,
     MODULE_PATH, SOURCE, SOURCE_FILE, SOURCE_LINE, FUNCTION, FUNCTION_NAME, OFFSET, END},
    {THREAD, INSTRUCTIONS, SHARE, READS, WRITES, MODULE, MODULE_PATH, LOAD_ADDRESS, END}};

static bool is_wanted(const struct profile_report *report, unsigned column)
{
    switch (column) {
    case THREAD:
        return report->threads;
    case READS:
    case WRITES:
        return report->data;
    default:
        return true;
    }
}

/* --- cells ------------------------------------------------------------------------------------ */

struct profile_listing {
    const struct profile_report *report;
    struct profile_rows rows;
    uint64_t total;
    uint8_t list[END];
    size_t column_count;
};

static void fill_function(const struct profile_listing *listing, const struct profile_row *row,
                          unsigned column, struct table_cell *cell)
{
    if (row->function == FUNCTION_NONE) {
        cell->text = column == FUNCTION ? "(stub)" : NULL;
        cell->none = column != FUNCTION;
        return;
    }
    const struct function *function = functions_get(listing->report->functions, row->function);
    switch (column) {
    case FUNCTION_NAME:
        cell->text = function->symbol ? function->name : NULL;
        break;
    case FUNCTION_ADDRESS:
        cell->number = function->start;
        break;
    case OFFSET:
        cell->number = row->block->address - function->start;
        break;
    default:
        cell->text = function->name;
        if (row->block)
            cell->number = row->block->address - function->start;
    }
}

static void fill_place(const struct profile_listing *listing, const struct profile_row *row,
                       unsigned column, struct table_cell *cell)
{
    const char *file = row->file;
    uint32_t line = row->line;
    if (row->block && column >= SOURCE) {
        struct function_line at =
            functions_line(listing->report->functions, row->module, row->block->address);
        file = at.file;
        line = at.line;
    }
    switch (column) {
    case MODULE:
        cell->text = row->module ? words_file_name(row->module->path) : "(memory)";
        break;
    case MODULE_PATH:
        cell->text = row->module ? row->module->path : NULL;
        break;
    case LOAD_ADDRESS:
        cell->number = row->module ? row->module->load_address : 0;
        cell->none = !row->module;
        break;
    case SOURCE:
        cell->text = words_file_name(file);
        cell->number = line;
        break;
    case SOURCE_FILE:
        cell->text = file;
        break;
    default:
        cell->number = line;
        cell->none = !file;
    }
}

static void fill_cell(const struct profile_listing *listing, const struct profile_row *row,
                      unsigned column, struct table_cell *cell)
{
    switch (column) {
    case THREAD:
        cell->number = row->thread;
        break;
    case INSTRUCTIONS:
        cell->number = row->instructions;
        break;
    case SHARE:
        cell->real = words_ratio(row->instructions, listing->total);
        break;
    case INCLUSIVE:
        cell->number = row->inclusive;
        break;
    case INCLUSIVE_SHARE:
        cell->real = words_ratio(row->inclusive, listing->total);
        break;
    case CALLS:
    case EXECUTIONS:
        cell->number = row->count;
        break;
    case READS:
        cell->number = row->reads;
        break;
    case WRITES:
        cell->number = row->writes;
        break;
    case ADDRESS:
        cell->number = row->block->address;
        break;
    case BLOCK_INSTRUCTIONS:
        cell->number = row->block->instruction_count;
        break;
    case MODULE:
    case MODULE_PATH:
    case LOAD_ADDRESS:
    case SOURCE:
    case SOURCE_FILE:
    case SOURCE_LINE:
        fill_place(listing, row, column, cell);
        break;
    default:
        fill_function(listing, row, column, cell);
    }
}

static void fill_row(void *argument, size_t number, struct table_cell *cells)
{
    const struct profile_listing *listing = argument;
    for (size_t c = 0; c < listing->column_count; c++)
        fill_cell(listing, &listing->rows.rows[number], listing->list[c], &cells[c]);
}

/* --- tables ----------------------------------------------------------------------------------- */

static uint64_t total_of(const struct profile_report *report)
{
    uint64_t total = 0;
    for (unsigned t = 0; t < profiler_threads(report->profiler); t++)
        total += profiler_thread(report->profiler, t)->instructions;
    return total;
}

static uint64_t executions_of(const struct profile_report *report)
{
    uint64_t executions = 0;
    for (unsigned t = 0; t < profiler_threads(report->profiler); t++)
        for (const struct profile_block *block = profiler_thread(report->profiler, t)->blocks;
             block; block = block->next)
            executions += block->count;
    return executions;
}

static void print_text(const struct table *table, enum profile_by by, size_t count, FILE *out)
{
    fputc('\n', out);
    if (table->rows < count)
        fprintf(out, "%zu of %zu %s:\n", table->rows, count, titles[by]);
    else
        fprintf(out, "%zu %s:\n", count, titles[by]);
    table_print(table, out);
}

/* Whether a table repeats another one. */
static bool is_idle(const struct profile_listing *listing, enum profile_by by)
{
    if (!listing->report->usual || listing->report->json || by != PROFILE_BY_LINE)
        return false;
    for (size_t i = 0; i < listing->rows.count; i++)
        if (listing->rows.rows[i].file)
            return false;
    return true;
}

/* Prints one table. */
static int print_table(const struct profile_report *report, enum profile_by by,
                       struct json_put *json, FILE *out)
{
    struct profile_listing listing = {.report = report, .total = total_of(report)};
    struct table_column chosen[END];
    for (const uint8_t *column = shown[by]; *column != END; column++)
        if (is_wanted(report, *column)) {
            chosen[listing.column_count] = columns[*column];
            listing.list[listing.column_count++] = *column;
        }
    int result = profile_rows_make(&listing.rows, report, by);
    if (result == 0 && !is_idle(&listing, by)) {
        size_t count = listing.rows.count;
        struct table table = {.columns = chosen,
                              .column_count = listing.column_count,
                              .rows = report->top < count ? (size_t)report->top : count,
                              .row = fill_row,
                              .argument = &listing};
        if (json)
            table_json(&table, keys[by], json);
        else if (report->csv)
            table_print_csv(&table, out);
        else
            print_text(&table, by, count, out);
    }
    free(listing.rows.rows);
    return result;
}

static void print_summary(const struct profile_report *report, FILE *out)
{
    fputs("bustap profile: ", out);
    printable_put(report->program, out);
    fprintf(out, ": %s, %" PRIu64 " instructions, %" PRIu64 " blocks executed",
            PRINTABLE(report->ended), total_of(report), executions_of(report));
    if (profiler_threads(report->profiler) > 1)
        fprintf(out, ", %u threads, %" PRIu64 " switches (every %" PRIu64 " instructions)",
                profiler_threads(report->profiler), report->switches, report->quantum);
    fputc('\n', out);
}

int profile_report_print(const struct profile_report *report, FILE *out, struct bt_error *error)
{
    struct json_put *json = report->json ? json_report_begin(out) : NULL;
    int result = report->json && !json ? BT_MEMORY : 0;
    if (json) {
        json_text(json, "program", report->program);
        json_text(json, "ended", report->ended);
        json_count(json, "instructions", total_of(report));
        json_count(json, "block_executions", executions_of(report));
        json_count(json, "threads", profiler_threads(report->profiler));
        json_count(json, "quantum", report->quantum);
        json_count(json, "switches", report->switches);
    } else if (!report->csv) {
        print_summary(report, out);
    }
    for (unsigned i = 0; i < report->by_count && result == 0; i++)
        result = print_table(report, (enum profile_by)report->by[i], json, out);
    if (result == 0 && json)
        json_report_end(json);
    else
        json_put_free(json);
    return result < 0 ? bt_fail(error, result, "no memory for a profile's tables") : 0;
}
