/* Common parts of the commands that show a graph: file, process, sums and names. */
#ifndef TOOLS_DCFG_VIEW_COMMAND_H
#define TOOLS_DCFG_VIEW_COMMAND_H

#include "formats/text/table.h"
#include "tools/common/command.h"
#include "tools/dcfg/graph/graph_profile.h"
#include "tools/dcfg/graph/names.h"
#include "tools/dcfg/graph/thread_counts.h"
#include "tools/dcfg/units.h"

#include <inttypes.h>

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

/* Whether blocks consist of chunks of a bus, because no image shows the instructions. */
bool view_has_chunks(const struct view *view);

/* What blocks consist of, and what was executed: see units.h. */
const char *view_unit(const struct view *view, uint64_t count);
const char *view_executed(const struct view *view, uint64_t count);

/* Output form. */
enum view_form { VIEW_TEXT, VIEW_CSV, VIEW_JSON };

/* From the options --csv and --json, which exclude each other: 0 or BT_USAGE. */
int view_choose_form(enum view_form *form, bool csv, bool json, struct bt_error *error);

/* Runs a command with one operand, a graph: reads the options, opens the graph, shows the process
 * whose id is *process then, and returns the exit status. show returns 0 or a negative code and
 * fills in the error. */
int view_one_main(struct invocation *call, void *settings, const char *const *process,
                  int (*show)(const struct view *view, const void *settings,
                              struct bt_error *error));

#define VIEW_PROCESS_HELP "process to use, if the file has several"

/* Options that choose threads: the offset of thread_choice.all, and a function that adds one. */
#define VIEW_THREADS_OPTIONS(all, add)                                                             \
    {OPTION_CALL, 0, "thread", "N", "also print the counts of thread N; may repeat", 0, add},      \
    {                                                                                              \
        OPTION_FLAG, 0, "by-thread", NULL, "also print the counts of each thread", all, NULL       \
    }

/* Name of a thread's column in CSV and JSON. */
#define VIEW_THREAD_KEY "thread_%" PRIu32

/* Settings of a command that lists parts of a graph. */
struct view_list {
    const char *sort;
    const char *process; /* NULL: the only one */
    uint64_t top;        /* maximum number of rows */
    struct thread_choice threads;
    bool csv, json;
    unsigned order; /* index of sort in the command's orders */
    enum view_form form;
    struct thread_counts counts; /* of the chosen threads */
};

/* A list that view_print() prints. */
struct NAMED_FIELDS view_table {
    struct table table;
    const char *key;       /* of the table in JSON */
    const char *count_key; /* of the total number of rows, also of those left out; NULL: not
                               printed */
    size_t count;          /* that number */
    size_t sum_column;     /* the column that is the sum over all threads */
    /* Blocks of a row, for its counts by thread; *next is 0 at first. DCFG_NONE: no more. */
    uint32_t (*next_block)(void *argument, size_t row, size_t *next);
    bool sum_is_instructions; /* else executions */
};

/* Prints a list to standard output, with columns for the chosen threads after sum_column. In JSON
 * the table follows the process's id and instructions and the total number. 0 or BT_MEMORY. */
int view_print(const struct view *view, const struct view_list *list,
               const struct view_table *listed);

#define VIEW_LIST_(member) offsetof(struct view_list, member)
#define VIEW_LIST_OPTIONS(words, sort_help)                                                        \
    {OPTION_TEXT, 0, "sort", "BY " words, sort_help, VIEW_LIST_(sort), NULL},                      \
        {OPTION_COUNT, 0, "top", "N", "print only the first N", VIEW_LIST_(top), NULL},            \
        VIEW_THREADS_OPTIONS(VIEW_LIST_(threads.all), view_list_add_thread),                       \
        {OPTION_TEXT, 0, "process", "ID", VIEW_PROCESS_HELP, VIEW_LIST_(process), NULL},           \
        OPTION_CSV_ROW(struct view_list, csv), OPTION_JSON_ROW(struct view_list, json)

/* Adds a thread to the settings, a struct view_list. */
int view_list_add_thread(void *settings, const char *argument, struct bt_error *error);

/* Runs such a command. orders ends with NULL, the first is the default; top is the default of
 * --top; print returns 0 or a negative code and fills in the error. Returns the exit status. */
int view_list_main(struct invocation *call, const char *const *orders, uint64_t top,
                   int (*print)(const struct view *view, const struct view_list *list,
                                struct bt_error *error));

#endif
