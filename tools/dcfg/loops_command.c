#include "tools/common/commands.h"

#include "tools/dcfg/graph/loop_counts.h"
#include "tools/dcfg/path_text.h"
#include "tools/dcfg/view_command.h"

#include <stdlib.h>
#include <string.h>

static const struct option_row loops_options[] = {
    VIEW_LIST_OPTIONS("instructions count addr",
                      "sort key: instructions (the default), count of iterations, or addr"),
    {OPTION_END, 0, NULL, NULL, NULL, 0, NULL}};

#define ENTRIES_BYTES 60u /* of the column of entries, for people */

enum { BY_INSTRUCTIONS, BY_COUNT, BY_ADDRESS };
static const char *const orders[] = {"instructions", "count", "addr", NULL};

/* Loops are numbered as in counts: those of the graph, then the irreducible ones. */
struct loop_row {
    uint64_t key, address;
    uint32_t loop, depth;
};

struct loop_listing {
    const struct view *view;
    struct irreducible_loops irreducible;
    struct loop_count *counts;
    struct loop_row *rows;
    struct path_text entries; /* of the row that is printed */
    bool failed;              /* no memory for them */
};

/* The irreducible loop, NULL for a natural one. */
static const struct irreducible_loop *irreducible_of(const struct loop_listing *listing,
                                                     uint32_t loop)
{
    const uint32_t natural = listing->view->process->loop_count;
    return loop < natural ? NULL : &listing->irreducible.loops[loop - natural];
}

static uint32_t head_of(const struct loop_listing *listing, uint32_t loop)
{
    const struct dcfg_process *process = listing->view->process;
    const struct irreducible_loop *irreducible = irreducible_of(listing, loop);
    return irreducible ? irreducible->head : dcfg_find_block(process, process->loops[loop].head);
}

static uint32_t block_count_of(const struct loop_listing *listing, uint32_t loop)
{
    const struct irreducible_loop *irreducible = irreducible_of(listing, loop);
    return irreducible ? irreducible->block_count : listing->view->process->loops[loop].nodes.count;
}

/* The block with this number in a loop. */
static uint32_t block_of(const struct loop_listing *listing, uint32_t loop, uint32_t number)
{
    const struct dcfg_process *process = listing->view->process;
    const struct irreducible_loop *irreducible = irreducible_of(listing, loop);
    return irreducible
               ? listing->irreducible.blocks[irreducible->first_block + number]
               : dcfg_find_block(process, process->ids[process->loops[loop].nodes.first + number]);
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

/* Sorts the loops of the program, and returns their number. */
static uint32_t sort_loops(struct loop_listing *listing, unsigned order)
{
    const struct dcfg_process *process = listing->view->process;
    const uint32_t loops = process->loop_count + listing->irreducible.count;
    uint32_t rows = 0;
    for (uint32_t i = 0; i < loops; i++) {
        const struct loop_count *count = &listing->counts[i];
        if (count->is_no_loop)
            continue;
        uint64_t key = order == BY_INSTRUCTIONS ? count->instructions
                       : order == BY_COUNT      ? loop_count_iterations(count)
                                                : 0;
        listing->rows[rows++] =
            (struct loop_row){.key = key,
                              .address = dcfg_block_address(process, head_of(listing, i)),
                              .loop = i,
                              .depth = count->depth};
    }
    if (rows > 0)
        qsort(listing->rows, rows, sizeof *listing->rows, compare_rows);
    return rows;
}

/* The least confidence of the loop's blocks. */
static enum graph_confidence confidence_of(const struct loop_listing *listing, uint32_t loop)
{
    const struct graph_profile *profile = &listing->view->profile;
    enum graph_confidence least = GRAPH_CERTAIN;
    for (uint32_t i = 0; i < block_count_of(listing, loop); i++) {
        enum graph_confidence confidence =
            graph_profile_confidence(profile, block_of(listing, loop, i));
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
                                              {"CONFIDENCE", "confidence", TABLE_TEXT},
                                              {NULL, "kind", TABLE_TEXT},
                                              {NULL, "entered_at", TABLE_TEXT},
                                              {"IRREDUCIBLE, ENTERED AT", NULL, TABLE_TEXT}};

/* The blocks where the loop is entered. */
static void fill_entries(struct loop_listing *listing, uint32_t loop, struct table_cell *cells)
{
    const struct irreducible_loop *irreducible = irreducible_of(listing, loop);
    const uint32_t head = head_of(listing, loop);
    const uint32_t *entries =
        irreducible ? &listing->irreducible.entries[irreducible->first_entry] : &head;
    if (path_text_blocks(&listing->entries, listing->view->process, entries,
                         irreducible ? irreducible->entry_count : 1) != 0)
        listing->failed = true;
    cells[0].text = irreducible ? "irreducible" : "natural";
    cells[1].text = listing->entries.text;
    cells[2].text = irreducible ? path_text_short(&listing->entries, ENTRIES_BYTES) : NULL;
}

static void fill_row(void *argument, size_t number, struct table_cell *cells)
{
    struct loop_listing *listing = argument;
    const struct view *view = listing->view;
    const struct dcfg_process *process = view->process;
    uint32_t loop = listing->rows[number].loop;
    const struct loop_count *count = &listing->counts[loop];
    const struct irreducible_loop *irreducible = irreducible_of(listing, loop);
    struct code_location routine = {0};
    struct code_location location;
    if (count->routine != DCFG_NONE)
        names_of_routine(view->names, count->routine, &routine);
    names_of_block(view->names, head_of(listing, loop), &location);
    uint64_t all = loop_count_iterations(count);
    cells[0].number = count->instructions;
    cells[1].real = graph_profile_share(count->instructions, view->profile.total);
    cells[2].number = count->entries;
    cells[3].number = all;
    cells[4] = (struct table_cell){.real = graph_profile_share(all, count->entries),
                                   .none = count->entries == 0};
    cells[5].number = irreducible ? irreducible->back_edges : process->loops[loop].back_edges.count;
    cells[6].number = block_count_of(listing, loop);
    cells[7].number = count->depth;
    cells[8].number = location.address;
    cells[9].none = count->parent == DCFG_NONE;
    if (!cells[9].none)
        cells[9].number = dcfg_block_address(process, head_of(listing, count->parent));
    cells[10].text = routine.symbol;
    cells[11] = cells[12] =
        (struct table_cell){.text = location.symbol, .number = location.symbol_offset};
    cells[13] = cells[14] = (struct table_cell){.text = location.file, .number = location.line};
    cells[15] = (struct table_cell){.number = location.line, .none = !location.file};
    cells[16].text = graph_confidence_name(confidence_of(listing, loop));
    fill_entries(listing, loop, &cells[17]);
}

static uint32_t next_block(void *argument, size_t number, size_t *next)
{
    const struct loop_listing *listing = argument;
    const uint32_t loop = listing->rows[number].loop;
    return *next < block_count_of(listing, loop) ? block_of(listing, loop, (uint32_t)(*next)++)
                                                 : DCFG_NONE;
}

/* Prints the loops that are counted. */
static int print_counted(struct loop_listing *listing, const struct view_list *list)
{
    const uint32_t irreducible = listing->irreducible.count;
    const size_t all = listing->view->process->loop_count + (size_t)irreducible;
    listing->rows = malloc((all + 1) * sizeof *listing->rows);
    if (!listing->rows)
        return BT_MEMORY;
    const uint32_t count = sort_loops(listing, list->order);
    struct table_column shown[sizeof columns / sizeof *columns];
    memcpy(shown, columns, sizeof columns);
    if (irreducible == 0)
        shown[sizeof columns / sizeof *columns - 1].heading = NULL;
    struct view_table table = {.table = {.columns = shown,
                                         .column_count = sizeof columns / sizeof columns[0],
                                         .rows = list->top < count ? (size_t)list->top : count,
                                         .row = fill_row,
                                         .argument = listing},
                               .key = "loops",
                               .count_key = "loop_count",
                               .count = count,
                               .sum_column = 0,
                               .sum_is_instructions = true,
                               .next_block = next_block};
    const int result = view_print(listing->view, list, &table);
    return listing->failed ? BT_MEMORY : result;
}

static int print_loops(const struct view *view, const struct view_list *list,
                       struct bt_error *error)
{
    struct loop_listing listing = {.view = view};
    if (irreducible_find(&listing.irreducible, &view->profile, error) != 0)
        return error->code;
    listing.counts = loop_counts_make(&view->profile, &listing.irreducible, error);
    const int result = listing.counts ? print_counted(&listing, list) : BT_MEMORY;
    path_text_clear(&listing.entries);
    free(listing.counts);
    free(listing.rows);
    irreducible_clear(&listing.irreducible);
    return result < 0 ? bt_fail(error, result, "no memory for a list of %u loops",
                                view->process->loop_count)
                      : 0;
}

static int loops_main(struct invocation *call)
{
    return view_list_main(call, orders, UINT64_MAX, print_loops);
}

const struct command dcfg_loops_command = {
    .name = "loops",
    .operands = "FILE",
    .summary = "list loops: entries, iterations, nesting",
    .details =
        "Lists the loops of a graph, those with the most instructions first. "
        "Instructions of a loop include those of inner loops, not those of called "
        "functions. An entry reaches the head of the loop from outside; each execution "
        "of the head is an iteration. A loop with several entries is irreducible; its head is "
        "the entry executed most often.",
    .options = loops_options,
    .run = loops_main,
    .group = NULL};
