#include "tools/common/commands.h"

#include "tools/dcfg/view_command.h"

#include <stdlib.h>

static const struct option_row blocks_options[] = {
    VIEW_LIST_OPTIONS("count instructions addr",
                      "sort key: count (the default), instructions or addr"),
    {OPTION_END, 0, NULL, NULL, NULL, 0, NULL}};

enum { BY_COUNT, BY_INSTRUCTIONS, BY_ADDRESS };
static const char *const orders[] = {"count", "instructions", "addr", NULL};

/* --- order ----------------------------------------------------------------------------------- */

struct block_row {
    uint64_t key, address;
    uint32_t block;
};

/* By key, descending, then by address. */
static int compare_rows(const void *left, const void *right)
{
    const struct block_row *a = left;
    const struct block_row *b = right;
    if (a->key != b->key)
        return a->key > b->key ? -1 : 1;
    if (a->address != b->address)
        return a->address < b->address ? -1 : 1;
    return a->block < b->block ? -1 : 1;
}

/* All blocks in that order; NULL without memory. */
static struct block_row *sort_blocks(const struct view *view, unsigned order)
{
    const struct dcfg_process *process = view->process;
    struct block_row *rows = malloc(((size_t)process->block_count + 1) * sizeof *rows);
    if (!rows)
        return NULL;
    for (uint32_t i = 0; i < process->block_count; i++) {
        rows[i].block = i;
        rows[i].address = dcfg_block_address(process, i);
        rows[i].key = order == BY_COUNT          ? view->profile.executions[i]
                      : order == BY_INSTRUCTIONS ? view->profile.instructions[i]
                                                 : 0;
    }
    qsort(rows, process->block_count, sizeof *rows, compare_rows);
    return rows;
}

/* --- printing -------------------------------------------------------------------------------- */

static const struct table_column columns[] = {{"EXECUTIONS", "executions", TABLE_COUNT},
                                              {"INSTRUCTIONS", "instructions", TABLE_COUNT},
                                              {"SHARE", "share", TABLE_SHARE},
                                              {"ADDRESS", "address", TABLE_ADDRESS},
                                              {"BYTES", "size", TABLE_COUNT},
                                              {NULL, "block_instructions", TABLE_COUNT},
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
                                              {NULL, "certain", TABLE_COUNT},
                                              {NULL, "unexplained", TABLE_COUNT},
                                              {NULL, "fetches", TABLE_COUNT}};

struct block_listing {
    const struct view *view;
    const struct block_row *rows;
};

static void fill_row(void *argument, size_t number, struct table_cell *cells)
{
    const struct block_listing *listing = argument;
    const struct graph_profile *profile = &listing->view->profile;
    uint32_t block = listing->rows[number].block;
    const struct dcfg_block *given = &listing->view->process->blocks[block];
    struct code_location location;
    names_of_block(listing->view->names, block, &location);
    cells[0].number = profile->executions[block];
    cells[1].number = profile->instructions[block];
    cells[2].real = graph_profile_share(profile->instructions[block], profile->total);
    cells[3].number = location.address;
    cells[4].number = given->size;
    cells[5].number = given->instructions;
    cells[6].number = given->id;
    cells[7].text = location.image;
    cells[8].number = location.image_offset;
    cells[9] = cells[10] =
        (struct table_cell){.text = location.symbol, .number = location.symbol_offset};
    cells[11] = (struct table_cell){.number = location.symbol_offset, .none = !location.symbol};
    cells[12] = cells[13] = (struct table_cell){.text = location.file, .number = location.line};
    cells[14] = (struct table_cell){.number = location.line, .none = !location.file};
    cells[15].text = graph_confidence_name(graph_profile_confidence(profile, block));
    cells[16].number = graph_profile_certain(profile, block);
    cells[17].number = profile->unexplained ? profile->unexplained[block] : 0;
    cells[18] = (struct table_cell){.number = profile->fetches ? profile->fetches[block] : 0,
                                    .none = !profile->fetches};
}

static uint32_t next_block(void *argument, size_t number, size_t *next)
{
    const struct block_listing *listing = argument;
    return (*next)++ == 0 ? listing->rows[number].block : DCFG_NONE;
}

static int print_blocks(const struct view *view, const struct view_list *list,
                        struct bt_error *error)
{
    const size_t count = view->process->block_count;
    struct block_row *rows = sort_blocks(view, list->order);
    struct block_listing listing = {view, rows};
    struct view_table table = {.table = {.columns = columns,
                                         .column_count = sizeof columns / sizeof columns[0],
                                         .rows = list->top < count ? (size_t)list->top : count,
                                         .row = fill_row,
                                         .argument = &listing},
                               .key = "blocks",
                               .count_key = "block_count",
                               .count = count,
                               .sum_column = 0,
                               .next_block = next_block};
    int result = rows ? view_print(view, list, &table) : BT_MEMORY;
    free(rows);
    return result < 0 ? bt_fail(error, result, "no memory for a list of %zu blocks", count) : 0;
}

static int blocks_main(struct invocation *call)
{
    return view_list_main(call, orders, UINT64_MAX, print_blocks);
}

const struct command dcfg_blocks_command = {
    .name = "blocks",
    .operands = "FILE",
    .summary = "list hot blocks: executions, instructions, symbol, source line",
    .details = "Lists the basic blocks of a graph, the most frequently executed first, with "
               "executions, executed instructions and their share of all, address, symbol and "
               "source line.",
    .options = blocks_options,
    .run = blocks_main,
    .group = NULL};
