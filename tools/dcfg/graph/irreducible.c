#include "tools/dcfg/graph/irreducible.h"

#include "formats/base/saturating.h"
#include "tools/dcfg/graph/components.h"
#include "tools/dcfg/graph/digraph.h"
#include "tools/dcfg/graph/region_tree.h"

#include <stdlib.h>
#include <string.h>

/* A block of a part. */
struct part_block {
    uint32_t block;
    bool entry;
    uint32_t back_edges; /* from within the part */
    uint64_t counted;    /* their executions */
    uint64_t calls;      /* within the part that return to the block */
    uint64_t returned;
};

struct irreducible_search {
    const struct dcfg_process *process;
    const struct graph_profile *profile;
    struct region_tree tree;
    uint32_t *part_of;         /* by node: its part, or DCFG_NONE; first its component */
    uint32_t *ends[2];         /* sources and targets of the edges within regions */
    struct part_block *blocks; /* of all parts */
    struct irreducible_loops *found;
};

/* The loop that contains a node, as a node; DCFG_NONE: none. */
static uint32_t outer_node(const struct irreducible_search *search, uint32_t node)
{
    const uint32_t region = search->tree.region_of[node];
    return region < search->process->loop_count ? search->process->block_count + region : DCFG_NONE;
}

static bool contains(const struct irreducible_search *search, uint32_t part, uint32_t block)
{
    for (uint32_t node = block; node != DCFG_NONE; node = outer_node(search, node))
        if (search->part_of[node] == part)
            return true;
    return false;
}

/* --- parts ----------------------------------------------------------------------------------- */

/* Finds the edges within regions, without those to their heads. */
static size_t find_edges(struct irreducible_search *search)
{
    const struct dcfg_process *process = search->process;
    size_t count = 0;
    for (uint32_t e = 0; e < process->edges.count; e++) {
        uint32_t source = dcfg_find_block(process, process->edges.sources[e]);
        uint32_t target = dcfg_find_block(process, process->edges.targets[e]);
        const uint32_t block = target;
        if (source == DCFG_NONE || target == DCFG_NONE ||
            process->edges.types[e] == DCFG_EDGE_UNKNOWN || /* a gap of the capture */
            !dcfg_edge_type_is_within_routine(process->edges.types[e]))
            continue;
        const uint32_t region = region_tree_join(&search->tree, &source, &target);
        if (region == DCFG_NONE || source == target ||
            (region < process->loop_count && block == region_tree_head(process, region)))
            continue;
        search->ends[0][count] = source;
        search->ends[1][count++] = target;
    }
    return count;
}

/* Numbers the components of several nodes in the order of their first nodes. 0 or BT_MEMORY. */
static int find_parts(struct irreducible_search *search)
{
    const uint32_t nodes = search->tree.node_count;
    struct digraph graph;
    struct bt_error error;
    uint32_t components;
    const size_t edges = find_edges(search);
    if (digraph_make(&graph, nodes, search->ends[0], search->ends[1], edges, &error) != 0)
        return BT_MEMORY;
    uint32_t *sizes = calloc((size_t)nodes + 1, sizeof *sizes);
    uint32_t *numbers = malloc(((size_t)nodes + 1) * sizeof *numbers);
    int result = sizes && numbers ? components_find(search->part_of, &components, nodes,
                                                    graph.first_successor, graph.successors)
                                  : BT_MEMORY;
    if (result == 0) {
        memset(numbers, 0xff, nodes * sizeof *numbers);
        for (uint32_t n = 0; n < nodes; n++)
            sizes[search->part_of[n]]++;
        for (uint32_t n = 0; n < nodes; n++) {
            const uint32_t component = search->part_of[n];
            if (sizes[component] > 1 && numbers[component] == DCFG_NONE)
                numbers[component] = search->found->count++;
            search->part_of[n] = numbers[component];
        }
    }
    free(sizes);
    free(numbers);
    digraph_clear(&graph);
    return result;
}

/* --- blocks and entries ---------------------------------------------------------------------- */

/* Lists the blocks of all parts. 0 or BT_MEMORY. */
static int list_blocks(struct irreducible_search *search)
{
    struct irreducible_loops *found = search->found;
    size_t total = 0;
    for (uint32_t b = 0; b < search->process->block_count; b++)
        for (uint32_t node = b; node != DCFG_NONE; node = outer_node(search, node))
            if (search->part_of[node] != DCFG_NONE) {
                found->loops[search->part_of[node]].block_count++;
                total++;
            }
    search->blocks = calloc(total + 1, sizeof *search->blocks);
    found->blocks = malloc((total + 1) * sizeof *found->blocks);
    found->entries = malloc((total + 1) * sizeof *found->entries);
    if (!search->blocks || !found->blocks || !found->entries)
        return BT_MEMORY;
    uint32_t first = 0;
    for (uint32_t p = 0; p < found->count; p++) {
        found->loops[p].first_block = first;
        first += found->loops[p].block_count;
        found->loops[p].block_count = 0;
    }
    for (uint32_t b = 0; b < search->process->block_count; b++)
        for (uint32_t node = b; node != DCFG_NONE; node = outer_node(search, node))
            if (search->part_of[node] != DCFG_NONE) {
                struct irreducible_loop *part = &found->loops[search->part_of[node]];
                const uint32_t place = part->first_block + part->block_count++;
                search->blocks[place].block = found->blocks[place] = b;
            }
    return 0;
}

static int compare_blocks(const void *left, const void *right)
{
    const uint32_t a = *(const uint32_t *)left;
    const uint32_t b = ((const struct part_block *)right)->block;
    return a != b ? (a < b ? -1 : 1) : 0;
}

/* A block of a part that has it. */
static struct part_block *find_block(struct irreducible_search *search, uint32_t part,
                                     uint32_t block)
{
    const struct irreducible_loop *loop = &search->found->loops[part];
    return bsearch(&block, search->blocks + loop->first_block, loop->block_count,
                   sizeof *search->blocks, compare_blocks);
}

/* Takes an edge into account; source is DCFG_NONE for a special node. */
static void take_edge(struct irreducible_search *search, uint32_t edge, uint32_t source,
                      struct part_block *target, bool inside)
{
    const enum dcfg_edge_type type = search->process->edges.types[edge];
    const uint64_t count = dcfg_edge_total(search->process, edge);
    if (dcfg_edge_type_is_return(type)) {
        target->returned = saturating_add(target->returned, count);
    } else if (!inside || !dcfg_edge_type_is_within_routine(type)) {
        target->entry = true;
    } else {
        target->back_edges++;
        target->counted = saturating_add(target->counted, count);
        if (dcfg_edge_type_is_bypass(type))
            target->calls = saturating_add(target->calls, search->profile->executions[source]);
    }
}

static void find_entries(struct irreducible_search *search)
{
    const struct dcfg_process *process = search->process;
    for (uint32_t r = 0; r < process->routine_count; r++) {
        const uint32_t entry = dcfg_find_block(process, process->routines[r].entry);
        for (uint32_t node = entry; node != DCFG_NONE; node = outer_node(search, node))
            if (search->part_of[node] != DCFG_NONE)
                find_block(search, search->part_of[node], entry)->entry = true;
    }
    for (uint32_t e = 0; e < process->edges.count; e++) {
        const uint32_t source = dcfg_find_block(process, process->edges.sources[e]);
        const uint32_t target = dcfg_find_block(process, process->edges.targets[e]);
        for (uint32_t node = target; node != DCFG_NONE; node = outer_node(search, node)) {
            const uint32_t part = search->part_of[node];
            if (part != DCFG_NONE)
                take_edge(search, e, source, find_block(search, part, target),
                          source != DCFG_NONE && contains(search, part, source));
        }
    }
}

/* Sums up the entries of a part. */
static void sum_up(struct irreducible_search *search, struct irreducible_loop *part)
{
    const uint64_t *executions = search->profile->executions;
    uint32_t *entries = search->found->entries + part->first_entry;
    for (uint32_t i = part->first_block; i < part->first_block + part->block_count; i++) {
        const struct part_block *block = &search->blocks[i];
        if (!block->entry)
            continue;
        const uint64_t all = executions[block->block];
        const uint64_t returned = block->returned < block->calls ? block->returned : block->calls;
        const uint64_t within = saturating_add(block->counted, returned);
        part->entered = saturating_add(part->entered, all > within ? all - within : 0);
        if (part->entry_count == 0 || all > executions[part->head]) {
            part->head = block->block;
            part->back_edges = block->back_edges;
        }
        entries[part->entry_count++] = block->block;
    }
}

/* Keeps the parts with several entries: others are natural loops that the file lacks. */
static void keep_irreducible(struct irreducible_search *search, uint32_t *kept_as)
{
    struct irreducible_loops *found = search->found;
    const struct dcfg_process *process = search->process;
    uint32_t kept = 0;
    uint32_t next_entry = 0;
    for (uint32_t p = 0; p < found->count; p++) {
        struct irreducible_loop part = found->loops[p];
        part.first_entry = next_entry;
        sum_up(search, &part);
        kept_as[p] = part.entry_count > 1 ? kept : DCFG_NONE;
        if (part.entry_count < 2)
            continue;
        part.routine = search->profile->routine_of[part.head];
        next_entry += part.entry_count;
        found->loops[kept++] = part;
    }
    found->count = kept;
    for (uint32_t node = 0; node < search->tree.node_count; node++) {
        const uint32_t part = search->part_of[node];
        const uint32_t number = part == DCFG_NONE ? DCFG_NONE : kept_as[part];
        const uint32_t region = search->tree.region_of[node];
        if (number != DCFG_NONE)
            found->loops[number].parent = region < process->loop_count ? region : DCFG_NONE;
        if (node >= process->block_count)
            found->around[node - process->block_count] = number;
    }
}

/* --- all of it ------------------------------------------------------------------------------- */

static int search_all(struct irreducible_search *search)
{
    struct irreducible_loops *found = search->found;
    const size_t nodes = (size_t)search->tree.node_count + 1;
    const size_t edges = (size_t)search->process->edges.count + 1;
    search->part_of = malloc(nodes * sizeof *search->part_of);
    search->ends[0] = malloc(edges * sizeof *search->ends[0]);
    search->ends[1] = malloc(edges * sizeof *search->ends[1]);
    found->around = malloc(nodes * sizeof *found->around);
    if (!search->part_of || !search->ends[0] || !search->ends[1] || !found->around ||
        find_parts(search) != 0)
        return BT_MEMORY;
    found->loops = calloc((size_t)found->count + 1, sizeof *found->loops);
    uint32_t *kept_as = malloc(((size_t)found->count + 1) * sizeof *kept_as);
    int result = found->loops && kept_as ? list_blocks(search) : BT_MEMORY;
    if (result == 0) {
        find_entries(search);
        keep_irreducible(search, kept_as);
    }
    free(kept_as);
    return result;
}

int irreducible_find(struct irreducible_loops *found, const struct graph_profile *profile,
                     struct bt_error *error)
{
    struct irreducible_search search = {
        .process = profile->process, .profile = profile, .found = found};
    *found = (struct irreducible_loops){0};
    int result = region_tree_make(&search.tree, profile);
    if (result == 0) {
        result = search_all(&search);
        region_tree_clear(&search.tree);
    }
    free(search.part_of);
    free(search.ends[0]);
    free(search.ends[1]);
    free(search.blocks);
    if (result == 0)
        return 0;
    irreducible_clear(found);
    return bt_fail(error, result, "no memory for the loops of %u blocks",
                   profile->process->block_count);
}

void irreducible_clear(struct irreducible_loops *found)
{
    free(found->loops);
    free(found->blocks);
    free(found->entries);
    free(found->around);
    *found = (struct irreducible_loops){0};
}
