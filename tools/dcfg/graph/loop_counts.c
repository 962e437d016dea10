#include "tools/dcfg/graph/loop_counts.h"

#include "formats/base/saturating.h"

#include <stdlib.h>
#include <string.h>

/* Index for counting: edges by target, loops by head. */
struct counting {
    const struct graph_profile *profile;
    struct loop_count *counts;
    uint32_t *first;   /* by block, and one more: index of its first edge in edges */
    uint32_t *edges;   /* edge numbers, sorted by target */
    uint32_t *loop_of; /* by block: the loop with this head */
    uint32_t *inside;  /* by block: 1 + the last loop marked */
};

static int allocate(struct counting *counting)
{
    const struct dcfg_process *process = counting->profile->process;
    size_t blocks = (size_t)process->block_count + 2;
    counting->counts = calloc((size_t)process->loop_count + 1, sizeof *counting->counts);
    counting->first = calloc(blocks, sizeof *counting->first);
    counting->edges = malloc(((size_t)process->edges.count + 1) * sizeof *counting->edges);
    counting->loop_of = malloc(blocks * sizeof *counting->loop_of);
    counting->inside = calloc(blocks, sizeof *counting->inside);
    return counting->counts && counting->first && counting->edges && counting->loop_of &&
                   counting->inside
               ? 0
               : BT_MEMORY;
}

static void sort_edges(struct counting *counting)
{
    const struct dcfg_process *process = counting->profile->process;
    uint32_t *first = counting->first;
    for (uint32_t e = 0; e < process->edges.count; e++) {
        uint32_t target = dcfg_find_block(process, process->edges.targets[e]);
        if (target != DCFG_NONE)
            first[target]++;
    }
    /* end of each block's edges; filled from the end */
    for (uint32_t b = 1; b <= process->block_count; b++)
        first[b] += first[b - 1];
    for (uint32_t e = process->edges.count; e-- > 0;) {
        uint32_t target = dcfg_find_block(process, process->edges.targets[e]);
        if (target != DCFG_NONE)
            counting->edges[--first[target]] = e;
    }
}

static void find_heads(struct counting *counting)
{
    const struct dcfg_process *process = counting->profile->process;
    memset(counting->loop_of, 0xff, process->block_count * sizeof *counting->loop_of);
    for (uint32_t l = process->loop_count; l-- > 0;)
        counting->loop_of[dcfg_find_block(process, process->loops[l].head)] = l;
    for (uint32_t r = 0; r < process->routine_count; r++)
        for (uint32_t i = 0; i < process->routines[r].loops.count; i++)
            counting->counts[process->routines[r].loops.first + i].routine = r;
    for (uint32_t l = 0; l < process->loop_count; l++) {
        uint32_t parent = dcfg_find_block(process, process->loops[l].parent);
        counting->counts[l].parent = parent == DCFG_NONE ? DCFG_NONE : counting->loop_of[parent];
    }
}

/* Computes each loop's depth; a cycle of parents, which a file may contain, is cut. */
static void find_depths(struct loop_count *counts, uint32_t loops)
{
    for (uint32_t l = 0; l < loops; l++) {
        uint32_t length = 0;
        uint32_t at = l;
        for (; at != DCFG_NONE && counts[at].depth == 0; at = counts[at].parent) {
            counts[at].depth = UINT32_MAX; /* in progress */
            length++;
        }
        uint32_t depth = at != DCFG_NONE && counts[at].depth != UINT32_MAX ? counts[at].depth : 0;
        for (at = l; length > 0; at = counts[at].parent)
            counts[at].depth = depth + length--;
    }
}

/* Marks the loop's blocks and sums up their instructions. */
static void enter_loop(struct counting *counting, uint32_t loop)
{
    const struct graph_profile *profile = counting->profile;
    const struct dcfg_range *nodes = &profile->process->loops[loop].nodes;
    struct loop_count *count = &counting->counts[loop];
    for (uint32_t i = nodes->first; i < nodes->first + nodes->count; i++) {
        uint32_t block = dcfg_find_block(profile->process, profile->process->ids[i]);
        if (counting->inside[block] != loop + 1)
            count->instructions = saturating_add(count->instructions, profile->instructions[block]);
        counting->inside[block] = loop + 1;
    }
}

/* Counts the edges to the head of a loop whose blocks are marked. */
static void count_head(struct counting *counting, uint32_t loop, uint32_t head)
{
    const struct graph_profile *profile = counting->profile;
    const struct dcfg_process *process = profile->process;
    struct loop_count *count = &counting->counts[loop];
    uint64_t returned = 0;
    uint64_t called_within = 0;
    for (uint32_t i = counting->first[head]; i < counting->first[head + 1]; i++) {
        uint32_t edge = counting->edges[i];
        enum dcfg_edge_type type = process->edges.types[edge];
        uint64_t taken = dcfg_edge_total(process, edge);
        uint32_t source = dcfg_find_block(process, process->edges.sources[edge]);
        bool within = source != DCFG_NONE && counting->inside[source] == loop + 1 &&
                      dcfg_edge_type_is_within_routine(type);
        uint64_t *sum = dcfg_edge_type_is_return(type) ? &returned
                        : within                       ? &count->back
                                                       : &count->entries;
        *sum = saturating_add(*sum, taken);
        if (within && dcfg_edge_type_is_bypass(type))
            called_within = saturating_add(called_within, profile->executions[source]);
    }
    uint64_t back = returned < called_within ? returned : called_within;
    count->back = saturating_add(count->back, back);
    count->entries = saturating_add(count->entries, returned - back);
}

struct loop_count *loop_counts_make(const struct graph_profile *profile, struct bt_error *error)
{
    const struct dcfg_process *process = profile->process;
    struct counting counting = {.profile = profile};
    if (allocate(&counting) == 0) {
        sort_edges(&counting);
        find_heads(&counting);
        find_depths(counting.counts, process->loop_count);
        for (uint32_t l = 0; l < process->loop_count; l++) {
            uint32_t head = dcfg_find_block(process, process->loops[l].head);
            enter_loop(&counting, l);
            if (counting.loop_of[head] == l)
                count_head(&counting, l, head);
        }
    } else {
        bt_fail(error, BT_MEMORY, "no memory for the counts of %u loops", process->loop_count);
        free(counting.counts);
        counting.counts = NULL;
    }
    free(counting.first);
    free(counting.edges);
    free(counting.loop_of);
    free(counting.inside);
    return counting.counts;
}

uint64_t loop_count_iterations(const struct loop_count *count)
{
    return saturating_add(count->entries, count->back);
}
