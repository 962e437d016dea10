#include "tools/common/commands.h"

#include "formats/base/printable.h"
#include "tools/common/json_report.h"
#include "tools/dcfg/diff_rows.h"

#include <inttypes.h>
#include <string.h>

struct diff_settings {
    const char *process;
    uint64_t top;
    bool by_function;
    bool csv, json;
};

static const struct option_row diff_options[] = {
    {OPTION_FLAG, 0, "by-function", NULL,
     "match blocks by function and offset in it, so that different builds compare",
     offsetof(struct diff_settings, by_function), NULL},
    {OPTION_COUNT, 0, "top", "N", "print only the N largest changes of each kind",
     offsetof(struct diff_settings, top), NULL},
    {OPTION_TEXT, 0, "process", "ID", "process to use, if the files have several",
     offsetof(struct diff_settings, process), NULL},
    OPTION_CSV_ROW(struct diff_settings, csv),
    OPTION_JSON_ROW(struct diff_settings, json),
    {OPTION_END, 0, NULL, NULL, NULL, 0, NULL}};

/* --- totals ---------------------------------------------------------------------------------- */

#define TOTALS 5u

struct total {
    const char *name;
    uint64_t counts[2];
    const struct graph_diff_list *list; /* NULL: no list */
};

static void make_totals(const struct diff_rows *rows, struct total totals[TOTALS])
{
    const struct view *a = &rows->views[0];
    const struct view *b = &rows->views[1];
    const struct graph_diff_list *lists = rows->diff->lists;
    totals[0] = (struct total){view_unit(a, 0), {a->profile.total, b->profile.total}, NULL};
    totals[1] = (struct total){"threads", {a->process->threads, b->process->threads}, NULL};
    totals[2] = (struct total){
        "blocks", {a->process->block_count, b->process->block_count}, &lists[GRAPH_DIFF_BLOCKS]};
    totals[3] = (struct total){
        "edges", {a->process->edges.count, b->process->edges.count}, &lists[GRAPH_DIFF_EDGES]};
    totals[4] = (struct total){"routines",
                               {a->process->routine_count, b->process->routine_count},
                               &lists[GRAPH_DIFF_ROUTINES]};
}

static void fill_total(void *argument, size_t number, struct table_cell *cells)
{
    const struct total *total = (const struct total *)argument + number;
    cells[0].text = total->name;
    cells[1].number = total->counts[0];
    cells[2].number = total->counts[1];
    cells[3].number = total->counts[1] - total->counts[0];
    cells[4].none = cells[5].none = cells[6].none = !total->list;
    if (total->list) {
        cells[4].number = total->list->only[0];
        cells[5].number = total->list->only[1];
        cells[6].number = total->list->count - total->list->only[0] - total->list->only[1];
    }
}

static void print_totals(const struct diff_rows *rows)
{
    static const struct table_column columns[] = {
        {"", NULL, TABLE_TEXT},           {"A", NULL, TABLE_COUNT},
        {"B", NULL, TABLE_COUNT},         {"CHANGE", NULL, TABLE_CHANGE},
        {"ONLY IN A", NULL, TABLE_COUNT}, {"ONLY IN B", NULL, TABLE_COUNT},
        {"DIFFERENT", NULL, TABLE_COUNT}};
    struct total totals[TOTALS];
    make_totals(rows, totals);
    struct table table = {.columns = columns,
                          .column_count = sizeof columns / sizeof columns[0],
                          .rows = TOTALS,
                          .row = fill_total,
                          .argument = totals};
    table_print(&table, stdout);
}

/* --- printing -------------------------------------------------------------------------------- */

static void print_text(struct diff_rows *rows)
{
    const struct view *views = rows->views;
    if (!rows->diff->differ) {
        printf("no difference: %" PRIu64 " %s, %" PRIu32 " blocks, %" PRIu32 " edges\n",
               views[0].profile.total, view_executed(&views[0], views[0].profile.total),
               views[0].process->block_count, views[0].process->edges.count);
        return;
    }
    printf("A: %s\nB: %s\n\n", PRINTABLE(views[0].path), PRINTABLE(views[1].path));
    print_totals(rows);
    for (int kind = 0; kind < GRAPH_DIFF_KINDS; kind++) {
        const struct graph_diff_list *list = &rows->diff->lists[kind];
        if (rows->shown[kind] == 0)
            continue;
        printf("\n%s that differ", diff_rows_name((enum graph_diff_kind)kind));
        if (rows->shown[kind] < list->count)
            printf(", %zu of %" PRIu32, rows->shown[kind], list->count);
        puts(":");
        struct table table = diff_rows_table(rows, (enum graph_diff_kind)kind);
        table_print(&table, stdout);
    }
}

static int print_json(struct diff_rows *rows)
{
    struct total totals[TOTALS];
    struct json_put *json = json_report_begin(stdout);
    if (!json)
        return BT_MEMORY;
    make_totals(rows, totals);
    json_bool(json, "differ", rows->diff->differ);
    json_object(json, "totals");
    for (unsigned i = 0; i < TOTALS; i++) {
        json_object(json, totals[i].name);
        json_count(json, "a", totals[i].counts[0]);
        json_count(json, "b", totals[i].counts[1]);
        if (totals[i].list) {
            json_count(json, "only_in_a", totals[i].list->only[0]);
            json_count(json, "only_in_b", totals[i].list->only[1]);
            json_count(json, "different",
                       totals[i].list->count - totals[i].list->only[0] - totals[i].list->only[1]);
        }
        json_put_object_end(json);
    }
    json_put_object_end(json);
    for (int kind = 0; kind < GRAPH_DIFF_KINDS; kind++) {
        struct table table = diff_rows_table(rows, (enum graph_diff_kind)kind);
        table_json(&table, diff_rows_name((enum graph_diff_kind)kind), json);
    }
    json_report_end(json);
    return 0;
}

static int print_diff(const struct view views[2], const struct graph_diff *diff, uint64_t top,
                      enum view_form form)
{
    struct diff_rows rows = {.views = views, .diff = diff};
    for (int kind = 0; kind < GRAPH_DIFF_KINDS; kind++)
        rows.shown[kind] = top < diff->lists[kind].count ? (size_t)top : diff->lists[kind].count;
    if (form == VIEW_JSON)
        return print_json(&rows);
    if (form == VIEW_TEXT) {
        print_text(&rows);
        return 0;
    }
    struct table table = diff_rows_all(&rows);
    table_print_csv(&table, stdout);
    return 0;
}

static int compare(struct view views[2], const struct diff_settings *settings, enum view_form form,
                   struct bt_error *error)
{
    struct graph_diff diff;
    const struct graph_profile *const profiles[2] = {&views[0].profile, &views[1].profile};
    const struct names *const names[2] = {views[0].names, views[1].names};
    if (view_has_chunks(&views[0]) != view_has_chunks(&views[1]))
        return bt_fail(error, BT_USAGE,
                       "%s counts %s, %s counts %s: build both with --image, or both without",
                       PRINTABLE(views[0].path), view_executed(&views[0], 0),
                       PRINTABLE(views[1].path), view_executed(&views[1], 0));
    int result = graph_diff_make(&diff, profiles, settings->by_function ? names : NULL, error);
    if (result < 0)
        return result;
    result = print_diff(views, &diff, settings->top, form);
    bool differ = diff.differ;
    graph_diff_clear(&diff);
    return result < 0 ? bt_fail(error, result, "no memory to print") : (int)differ;
}

static int diff_main(struct invocation *call)
{
    struct diff_settings settings = {.top = UINT64_MAX};
    struct bt_error error = {0};
    int status;
    enum view_form form;
    if (!command_options(call, &settings, &status))
        return status;
    if (call->count != 2)
        return command_usage(call, "two graphs are needed");
    if (strcmp(call->arguments[0], "-") == 0 && strcmp(call->arguments[1], "-") == 0)
        return command_usage(call, "only one of the graphs can be standard input");
    if (view_choose_form(&form, settings.csv, settings.json, &error) < 0)
        return command_usage(call, "%s", error.message);
    struct view views[2] = {{.path = NULL}, {.path = NULL}};
    int result = view_open(&views[0], call->arguments[0], settings.process, &error);
    if (result == 0)
        result = view_open(&views[1], call->arguments[1], settings.process, &error);
    if (result == 0)
        result = compare(views, &settings, form, &error);
    view_close(&views[0]);
    view_close(&views[1]);
    if (result < 0)
        return command_failure(&error);
    return result > 0 ? STATUS_DATA : STATUS_GOOD;
}

const struct command dcfg_diff_command = {
    .name = "diff",
    .operands = "A B",
    .summary = "print the differences between two graphs",
    .details = "Compares two graphs: instructions, blocks by image and offset, edges by their "
               "ends, routines by their entries. The largest changes come first. The exit "
               "status is 1 if the graphs differ.",
    .options = diff_options,
    .run = diff_main,
    .group = NULL};
