#include "tools/common/commands.h"

#include "formats/base/saturating.h"
#include "tools/dcfg/graph/call_graph.h"
#include "tools/dcfg/view_command.h"

#include <stdlib.h>

static const struct option_row functions_options[] = {
    VIEW_LIST_OPTIONS("inclusive self calls addr",
                      "sort key: inclusive (the default), self, calls or addr"),
    {OPTION_END, 0, NULL, NULL, NULL, 0, NULL}};

enum { BY_INCLUSIVE, BY_SELF, BY_CALLS, BY_ADDRESS };
static const char *const orders[] = {"inclusive", "self", "calls", "addr", NULL};

/* --- order ----------------------------------------------------------------------------------- */

struct function_row {
    uint64_t key, self, address;
    uint32_t function;
};

/* By key, descending, then by own instructions, then by address. */
static int compare_rows(const void *left, const void *right)
{
    const struct function_row *a = left;
    const struct function_row *b = right;
    if (a->key != b->key)
        return a->key > b->key ? -1 : 1;
    if (a->self != b->self)
        return a->self > b->self ? -1 : 1;
    if (a->address != b->address)
        return a->address < b->address ? -1 : 1;
    return a->function < b->function ? -1 : 1;
}

/* All functions in that order; NULL without memory. */
static struct function_row *sort_functions(const struct view *view, const struct call_graph *calls,
                                           unsigned order)
{
    struct function_row *rows = malloc(((size_t)calls->function_count + 1) * sizeof *rows);
    if (!rows)
        return NULL;
    for (uint32_t f = 0; f < calls->function_count; f++) {
        const struct call_function *function = &calls->functions[f];
        rows[f].function = f;
        rows[f].address = dcfg_block_address(view->process, function->entry);
        rows[f].self = order == BY_ADDRESS ? 0 : function->self;
        rows[f].key = order == BY_INCLUSIVE ? function->inclusive
                      : order == BY_CALLS   ? function->entered
                                            : rows[f].self;
    }
    qsort(rows, calls->function_count, sizeof *rows, compare_rows);
    return rows;
}

/* --- printing -------------------------------------------------------------------------------- */

static const struct table_column columns[] = {{"INCLUSIVE", "inclusive", TABLE_COUNT},
                                              {"SHARE", "inclusive_share", TABLE_SHARE},
                                              {"SELF", "self", TABLE_COUNT},
                                              {"SHARE", "self_share", TABLE_SHARE},
                                              {"CALLS", "calls", TABLE_COUNT},
                                              {"ADDRESS", "address", TABLE_ADDRESS},
                                              {"BLOCKS", "blocks", TABLE_COUNT},
                                              {NULL, "node_id", TABLE_COUNT},
                                              {NULL, "image", TABLE_TEXT},
                                              {NULL, "offset", TABLE_ADDRESS},
                                              {"SYMBOL", NULL, TABLE_SYMBOL},
                                              {NULL, "symbol", TABLE_TEXT},
                                              {NULL, "symbol_offset", TABLE_COUNT},
                                              {"SOURCE", NULL, TABLE_LINE},
                                              {NULL, "file", TABLE_TEXT},
                                              {NULL, "line", TABLE_COUNT},
                                              {"CONFIDENCE", "confidence", TABLE_TEXT},
                                              {NULL, "self_certain", TABLE_COUNT}};

struct function_listing {
    const struct view *view;
    const struct call_graph *calls;
    const struct function_row *rows;
};

/* The least confidence of the function's blocks, and the instructions of which it is certain. */
static void fill_confidence(const struct function_listing *listing, uint32_t function,
                            struct table_cell *confidence, struct table_cell *certain)
{
    const struct graph_profile *profile = &listing->view->profile;
    const struct call_graph *calls = listing->calls;
    enum graph_confidence least = GRAPH_CERTAIN;
    for (uint32_t i = calls->first_block[function]; i < calls->first_block[function + 1]; i++) {
        const uint32_t block = calls->blocks[i];
        const enum graph_confidence own = graph_profile_confidence(profile, block);
        const uint64_t count = saturating_multiply(graph_profile_certain(profile, block),
                                                   profile->process->blocks[block].instructions);
        least = own > least ? own : least;
        certain->number = saturating_add(certain->number, count);
    }
    confidence->text = graph_confidence_name(least);
}

static void fill_row(void *argument, size_t number, struct table_cell *cells)
{
    const struct function_listing *listing = argument;
    const struct view *view = listing->view;
    const uint32_t f = listing->rows[number].function;
    const struct call_function *function = &listing->calls->functions[f];
    struct code_location location;
    names_of_block(view->names, function->entry, &location);
    cells[0].number = function->inclusive;
    cells[1].real = graph_profile_share(function->inclusive, view->profile.total);
    cells[2].number = function->self;
    cells[3].real = graph_profile_share(function->self, view->profile.total);
    cells[4].number = function->entered;
    cells[5].number = location.address;
    cells[6].number = listing->calls->first_block[f + 1] - listing->calls->first_block[f];
    cells[7].number = view->process->blocks[function->entry].id;
    cells[8].text = location.image;
    cells[9].number = location.image_offset;
    cells[10] = cells[11] =
        (struct table_cell){.text = location.symbol, .number = location.symbol_offset};
    cells[12] = (struct table_cell){.number = location.symbol_offset, .none = !location.symbol};
    cells[13] = cells[14] = (struct table_cell){.text = location.file, .number = location.line};
    cells[15] = (struct table_cell){.number = location.line, .none = !location.file};
    fill_confidence(listing, f, &cells[16], &cells[17]);
}

static uint32_t next_block(void *argument, size_t number, size_t *next)
{
    const struct function_listing *listing = argument;
    const struct call_graph *calls = listing->calls;
    const uint32_t f = listing->rows[number].function;
    const uint32_t count = calls->first_block[f + 1] - calls->first_block[f];
    return *next < count ? calls->blocks[calls->first_block[f] + (*next)++] : DCFG_NONE;
}

static int print_functions(const struct view *view, const struct view_list *list,
                           struct bt_error *error)
{
    struct call_graph calls;
    if (call_graph_make(&calls, &view->profile, view->names, error) < 0)
        return error->code;
    const size_t count = calls.function_count;
    struct function_row *rows = sort_functions(view, &calls, list->order);
    struct function_listing listing = {view, &calls, rows};
    struct view_table table = {.table = {.columns = columns,
                                         .column_count = sizeof columns / sizeof columns[0],
                                         .rows = list->top < count ? (size_t)list->top : count,
                                         .row = fill_row,
                                         .argument = &listing},
                               .key = "functions",
                               .count_key = "function_count",
                               .count = count,
                               .sum_column = 2, /* own instructions */
                               .sum_is_instructions = true,
                               .next_block = next_block};
    int result = rows ? view_print(view, list, &table) : BT_MEMORY;
    free(rows);
    call_graph_clear(&calls);
    return result < 0 ? bt_fail(error, result, "no memory for a list of %zu functions", count) : 0;
}

static int functions_main(struct invocation *call)
{
    return view_list_main(call, orders, UINT64_MAX, print_functions);
}

const struct command dcfg_functions_command = {
    .name = "functions",
    .operands = "FILE",
    .summary = "list functions: inclusive and own instructions, calls",
    .details = "Lists the functions of a graph, those with the most inclusive instructions first: "
               "executed instructions including those of called functions, own instructions, and "
               "calls. A graph has no call stacks: the instructions of a function are divided "
               "among its callers in proportion to their calls.",
    .options = functions_options,
    .run = functions_main,
    .group = NULL};
