/* Checks sections 2.3 to 2.13 of the DCFG specification, except for edges. */
#include "tools/dcfg/graph/check_internal.h"

#include "formats/base/saturating.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MINOR_MAX 99u

/* --- the document ---------------------------------------------------------------------------- */

static void check_version(struct check *check, const struct dcfg *graph)
{
    const struct check_location location = {.kind = CHECK_AT_PATH, .text = "MINOR_VERSION"};
    if (graph->minor_missing)
        check_fail(check, CHECK_VERSION, &location, "MINOR_VERSION is missing");
    else if (graph->minor_version > MINOR_MAX)
        check_fail(check, CHECK_VERSION, &location,
                   "the minor version %" PRIu32 " has no two digits", graph->minor_version);
}

/* The number is limited: a file needs few types besides DCFG_EDGE_TYPES. */
static void check_edge_types(struct check *check, const struct dcfg *graph)
{
    bool seen[DCFG_EDGE_OTHER] = {false};
    for (uint32_t i = 0; i < graph->edge_type_count; i++) {
        const struct dcfg_edge_type_row *row = &graph->edge_types[i];
        const struct check_location location = {
            .kind = CHECK_AT_TOP, .text = "EDGE_TYPES", .number = i};
        const char *name = dcfg_text(graph, row->name);
        if (row->type == DCFG_EDGE_OTHER)
            check_fail(check, CHECK_EDGE_TYPE_NAMES, &location, "\"%.80s\" is not a type of edge",
                       name);
        /* the specification's example lists renamed types beside the new names */
        else if (seen[row->type] && strcmp(name, dcfg_edge_type_name(row->type)) == 0)
            check_fail(check, CHECK_EDGE_TYPE_NAMES, &location, "%s occurs twice", name);
        else if (strcmp(name, dcfg_edge_type_name(row->type)) == 0)
            seen[row->type] = true;
    }
}

static void check_special_nodes(struct check *check, const struct dcfg *graph)
{
    for (uint32_t i = 0; i < graph->special_node_count; i++) {
        const struct check_location location = {
            .kind = CHECK_AT_TOP, .text = "SPECIAL_NODES", .number = i};
        if (graph->special_nodes[i].special == DCFG_OTHER)
            check_fail(check, CHECK_SPECIAL_NAMES, &location, "\"%.80s\" is not a special node",
                       dcfg_text(graph, graph->special_nodes[i].name));
    }
}

static int compare_numbers(const void *left, const void *right)
{
    const uint64_t *a = left;
    const uint64_t *b = right;
    return (*a > *b) - (*a < *b);
}

static void check_process_ids(struct check *check, const struct dcfg *graph)
{
    uint64_t *ids = malloc(((size_t)graph->process_count + 1) * sizeof *ids);
    if (!ids)
        return;
    for (uint32_t i = 0; i < graph->process_count; i++)
        ids[i] = graph->processes[i]->id;
    qsort(ids, graph->process_count, sizeof *ids, compare_numbers);
    const struct check_location location = {.kind = CHECK_AT_PATH, .text = "PROCESSES"};
    for (uint32_t i = 1; i < graph->process_count; i++)
        if (ids[i] == ids[i - 1])
            check_fail(check, CHECK_PROCESS_IDS, &location, "the process %" PRIu64 " occurs twice",
                       ids[i]);
    free(ids);
}

void check_top(struct check *check, const struct dcfg *graph)
{
    check_version(check, graph);
    check_edge_types(check, graph);
    check_special_nodes(check, graph);
    check_process_ids(check, graph);
}

/* --- counts of instructions ------------------------------------------------------------------ */

static void check_counts(struct check *check, const struct dcfg_process *process)
{
    struct check_location location = {
        .kind = CHECK_AT_PROCESS, .process = process, .text = "INSTR_COUNT"};
    uint64_t sum = 0;
    for (uint32_t t = 0; t < process->threads_counted; t++)
        sum = saturating_add(sum, process->thread_instructions[t]);
    if (process->instructions_missing)
        check_fail(check, CHECK_COUNTS_TOLD, &location, "INSTR_COUNT is missing");
    else if (process->instructions != DCFG_COUNT_UNKNOWN && process->threads_counted > 0 &&
             process->instructions != sum)
        check_fail(check, CHECK_COUNTS_SUM, &location,
                   "%" PRIu64 " instructions, but those of the threads are %" PRIu64,
                   process->instructions, sum);
    location.text = "INSTR_COUNT_PER_THREAD";
    if (process->threads_counted == 0 && process->threads + process->edges.count > 0)
        check_fail(check, CHECK_COUNTS_TOLD, &location, "INSTR_COUNT_PER_THREAD is missing");
}

/* --- images ---------------------------------------------------------------------------------- */

/* Whether size bytes from offset on are within the image. */
static bool is_within(const struct dcfg_image *image, uint64_t offset, uint64_t size)
{
    return size <= image->size && offset <= image->size - size;
}

static void check_symbols(struct check *check, const struct dcfg_process *process,
                          const struct dcfg_image *image)
{
    for (uint32_t i = image->symbols.first; i < image->symbols.first + image->symbols.count; i++) {
        const struct dcfg_symbol *symbol = &process->symbols[i];
        const struct check_location location = {
            .kind = CHECK_AT_SYMBOL, .process = process, .number = i};
        if (!is_within(image, symbol->offset, symbol->size))
            check_fail(check, CHECK_SYMBOL_RANGE, &location,
                       "%.80s, %" PRIu64 " bytes at 0x%" PRIx64
                       ", is not within its image of %" PRIu64 " bytes",
                       dcfg_text(process->graph, symbol->name), symbol->size, symbol->offset,
                       image->size);
    }
}

static void check_lines(struct check *check, const struct dcfg_process *process,
                        const struct dcfg_image *image)
{
    for (uint32_t i = image->lines.first; i < image->lines.first + image->lines.count; i++) {
        const struct dcfg_line *line = &process->lines[i];
        const struct check_location location = {
            .kind = CHECK_AT_LINE, .process = process, .number = i};
        if (!is_within(image, line->offset, line->size))
            check_fail(check, CHECK_LINE_RANGE, &location,
                       "%" PRIu32 " bytes at 0x%" PRIx64 " are not within the image of %" PRIu64
                       " bytes",
                       line->size, line->offset, image->size);
    }
}

static const char *wrong_instructions(const struct dcfg_block *block)
{
    if (block->instructions == 0)
        return "a block without instructions";
    if (block->last_instruction >= block->size)
        return "LAST_INSTR_OFFSET is not within SIZE";
    if (block->instructions == 1 && block->last_instruction != 0)
        return "the only instruction is the first one, but LAST_INSTR_OFFSET is not 0";
    if (block->last_instruction < block->instructions - 1)
        return "there are more instructions before the last one than bytes";
    return NULL;
}

static void check_blocks(struct check *check, const struct dcfg_process *process,
                         const struct dcfg_image *image)
{
    for (uint32_t i = image->blocks.first; i < image->blocks.first + image->blocks.count; i++) {
        const struct dcfg_block *block = &process->blocks[i];
        const struct check_location location = {
            .kind = CHECK_AT_BLOCK, .process = process, .number = i};
        const char *wrong = wrong_instructions(block);
        if (!is_within(image, block->offset, block->size))
            check_fail(check, CHECK_BLOCK_RANGE, &location,
                       "block %" PRIu32 ", %" PRIu32 " bytes at 0x%" PRIx64
                       ", is not within its image of %" PRIu64 " bytes",
                       block->id, block->size, block->offset, image->size);
        if (wrong)
            check_fail(check, CHECK_BLOCK_INSTRUCTIONS, &location, "block %" PRIu32 ": %s",
                       block->id, wrong);
    }
}

static int compare_image_ids(const void *left, const void *right)
{
    const uint32_t *a = left;
    const uint32_t *b = right;
    return (*a > *b) - (*a < *b);
}

static int check_image_ids(struct check *check, const struct dcfg_process *process,
                           struct bt_error *error)
{
    const struct check_location location = {
        .kind = CHECK_AT_PROCESS, .process = process, .text = "IMAGES"};
    uint32_t *ids = malloc(((size_t)process->image_count + 1) * sizeof *ids);
    if (!ids)
        return bt_fail(error, BT_MEMORY, "no memory for %" PRIu32 " images", process->image_count);
    for (uint32_t i = 0; i < process->image_count; i++)
        ids[i] = process->images[i].id;
    qsort(ids, process->image_count, sizeof *ids, compare_image_ids);
    for (uint32_t i = 1; i < process->image_count; i++)
        if (ids[i] == ids[i - 1])
            check_fail(check, CHECK_IMAGE_IDS, &location, "the image id %" PRIu32 " occurs twice",
                       ids[i]);
    free(ids);
    return 0;
}

int check_tables(struct check *check, const struct check_process *view, struct bt_error *error)
{
    const struct dcfg_process *process = view->process;
    check_counts(check, process);
    for (uint32_t i = 0; i < process->image_count; i++) {
        const struct dcfg_image *image = &process->images[i];
        const struct check_location location = {
            .kind = CHECK_AT_ROW, .process = process, .text = "IMAGES", .number = i};
        if (image->size > 0 && image->size - 1 > UINT64_MAX - image->load_address)
            check_fail(check, CHECK_IMAGE_RANGE, &location,
                       "%" PRIu64 " bytes from 0x%" PRIx64 " on exceed the address space",
                       image->size, image->load_address);
        check_symbols(check, process, image);
        check_lines(check, process, image);
        check_blocks(check, process, image);
    }
    return check_image_ids(check, process, error);
}
