#include "tools/common/commands.h"

#include "formats/base/saturating.h"
#include "tools/dcfg/graph/hot_paths.h"
#include "tools/dcfg/path_text.h"
#include "tools/dcfg/view_command.h"

#include <stdlib.h>

#define PATHS_TOP  20u
#define SHORT_TEXT 48u /* bytes of the columns of steps and lines, for people */

static const struct option_row paths_options[] = {
    {OPTION_TEXT, 0, "sort", "BY instructions count addr",
     "sort key: instructions (the default), count of executions, or addr", VIEW_LIST_(sort), NULL},
    {OPTION_COUNT, 0, "top", "N", "print only the first N; 20 by default", VIEW_LIST_(top), NULL},
    {OPTION_TEXT, 0, "process", "ID", VIEW_PROCESS_HELP, VIEW_LIST_(process), NULL},
    OPTION_CSV_ROW(struct view_list, csv),
    OPTION_JSON_ROW(struct view_list, json),
    {OPTION_END, 0, NULL, NULL, NULL, 0, NULL}};

enum { BY_INSTRUCTIONS, BY_COUNT, BY_ADDRESS };
static const char *const orders[] = {"instructions", "count", "addr", NULL};

struct path_row {
    uint64_t key, address;
    size_t path;
};

struct path_listing {
    const struct view *view;
    const struct hot_paths *paths;
    struct path_row *rows;
    struct path_text steps, lines; /* of the row that is printed */
    bool failed;                   /* no memory for a text */
};

/* --- order ----------------------------------------------------------------------------------- */

/* By key, descending, then by the address of the first block. */
static int compare_rows(const void *left, const void *right)
{
    const struct path_row *a = left;
    const struct path_row *b = right;
    if (a->key != b->key)
        return a->key > b->key ? -1 : 1;
    if (a->address != b->address)
        return a->address < b->address ? -1 : 1;
    return a->path < b->path ? -1 : 1;
}

static uint64_t instructions_of(const struct hot_path *path)
{
    return saturating_multiply(path->at_most, path->length);
}

static void sort_paths(struct path_listing *listing, unsigned order)
{
    const struct hot_paths *paths = listing->paths;
    for (size_t p = 0; p < paths->path_count; p++) {
        const struct hot_path *path = &paths->paths[p];
        listing->rows[p] =
            (struct path_row){.key = order == BY_INSTRUCTIONS ? instructions_of(path)
                                     : order == BY_COUNT      ? path->at_most
                                                              : 0,
                              .address = dcfg_block_address(listing->view->process,
                                                            paths->steps[path->first_step].block),
                              .path = p};
    }
    qsort(listing->rows, paths->path_count, sizeof *listing->rows, compare_rows);
}

/* --- printing -------------------------------------------------------------------------------- */

static const struct table_column columns[] = {{"INSTRUCTIONS", "instructions", TABLE_COUNT},
                                              {"SHARE", "share", TABLE_SHARE},
                                              {"AT LEAST", "at_least", TABLE_COUNT},
                                              {"AT MOST", "at_most", TABLE_COUNT},
                                              {"LENGTH", "length", TABLE_COUNT},
                                              {"OF", "of", TABLE_TEXT},
                                              {"FROM", "from", TABLE_ADDRESS},
                                              {"TO", "to", TABLE_ADDRESS},
                                              {"FUNCTION", NULL, TABLE_SYMBOL},
                                              {NULL, "function", TABLE_TEXT},
                                              {NULL, "function_address", TABLE_ADDRESS},
                                              {"SOURCE", NULL, TABLE_TEXT},
                                              {NULL, "source", TABLE_TEXT},
                                              {"PATH", NULL, TABLE_TEXT},
                                              {NULL, "path", TABLE_TEXT},
                                              {"CONFIDENCE", "confidence", TABLE_TEXT}};

/* The least confidence of the path's blocks. */
static enum graph_confidence confidence_of(const struct path_listing *listing,
                                           const struct hot_path *path)
{
    enum graph_confidence least = GRAPH_CERTAIN;
    for (uint32_t i = 0; i < path->step_count; i++) {
        const struct hot_step *step = &listing->paths->steps[path->first_step + i];
        const enum graph_confidence own =
            step->loop ? GRAPH_CERTAIN
                       : graph_profile_confidence(&listing->view->profile, step->block);
        least = own > least ? own : least;
    }
    return least;
}

static void fill_function(const struct view *view, uint32_t routine, struct table_cell *cells)
{
    struct code_location location = {0};
    if (routine != DCFG_NONE)
        names_of_routine(view->names, routine, &location);
    cells[0] = cells[1] =
        (struct table_cell){.text = location.symbol, .number = location.symbol_offset};
    cells[2] = (struct table_cell){.number = location.address, .none = routine == DCFG_NONE};
}

static void fill_row(void *argument, size_t number, struct table_cell *cells)
{
    struct path_listing *listing = argument;
    const struct view *view = listing->view;
    const struct hot_path *path = &listing->paths->paths[listing->rows[number].path];
    const struct hot_step *steps = &listing->paths->steps[path->first_step];
    if (path_text_steps(&listing->steps, view->process, steps, path->step_count) != 0 ||
        path_text_lines(&listing->lines, view, steps, path->step_count) != 0)
        listing->failed = true;
    cells[0].number = instructions_of(path);
    cells[1].real = graph_profile_share(cells[0].number, view->profile.total);
    cells[2].number = path->at_least;
    cells[3].number = path->at_most;
    cells[4].number = path->length;
    cells[5].text = path->loop == DCFG_NONE ? "function" : "loop";
    cells[6].number = listing->rows[number].address;
    cells[7].number = dcfg_block_address(view->process, steps[path->step_count - 1].block);
    fill_function(view, path->routine, &cells[8]);
    cells[11].text = path_text_short(&listing->lines, SHORT_TEXT);
    cells[12].text = listing->lines.used > 0 ? listing->lines.text : NULL;
    cells[13].text = path_text_short(&listing->steps, SHORT_TEXT);
    cells[14].text = listing->steps.text;
    cells[15].text = graph_confidence_name(confidence_of(listing, path));
}

static int print_paths(const struct view *view, const struct view_list *list,
                       struct bt_error *error)
{
    struct hot_paths paths;
    if (hot_paths_find(&paths, &view->profile, list->top, error) != 0)
        return error->code;
    const size_t count = paths.path_count;
    struct path_listing listing = {.view = view, .paths = &paths};
    struct view_table table = {.table = {.columns = columns,
                                         .column_count = sizeof columns / sizeof columns[0],
                                         .rows = list->top < count ? (size_t)list->top : count,
                                         .row = fill_row,
                                         .argument = &listing},
                               .key = "paths"};
    int result = BT_MEMORY;
    listing.rows = malloc((count + 1) * sizeof *listing.rows);
    if (listing.rows) {
        sort_paths(&listing, list->order);
        result = view_print(view, list, &table);
    }
    if (listing.failed)
        result = BT_MEMORY;
    path_text_clear(&listing.steps);
    path_text_clear(&listing.lines);
    free(listing.rows);
    hot_paths_clear(&paths);
    return result < 0 ? bt_fail(error, result, "no memory for a list of %zu paths", count) : 0;
}

static int paths_main(struct invocation *call)
{
    return view_list_main(call, orders, PATHS_TOP, print_paths);
}

const struct command dcfg_paths_command = {
    .name = "paths",
    .operands = "FILE",
    .summary = "list hot paths through loops and functions",
    .details = "Lists the hottest paths of a graph: through one iteration of a loop, or one call "
               "of a function, with inner loops as one step. A graph counts edges, not paths: a "
               "path was executed at least and at most as often as the counts of its edges "
               "prove. Paths follow the hottest edges.",
    .options = paths_options,
    .run = paths_main,
    .group = NULL};
