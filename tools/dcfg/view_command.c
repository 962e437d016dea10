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

int view_choose(const char *option, const char *text, const char *const *list,
                struct bt_error *error)
{
    char known[120] = "";
    for (int i = 0; list[i]; i++) {
        if (strcmp(text, list[i]) == 0)
            return i;
        size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, "%s%s",
                 i == 0        ? ""
                 : list[i + 1] ? ", "
                               : " or ",
                 list[i]);
    }
    return bt_fail(error, BT_USAGE, "--%s: '%.40s' is not %s", option, text, known);
}

static int print_json(const struct view *view, const struct table *table, const char *key,
                      const char *count_key, size_t count)
{
    struct json_put *json = json_report_begin(stdout);
    if (!json)
        return BT_MEMORY;
    json_count(json, "process", view->process->id);
    json_count(json, "instructions", view->profile.total);
    json_count(json, count_key, count);
    table_json(table, key, json);
    json_report_end(json);
    return 0;
}

int view_print(const struct view *view, enum view_form form, const struct table *table,
               const char *key, const char *count_key, size_t count)
{
    if (form == VIEW_JSON)
        return print_json(view, table, key, count_key, count);
    if (form == VIEW_CSV)
        table_print_csv(table, stdout);
    else
        table_print(table, stdout);
    return 0;
}
