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

/* Output form. */
enum view_form { VIEW_TEXT, VIEW_CSV, VIEW_JSON };

/* From the options --csv and --json, which exclude each other: 0 or BT_USAGE. */
int view_choose_form(enum view_form *form, bool csv, bool json, struct bt_error *error);

/* Prints a list to standard output. In JSON the table is the member `key`, after the process's id
 * and instructions and the total number `count_key`. 0 or BT_MEMORY. */
int view_print(const struct view *view, enum view_form form, const struct table *table,
               const char *key, const char *count_key, size_t count);

/* Index of a text in a list terminated by NULL, or BT_USAGE, which names the option. */
int view_choose(const char *option, const char *text, const char *const *list,
                struct bt_error *error);

#endif
