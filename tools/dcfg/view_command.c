#include "tools/dcfg/view_command.h"

#include "tools/common/json_report.h"
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
    return bt_fail(error, BT_USAGE, "--sort: '%.40s' is not %s", sort, known);
}

bool view_has_chunks(const struct view *view)
{
    return view->graph->bus && view->graph->bus->chunks;
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

static int print_json(const struct view *view, const struct table *table, const char *key,
                      const char *count_key, size_t count)
{
    struct json_put *json = json_report_begin(stdout);
    if (!json)
        return BT_MEMORY;
    json_count(json, "process", view->process->id);
    json_count(json, view_has_chunks(view) ? "chunks" : "instructions", view->profile.total);
    json_text_or_null(json, "bus", view->graph->bus ? view->graph->bus->model : "");
    json_count(json, count_key, count);
    table_json(table, key, json);
    json_report_end(json);
    return 0;
}

int view_print(const struct view *view, enum view_form form, const struct table *table,
               const char *key, const char *count_key, size_t count)
{
    struct table_column columns[TABLE_COLUMNS_MAX];
    struct table adapted = *table;
    adapt_columns(view, &adapted, columns);
    table = &adapted;
    if (form == VIEW_JSON)
        return print_json(view, table, key, count_key, count);
    if (form == VIEW_CSV)
        table_print_csv(table, stdout);
    else
        table_print(table, stdout);
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

int view_list_main(struct invocation *call, const char *const *orders,
                   int (*print)(const struct view *view, const struct view_list *list,
                                struct bt_error *error))
{
    struct view_list list = {.sort = orders[0], .top = UINT64_MAX};
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
        result = print(&view, &list, &error);
    view_close(&view);
    return result < 0 ? command_failure(&error) : STATUS_GOOD;
}
