#include "tools/common/commands.h"

#include "tools/dcfg/graph/loop_counts.h"
#include "tools/dcfg/view_command.h"

#include <stdlib.h>

static const struct option_row loops_options[] = {
    VIEW_LIST_OPTIONS("sort key: instructions (the default), count of iterations, or addr"),
    {OPTION_END, 0, NULL, NULL, NULL, 0, NULL}};

enum { BY_INSTRUCTIONS, BY_COUNT, BY_ADDRESS };
static const char *const orders[] = {"instructions", "count", "addr", NULL};

struct loop_row {
    uint64_t key, address;
    uint32_t loop, depth;
};

struct loop_listing {
    const struct view *view;
    struct loop_count *counts;
    struct loop_row *rows;
};

static uint32_t head_of(const struct dcfg_process *process, uint32_t loop)
{
    return dcfg_find_block(process, process->loops[loop].head);
}

/* --- order ----------------------------------------------------------------------------------- */

/* By key, descending, then by address, outer loops first. */
static int compare_rows(const void *left, const void *right)
{
    const struct loop_row *a = left;
    const struct loop_row *b = right;
    if (a->key != b->key)
        return a->key > b->key ? -1 : 1;
    if (a->address != b->address)
        return a->address < b->address ? -1 : 1;
    if (a->depth != b->depth)
        return a->depth < b->depth ? -1 : 1;
    return a->loop < b->loop ? -1 : 1;
}

static void sort_loops(struct loop_listing *listing, unsigned order)
{
    const struct dcfg_process *process = listing->view->process;
    for (uint32_t i = 0; i < process->loop_count; i++) {
        const struct loop_count *count = &listing->counts[i];
        uint64_t key = order == BY_INSTRUCTIONS ? count->instructions
                       : order == BY_COUNT      ? loop_count_iterations(count)
                                                : 0;
        listing->rows[i] =
            (struct loop_row){.key = key,
                              .address = dcfg_block_address(process, head_of(process, i)),
                              .loop = i,
                              .depth = count->depth};
    }
    if (process->loop_count > 0)
        qsort(listing->rows, process->loop_count, sizeof *listing->rows, compare_rows);
}

/* The least confidence of the loop's blocks. */
static enum graph_confidence confidence_of(const struct graph_profile *profile, uint32_t loop)
{
    const struct dcfg_process *process = profile->process;
    const struct dcfg_range *nodes = &process->loops[loop].nodes;
    enum graph_confidence least = GRAPH_CERTAIN;
    for (uint32_t i = nodes->first; i < nodes->first + nodes->count; i++) {
        uint32_t block = dcfg_find_block(process, process->ids[i]);
        enum graph_confidence confidence = graph_profile_confidence(profile, block);
        least = confidence > least ? confidence : least;
    }
    return least;
}

/* --- printing -------------------------------------------------------------------------------- */

static const struct table_column columns[] = {{"INSTRUCTIONS", "instructions", TABLE_COUNT},
                                              {"SHARE", "share", TABLE_SHARE},
                                              {"ENTRIES", "entries", TABLE_COUNT},
                                              {"ITERATIONS", "iterations", TABLE_COUNT},
                                              {"PER ENTRY", "per_entry", TABLE_REAL},
                                              {"BACK EDGES", "back_edges", TABLE_COUNT},
                                              {"BLOCKS", "blocks", TABLE_COUNT},
                                              {"DEPTH", "depth", TABLE_COUNT},
                                              {"HEAD", "head", TABLE_ADDRESS},
                                              {"PARENT", "parent", TABLE_ADDRESS},
                                              {"ROUTINE", "routine", TABLE_TEXT},
                                              {"SYMBOL", NULL, TABLE_SYMBOL},
                                              {NULL, "symbol", TABLE_TEXT},
                                              {"SOURCE", NULL, TABLE_LINE},
                                              {NULL, "file", TABLE_TEXT},
                                              {NULL, "line", TABLE_COUNT},
                                              {"CONFIDENCE", "confidence", TABLE_TEXT}};

static void fill_row(void *argument, size_t number, struct table_cell *cells)
{
    const struct loop_listing *listing = argument;
    const struct view *view = listing->view;
    const struct dcfg_process *process = view->process;
    uint32_t loop = listing->rows[number].loop;
    const struct loop_count *count = &listing->counts[loop];
    struct code_location routine;
    struct code_location location;
    names_of_routine(view->names, count->routine, &routine);
    names_of_block(view->names, head_of(process, loop), &location);
    uint64_t all = loop_count_iterations(count);
    cells[0].number = count->instructions;
    cells[1].real = graph_profile_share(count->instructions, view->profile.total);
    cells[2].number = count->entries;
    cells[3].number = all;
    cells[4] = (struct table_cell){.real = graph_profile_share(all, count->entries),
                                   .none = count->entries == 0};
    cells[5].number = process->loops[loop].back_edges.count;
    cells[6].number = process->loops[loop].nodes.count;
    cells[7].number = count->depth;
    cells[8].number = location.address;
    cells[9].none = count->parent == DCFG_NONE;
    if (!cells[9].none)
        cells[9].number = dcfg_block_address(process, head_of(process, count->parent));
    cells[10].text = routine.symbol;
    cells[11] = cells[12] =
        (struct table_cell){.text = location.symbol, .number = location.symbol_offset};
    cells[13] = cells[14] = (struct table_cell){.text = location.file, .number = location.line};
    cells[15] = (struct table_cell){.number = location.line, .none = !location.file};
    cells[16].text = graph_confidence_name(confidence_of(&view->profile, loop));
}

static int print_loops(const struct view *view, const struct view_list *list,
                       struct bt_error *error)
{
    size_t count = view->process->loop_count;
    struct loop_listing listing = {.view = view};
    struct table table = {.columns = columns,
                          .column_count = sizeof columns / sizeof columns[0],
                          .rows = list->top < count ? (size_t)list->top : count,
                          .row = fill_row,
                          .argument = &listing};
    int result = BT_MEMORY;
    listing.counts = loop_counts_make(&view->profile, error);
    listing.rows = malloc((count + 1) * sizeof *listing.rows);
    if (listing.counts && listing.rows) {
        sort_loops(&listing, list->order);
        result = view_print(view, list->form, &table, "loops", "loop_count", count);
    }
    free(listing.counts);
    free(listing.rows);
    return result < 0 ? bt_fail(error, result, "no memory for a list of %zu loops", count) : 0;
}

static int loops_main(struct invocation *call)
{
    return view_list_main(call, orders, print_loops);
}

const struct command dcfg_loops_command = {
    .name = "loops",
    .operands = "FILE",
    .summary = "list loops: entries, iterations, nesting",
    .details = "Lists the loops of a graph, those with the most instructions first. "
               "Instructions of a loop include those of inner loops, not those of called "
               "functions. An entry reaches the head of the loop from outside; each execution "
               "of the head is an iteration.",
    .options = loops_options,
    .run = loops_main,
    .group = NULL};
