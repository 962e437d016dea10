#include "tools/dcfg/graph/graph_diff.h"

#include "formats/base/saturating.h"
#include "tools/dcfg/graph/match_functions.h"

#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX

/* A row of a graph, with the key that identifies it in both graphs. */
struct keyed_row {
    uint64_t high, low;
    uint32_t tie, row;
};

struct graph_comparison {
    const struct graph_profile *profiles[2];
    const struct dcfg_process *processes[2];
    uint32_t *images[2]; /* by image: its number in the union of both graphs' images */
    uint32_t *nodes[2];  /* by block: its number in the union; then the special nodes */
    struct function_place *places[2]; /* by block; NULL: blocks are matched by image and offset */
    uint64_t *instructions[2];        /* by routine */
    struct keyed_row *keys[2];
    size_t key_counts[2];
    struct graph_diff *diff;
    uint32_t node_count;
};

static int compare_keys(const void *left, const void *right)
{
    const struct keyed_row *a = left;
    const struct keyed_row *b = right;
    if (a->high != b->high)
        return a->high < b->high ? -1 : 1;
    if (a->low != b->low)
        return a->low < b->low ? -1 : 1;
    if (a->tie != b->tie)
        return a->tie < b->tie ? -1 : 1;
    return a->row < b->row ? -1 : 1;
}

/* --- images ---------------------------------------------------------------------------------- */

static const char *image_name(const struct dcfg_process *process, uint32_t image, bool last_part)
{
    const char *name = dcfg_file_name(process->graph, process->images[image].file_name_id);
    const char *slash = name && last_part ? strrchr(name, '/') : NULL;
    return slash ? slash + 1 : name ? name : "";
}

/* An image's name, for sorting. */
struct named {
    const char *name;
    uint32_t image;
};

static int compare_named(const void *left, const void *right)
{
    const struct named *a = left;
    const struct named *b = right;
    int order = strcmp(a->name, b->name);
    return order ? order : a->image < b->image ? -1 : 1;
}

static uint32_t collect_images(const struct graph_comparison *comparison, unsigned side,
                               bool last_part, struct named *named)
{
    const struct dcfg_process *process = comparison->processes[side];
    uint32_t count = 0;
    for (uint32_t i = 0; i < process->image_count; i++)
        if (comparison->images[side][i] == NONE)
            named[count++] = (struct named){image_name(process, i, last_part), i};
    if (count > 0)
        qsort(named, count, sizeof *named, compare_named);
    return count;
}

/* Pairs the remaining images; images of the same name in their order. */
static void pair_images(struct graph_comparison *comparison, bool last_part, uint32_t *number,
                        struct named *named[2])
{
    uint32_t count[2];
    uint32_t at[2] = {0, 0};
    for (unsigned side = 0; side < 2; side++)
        count[side] = collect_images(comparison, side, last_part, named[side]);
    while (at[0] < count[0] && at[1] < count[1]) {
        int order = strcmp(named[0][at[0]].name, named[1][at[1]].name);
        if (order == 0) {
            comparison->images[0][named[0][at[0]].image] = *number;
            comparison->images[1][named[1][at[1]].image] = (*number)++;
        }
        at[0] += order <= 0;
        at[1] += order >= 0;
    }
}

/* Builds of a program may have different file names: pairs the only image left in each graph. */
static void pair_last(struct graph_comparison *comparison, uint32_t *number)
{
    uint32_t left[2] = {NONE, NONE};
    for (unsigned side = 0; side < 2; side++)
        for (uint32_t i = 0; i < comparison->processes[side]->image_count; i++) {
            if (comparison->images[side][i] != NONE)
                continue;
            if (left[side] != NONE)
                return;
            left[side] = i;
        }
    if (left[0] != NONE && left[1] != NONE) {
        comparison->images[0][left[0]] = comparison->images[1][left[1]] = (*number)++;
    }
}

static int number_images(struct graph_comparison *comparison)
{
    struct named *named[2];
    uint32_t number = 0;
    for (unsigned side = 0; side < 2; side++) {
        uint32_t count = comparison->processes[side]->image_count;
        named[side] = malloc(((size_t)count + 1) * sizeof *named[side]);
        memset(comparison->images[side], 0xff, count * sizeof *comparison->images[side]);
    }
    int result = named[0] && named[1] ? 0 : BT_MEMORY;
    if (result == 0) {
        pair_images(comparison, false, &number, named);
        pair_images(comparison, true, &number, named);
        if (comparison->places[0])
            pair_last(comparison, &number);
        for (unsigned side = 0; side < 2; side++)
            for (uint32_t i = 0; i < comparison->processes[side]->image_count; i++)
                if (comparison->images[side][i] == NONE)
                    comparison->images[side][i] = number++;
    }
    free(named[0]);
    free(named[1]);
    return result;
}

/* --- keys ------------------------------------------------------------------------------------ */

static uint64_t node_of(const struct graph_comparison *comparison, unsigned side, uint32_t id)
{
    uint32_t block = dcfg_find_block(comparison->processes[side], id);
    return block == DCFG_NONE ? (uint64_t)dcfg_special(comparison->processes[side]->graph, id)
                              : comparison->nodes[side][block];
}

static struct keyed_row key_of_block(const struct graph_comparison *comparison, unsigned side,
                                     uint32_t block)
{
    const struct dcfg_process *process = comparison->processes[side];
    const struct function_place *place =
        comparison->places[side] ? &comparison->places[side][block] : NULL;
    const bool named = place && place->function != DCFG_NONE;
    return (struct keyed_row){
        .high = named ? (UINT64_C(1) << 32) + place->function
                      : comparison->images[side][dcfg_image_of_block(process, block)],
        .low = named ? place->offset : process->blocks[block].offset,
        .tie = process->blocks[block].size,
        .row = block};
}

static void collect(struct graph_comparison *comparison, unsigned side, enum graph_diff_kind kind)
{
    const struct dcfg_process *process = comparison->processes[side];
    struct keyed_row *keys = comparison->keys[side];
    const uint32_t counts[GRAPH_DIFF_KINDS] = {process->block_count, process->edges.count,
                                               process->routine_count};
    for (uint32_t i = 0; i < counts[kind]; i++) {
        if (kind == GRAPH_DIFF_BLOCKS)
            keys[i] = key_of_block(comparison, side, i);
        else if (kind == GRAPH_DIFF_EDGES)
            keys[i] =
                (struct keyed_row){.high = node_of(comparison, side, process->edges.sources[i]),
                                   .low = node_of(comparison, side, process->edges.targets[i]),
                                   .tie = process->edges.types[i],
                                   .row = i};
        else
            keys[i] =
                (struct keyed_row){.high = 0,
                                   .low = node_of(comparison, side, process->routines[i].entry),
                                   .tie = 0,
                                   .row = i};
    }
    comparison->key_counts[side] = counts[kind];
    if (counts[kind] > 0)
        qsort(keys, counts[kind], sizeof *keys, compare_keys);
}

/* --- differences ----------------------------------------------------------------------------- */

static bool same_threads(const struct graph_comparison *comparison, const uint32_t rows[2])
{
    struct dcfg_counts a = dcfg_edge_counts(comparison->processes[0], rows[0]);
    struct dcfg_counts b = dcfg_edge_counts(comparison->processes[1], rows[1]);
    for (;;) {
        bool more = dcfg_counts_next(&a);
        if (more != dcfg_counts_next(&b))
            return false;
        if (!more)
            return true;
        if (a.thread != b.thread || a.count != b.count)
            return false;
    }
}

/* Whether an item that is in both graphs differs in more than its counts. */
static bool differs(const struct graph_comparison *comparison, enum graph_diff_kind kind,
                    const uint32_t rows[2])
{
    const struct dcfg_process *a = comparison->processes[0];
    const struct dcfg_process *b = comparison->processes[1];
    if (kind == GRAPH_DIFF_BLOCKS)
        return a->blocks[rows[0]].size != b->blocks[rows[1]].size ||
               a->blocks[rows[0]].instructions != b->blocks[rows[1]].instructions;
    if (kind == GRAPH_DIFF_EDGES)
        return a->edges.types[rows[0]] != b->edges.types[rows[1]] ||
               !same_threads(comparison, rows);
    return a->routines[rows[0]].nodes.count != b->routines[rows[1]].nodes.count;
}

static uint64_t count_of(const struct graph_comparison *comparison, enum graph_diff_kind kind,
                         unsigned side, uint32_t row)
{
    if (row == DCFG_NONE)
        return 0;
    if (kind == GRAPH_DIFF_BLOCKS)
        return comparison->profiles[side]->executions[row];
    if (kind == GRAPH_DIFF_EDGES)
        return dcfg_edge_total(comparison->processes[side], row);
    return comparison->instructions[side][row];
}

/* Adds an item of one or both graphs to the list, if it differs. */
static void judge(struct graph_comparison *comparison, enum graph_diff_kind kind, uint32_t a,
                  uint32_t b)
{
    struct graph_diff_list *list = &comparison->diff->lists[kind];
    struct graph_diff_row row = {.rows = {a, b}};
    for (unsigned side = 0; side < 2; side++) {
        row.counts[side] = count_of(comparison, kind, side, row.rows[side]);
        if (kind == GRAPH_DIFF_BLOCKS && row.rows[side] != DCFG_NONE)
            comparison->nodes[side][row.rows[side]] = comparison->node_count;
        list->only[side] += row.rows[!side] == DCFG_NONE;
    }
    comparison->node_count += kind == GRAPH_DIFF_BLOCKS;
    bool both = a != DCFG_NONE && b != DCFG_NONE;
    row.other = both && differs(comparison, kind, row.rows);
    row.change = row.counts[0] > row.counts[1] ? row.counts[0] - row.counts[1]
                                               : row.counts[1] - row.counts[0];
    if (!both || row.other || row.change > 0)
        list->rows[list->count++] = row;
}

static void merge(struct graph_comparison *comparison, enum graph_diff_kind kind)
{
    const struct keyed_row *a = comparison->keys[0];
    const struct keyed_row *b = comparison->keys[1];
    const struct keyed_row *a_end = a + comparison->key_counts[0];
    const struct keyed_row *b_end = b + comparison->key_counts[1];
    while (a < a_end || b < b_end) {
        int order = a == a_end ? 1 : b == b_end ? -1 : 0;
        if (order == 0 && a->high != b->high)
            order = a->high < b->high ? -1 : 1;
        else if (order == 0 && a->low != b->low)
            order = a->low < b->low ? -1 : 1;
        judge(comparison, kind, order <= 0 ? a->row : DCFG_NONE, order >= 0 ? b->row : DCFG_NONE);
        a += order <= 0;
        b += order >= 0;
    }
}

/* By size of the change, descending; else in the files' order. */
static int compare_rows(const void *left, const void *right)
{
    const struct graph_diff_row *a = left;
    const struct graph_diff_row *b = right;
    if (a->change != b->change)
        return a->change > b->change ? -1 : 1;
    if (a->rows[0] != b->rows[0])
        return a->rows[0] < b->rows[0] ? -1 : 1;
    return a->rows[1] < b->rows[1] ? -1 : 1;
}

static int compare_kind(struct graph_comparison *comparison, enum graph_diff_kind kind)
{
    struct graph_diff_list *list = &comparison->diff->lists[kind];
    for (unsigned side = 0; side < 2; side++)
        collect(comparison, side, kind);
    list->rows =
        malloc((comparison->key_counts[0] + comparison->key_counts[1] + 1) * sizeof *list->rows);
    if (!list->rows)
        return BT_MEMORY;
    merge(comparison, kind);
    if (list->count > 0) {
        comparison->diff->differ = true;
        qsort(list->rows, list->count, sizeof *list->rows, compare_rows);
    }
    return 0;
}

/* --- all together ---------------------------------------------------------------------------- */

static void sum_routines(const struct graph_comparison *comparison, unsigned side)
{
    const struct dcfg_process *process = comparison->processes[side];
    for (uint32_t b = 0; b < process->block_count; b++) {
        uint32_t routine = comparison->profiles[side]->routine_of[b];
        uint64_t *sum = &comparison->instructions[side][routine == DCFG_NONE ? 0 : routine];
        if (routine != DCFG_NONE)
            *sum = saturating_add(*sum, comparison->profiles[side]->instructions[b]);
    }
}

static bool allocate(struct graph_comparison *comparison, bool by_function)
{
    bool good = true;
    for (unsigned side = 0; side < 2; side++) {
        const struct dcfg_process *process = comparison->processes[side];
        size_t most = process->block_count > process->edges.count ? process->block_count
                                                                  : process->edges.count;
        if (process->routine_count > most)
            most = process->routine_count;
        comparison->images[side] = calloc((size_t)process->image_count + 1, sizeof(uint32_t));
        comparison->nodes[side] = calloc((size_t)process->block_count + 1, sizeof(uint32_t));
        comparison->instructions[side] =
            calloc((size_t)process->routine_count + 1, sizeof(uint64_t));
        comparison->keys[side] = malloc((most + 1) * sizeof(struct keyed_row));
        if (by_function)
            comparison->places[side] =
                calloc((size_t)process->block_count + 1, sizeof *comparison->places[side]);
        good = good && (!by_function || comparison->places[side]) && comparison->images[side] &&
               comparison->nodes[side] && comparison->instructions[side] && comparison->keys[side];
    }
    return good;
}

int graph_diff_make(struct graph_diff *diff, const struct graph_profile *const profiles[2],
                    const struct names *const *names, struct bt_error *error)
{
    struct graph_comparison comparison = {.profiles = {profiles[0], profiles[1]},
                                          .processes = {profiles[0]->process, profiles[1]->process},
                                          .diff = diff,
                                          .node_count = DCFG_OTHER + 1};
    *diff = (struct graph_diff){.differ = false};
    int result = allocate(&comparison, names) ? number_images(&comparison) : BT_MEMORY;
    if (result == 0 && names)
        result = match_functions(comparison.processes, names, comparison.images, comparison.places);
    if (result == 0) {
        sum_routines(&comparison, 0);
        sum_routines(&comparison, 1);
        diff->differ = profiles[0]->total != profiles[1]->total ||
                       profiles[0]->process->threads != profiles[1]->process->threads;
    }
    for (int kind = 0; kind < GRAPH_DIFF_KINDS && result == 0; kind++)
        result = compare_kind(&comparison, (enum graph_diff_kind)kind);
    for (unsigned side = 0; side < 2; side++) {
        free(comparison.images[side]);
        free(comparison.places[side]);
        free(comparison.nodes[side]);
        free(comparison.instructions[side]);
        free(comparison.keys[side]);
    }
    if (result < 0) {
        graph_diff_clear(diff);
        bt_fail(error, result, "no memory to compare two graphs");
    }
    return result;
}

void graph_diff_clear(struct graph_diff *diff)
{
    for (int kind = 0; kind < GRAPH_DIFF_KINDS; kind++)
        free(diff->lists[kind].rows);
    *diff = (struct graph_diff){.differ = false};
}
