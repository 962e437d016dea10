#include "tools/dcfg/view_command.h"

#include "formats/base/saturating.h"
#include "formats/base/suggestion.h"
#include "tools/common/json_report.h"
#include "tools/dcfg/bus_report.h"
#include "tools/dcfg/graph_file.h"

#include <string.h>

int view_open(struct view *view, const char *path, const char *process, struct bt_error *error)
{
    *view = (struct view){.path = path};
    view->graph = graph_file_read(path, error);
    if (!view->graph)
        return error->code;
    view->process = graph_file_process(view->graph, path, process, error);
    if (!view->process)
        return error->code;
    if (graph_profile_make(&view->profile, view->process, error) < 0)
        return error->code;
    view->names = names_new(view->process, error);
    return view->names ? 0 : error->code;
}

void view_close(struct view *view)
{
    names_free(view->names);
    graph_profile_clear(&view->profile);
    dcfg_free(view->graph);
    *view = (struct view){0};
}

int view_choose_form(enum view_form *form, bool csv, bool json, struct bt_error *error)
{
    if (csv && json)
        return bt_fail(error, BT_USAGE, "--csv and --json exclude each other");
    *form = csv ? VIEW_CSV : json ? VIEW_JSON : VIEW_TEXT;
    return 0;
}

/* Index of the sort key in the list, which ends with NULL; or BT_USAGE. */
static int choose_order(const char *sort, const char *const *list, struct bt_error *error)
{
    char known[120] = "";
    for (int i = 0; list[i]; i++) {
        if (strcmp(sort, list[i]) == 0)
            return i;
        size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, "%s%s",
                 i == 0        ? ""
                 : list[i + 1] ? ", "
                               : " or ",
                 list[i]);
    }
    bt_fail(error, BT_USAGE, "--sort: '%.40s' is not %s", sort, known);
    return suggestion_add(error, suggestion_among(sort, list));
}

bool view_has_chunks(const struct view *view)
{
    return view->graph->bus && view->graph->bus->chunks;
}

const char *view_unit(const struct view *view, uint64_t count)
{
    return unit_name(view_has_chunks(view), count);
}

const char *view_executed(const struct view *view, uint64_t count)
{
    return unit_executed(view_has_chunks(view), count);
}

/* Names columns after what they count, and hides from people what only a bus leaves open. */
static void adapt_columns(const struct view *view, struct table *table,
                          struct table_column columns[TABLE_COLUMNS_MAX])
{
    static const char *const names[][2] = {{"INSTRUCTIONS", "CHUNKS"},
                                           {"instructions", "chunks"},
                                           {"block_instructions", "block_chunks"}};
    memcpy(columns, table->columns, table->column_count * sizeof *columns);
    table->columns = columns;
    for (size_t i = 0; i < table->column_count; i++) {
        struct table_column *column = &columns[i];
        if (!view->graph->bus && column->key && strcmp(column->key, "confidence") == 0)
            column->heading = NULL;
        for (size_t n = 0; view_has_chunks(view) && n < sizeof names / sizeof *names; n++) {
            if (column->heading && strcmp(column->heading, names[n][0]) == 0)
                column->heading = names[n][1];
            if (column->key && strcmp(column->key, names[n][0]) == 0)
                column->key = names[n][1];
        }
    }
}

/* --- columns of threads ---------------------------------------------------------------------- */

#define HEADING_BYTES 24u

/* The table that is printed: the listed one, adapted, and a column for each thread. */
struct thread_table {
    const struct view *view;
    const struct view_table *listed;
    const struct thread_counts *counts;
    struct table_column columns[TABLE_COLUMNS_MAX];
    char headings[THREADS_CHOSEN_MAX][HEADING_BYTES], keys[THREADS_CHOSEN_MAX][HEADING_BYTES];
};

/* Sums up a row by thread. */
static void fill_threads(const struct thread_table *table, size_t row, struct table_cell *cells)
{
    const struct view_table *listed = table->listed;
    const uint32_t threads = table->counts->threads.count;
    size_t next = 0;
    uint32_t block;
    while ((block = listed->next_block(listed->table.argument, row, &next)) != DCFG_NONE) {
        const uint64_t factor =
            listed->sum_is_instructions ? table->view->process->blocks[block].instructions : 1;
        for (uint32_t t = 0; t < threads; t++) {
            const uint64_t count = thread_counts_of(table->counts, block, t);
            cells[t].number = saturating_add(cells[t].number, saturating_multiply(count, factor));
        }
    }
}

static void fill_row(void *argument, size_t row, struct table_cell *cells)
{
    const struct thread_table *table = argument;
    const struct table *inner = &table->listed->table;
    const uint32_t threads = table->counts->threads.count;
    struct table_cell *first = cells + table->listed->sum_column + 1;
    inner->row(inner->argument, row, cells);
    if (threads == 0)
        return;
    const size_t behind = inner->column_count - table->listed->sum_column - 1;
    memmove(first + threads, first, behind * sizeof *first);
    memset(first, 0, threads * sizeof *first);
    fill_threads(table, row, first);
}

/* Adds the columns of threads to those of the list. Returns the number of columns. */
static size_t add_columns(struct thread_table *table)
{
    const struct thread_choice *threads = &table->counts->threads;
    const size_t count = table->listed->table.column_count;
    struct table_column *first = table->columns + table->listed->sum_column + 1;
    const size_t behind = count - table->listed->sum_column - 1;
    memmove(first + threads->count, first, behind * sizeof *first);
    for (uint32_t t = 0; t < threads->count; t++) {
        snprintf(table->headings[t], HEADING_BYTES, "THREAD %" PRIu32, threads->numbers[t]);
        snprintf(table->keys[t], HEADING_BYTES, VIEW_THREAD_KEY, threads->numbers[t]);
        first[t] = (struct table_column){table->headings[t], table->keys[t], TABLE_COUNT};
    }
    return count + threads->count;
}

/* --- printing -------------------------------------------------------------------------------- */

static int print_json(const struct view *view, const struct table *table, const char *key,
                      const char *count_key, size_t count)
{
    struct json_put *json = json_report_begin(stdout);
    if (!json)
        return BT_MEMORY;
    json_count(json, "process", view->process->id);
    json_count(json, view_unit(view, 0), view->profile.total);
    bus_report_json(json, view->graph->bus);
    if (count_key)
        json_count(json, count_key, count);
    table_json(table, key, json);
    json_report_end(json);
    return 0;
}

int view_print(const struct view *view, const struct view_list *list,
               const struct view_table *listed)
{
    struct thread_table made = {.view = view, .listed = listed, .counts = &list->counts};
    struct table table = listed->table;
    adapt_columns(view, &table, made.columns);
    table.column_count = add_columns(&made);
    table.row = fill_row;
    table.argument = &made;
    if (list->form == VIEW_JSON)
        return print_json(view, &table, listed->key, listed->count_key, listed->count);
    if (list->form == VIEW_CSV)
        table_print_csv(&table, stdout);
    else
        table_print(&table, stdout);
    return 0;
}

int view_one_main(struct invocation *call, void *settings, const char *const *process,
                  int (*show)(const struct view *view, const void *settings,
                              struct bt_error *error))
{
    struct bt_error error = {0};
    int status;
    if (!command_options(call, settings, &status))
        return status;
    if (call->count != 1)
        return command_usage(call, "one graph is needed");
    struct view view;
    int result = view_open(&view, call->arguments[0], *process, &error);
    if (result == 0)
        result = show(&view, settings, &error);
    view_close(&view);
    return result < 0 ? command_failure(&error) : STATUS_GOOD;
}

int view_list_add_thread(void *settings, const char *argument, struct bt_error *error)
{
    return thread_choice_add(&((struct view_list *)settings)->threads, argument, error);
}

int view_list_main(struct invocation *call, const char *const *orders, uint64_t top,
                   int (*print)(const struct view *view, const struct view_list *list,
                                struct bt_error *error))
{
    struct view_list list = {.sort = orders[0], .top = top};
    struct bt_error error = {0};
    int status;
    if (!command_options(call, &list, &status))
        return status;
    if (call->count != 1)
        return command_usage(call, "one graph is needed");
    int order = choose_order(list.sort, orders, &error);
    if (order < 0 || view_choose_form(&list.form, list.csv, list.json, &error) < 0)
        return command_usage(call, "%s", error.message);
    list.order = (unsigned)order;
    struct view view;
    int result = view_open(&view, call->arguments[0], list.process, &error);
    if (result == 0)
        result = thread_counts_make(&list.counts, view.process, &list.threads, &error);
    if (result == 0)
        result = print(&view, &list, &error);
    thread_counts_clear(&list.counts);
    view_close(&view);
    return result < 0 ? command_failure(&error) : STATUS_GOOD;
}
