/* Common parts of the commands that show a graph: file, process, sums and names. */
#ifndef TOOLS_DCFG_VIEW_COMMAND_H
#define TOOLS_DCFG_VIEW_COMMAND_H

#include "tools/common/command.h"
#include "tools/common/table.h"
#include "tools/dcfg/graph/graph_profile.h"
#include "tools/dcfg/graph/names.h"

struct view {
    const char *path;
    struct dcfg *graph;
    struct dcfg_process *process;
    struct graph_profile profile;
    struct names *names;
};

/* Reads the file path ("-": standard input) and selects the process whose id is text (NULL: the
 * only one). 0 or a negative code; view_close in any case. */
int view_open(struct view *view, const char *path, const char *process, struct bt_error *error);
void view_close(struct view *view);

/* What the blocks of the graph consist of: chunks of a bus, if no image shows the instructions. */
bool view_has_chunks(const struct view *view);

/* Output form. */
enum view_form { VIEW_TEXT, VIEW_CSV, VIEW_JSON };

/* From the options --csv and --json, which exclude each other: 0 or BT_USAGE. */
int view_choose_form(enum view_form *form, bool csv, bool json, struct bt_error *error);

/* Prints a list to standard output. In JSON the table is the member `key`, after the process's id
 * and instructions and the total number `count_key`. 0 or BT_MEMORY. */
int view_print(const struct view *view, enum view_form form, const struct table *table,
               const char *key, const char *count_key, size_t count);

/* Runs a command with one operand, a graph: reads the options, opens the graph, shows the process
 * whose id is *process then, and returns the exit status. show returns 0 or a negative code and
 * fills in the error. */
int view_one_main(struct invocation *call, void *settings, const char *const *process,
                  int (*show)(const struct view *view, const void *settings,
                              struct bt_error *error));

#define VIEW_PROCESS_HELP "process to use, if the file has several"

/* Settings of a command that lists parts of a graph. */
struct view_list {
    const char *sort;
    const char *process; /* NULL: the only one */
    uint64_t top;        /* maximum number of rows */
    bool csv, json;
    unsigned order; /* index of sort in the command's orders */
    enum view_form form;
};

#define VIEW_LIST_(member) offsetof(struct view_list, member)
#define VIEW_LIST_OPTIONS(sort_help)                                                               \
    {OPTION_TEXT, 0, "sort", "BY", sort_help, VIEW_LIST_(sort), NULL},                             \
        {OPTION_COUNT, 0, "top", "N", "print only the first N", VIEW_LIST_(top), NULL},            \
        {OPTION_TEXT, 0, "process", "ID", VIEW_PROCESS_HELP, VIEW_LIST_(process), NULL},           \
        OPTION_CSV_ROW(struct view_list, csv), OPTION_JSON_ROW(struct view_list, json)

/* Runs such a command. orders ends with NULL, the first is the default; print returns 0 or a
 * negative code and fills in the error. Returns the exit status. */
int view_list_main(struct invocation *call, const char *const *orders,
                   int (*print)(const struct view *view, const struct view_list *list,
                                struct bt_error *error));

#endif
