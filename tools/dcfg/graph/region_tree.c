#include "tools/dcfg/graph/region_tree.h"

#include <stdlib.h>

uint32_t region_tree_head(const struct dcfg_process *process, uint32_t loop)
{
    return dcfg_find_block(process, process->loops[loop].head);
}

uint32_t region_tree_block(const struct region_tree *tree, uint32_t node)
{
    const struct dcfg_process *process = tree->profile->process;
    return node < process->block_count ? node
                                       : region_tree_head(process, node - process->block_count);
}

struct sized_loop {
    uint32_t size, loop;
};

static int compare_sizes(const void *left, const void *right)
{
    const struct sized_loop *a = left;
    const struct sized_loop *b = right;
    if (a->size != b->size)
        return a->size > b->size ? -1 : 1;
    return a->loop < b->loop ? -1 : 1;
}

/* Finds the smallest region of each node. Outer loops come first; whatever the file says, a loop's
 * region is one that came before it. 0 or BT_MEMORY. */
static int find_regions(struct region_tree *tree)
{
    const struct dcfg_process *process = tree->profile->process;
    const uint32_t loops = process->loop_count;
    uint32_t *region_of = tree->region_of;
    struct sized_loop *order = malloc(((size_t)loops + 1) * sizeof *order);
    if (!order)
        return BT_MEMORY;
    for (uint32_t b = 0; b < process->block_count; b++) {
        const uint32_t routine = tree->profile->routine_of[b];
        region_of[b] = loops + (routine == DCFG_NONE ? process->routine_count : routine);
    }
    for (uint32_t l = 0; l < loops; l++)
        order[l] = (struct sized_loop){process->loops[l].nodes.count, l};
    qsort(order, loops, sizeof *order, compare_sizes);
    for (uint32_t i = 0; i < loops; i++) {
        const uint32_t loop = order[i].loop;
        const struct dcfg_range *nodes = &process->loops[loop].nodes;
        const uint32_t outer = region_of[region_tree_head(process, loop)];
        region_of[process->block_count + loop] = outer;
        tree->depth[loop] = 1 + (outer < loops ? tree->depth[outer] : 0);
        for (uint32_t n = nodes->first; n < nodes->first + nodes->count; n++)
            region_of[dcfg_find_block(process, process->ids[n])] = loop;
    }
    free(order);
    return 0;
}

uint32_t region_tree_join(const struct region_tree *tree, uint32_t *a, uint32_t *b)
{
    const struct dcfg_process *process = tree->profile->process;
    const uint32_t *region_of = tree->region_of;
    const uint32_t loops = process->loop_count;
    while (region_of[*a] != region_of[*b]) {
        const uint32_t depth_a = region_of[*a] < loops ? tree->depth[region_of[*a]] : 0;
        const uint32_t depth_b = region_of[*b] < loops ? tree->depth[region_of[*b]] : 0;
        uint32_t *inner = depth_a >= depth_b ? a : b;
        if (region_of[*inner] >= loops)
            return DCFG_NONE;
        *inner = process->block_count + region_of[*inner];
    }
    return region_of[*a];
}

int region_tree_make(struct region_tree *tree, const struct graph_profile *profile)
{
    const struct dcfg_process *process = profile->process;
    *tree = (struct region_tree){.profile = profile,
                                 .node_count = process->block_count + process->loop_count};
    tree->region_of = malloc(((size_t)tree->node_count + 1) * sizeof *tree->region_of);
    tree->depth = calloc((size_t)process->loop_count + 1, sizeof *tree->depth);
    if (tree->region_of && tree->depth && find_regions(tree) == 0)
        return 0;
    region_tree_clear(tree);
    return BT_MEMORY;
}

void region_tree_clear(struct region_tree *tree)
{
    free(tree->region_of);
    free(tree->depth);
    *tree = (struct region_tree){0};
}
