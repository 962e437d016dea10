#include "tools/dcfg/graph/loop_counts.h"

#include "formats/base/saturating.h"

#include <stdlib.h>
#include <string.h>

/* Index for counting: edges by target, loops by head. */
struct counting {
    const struct graph_profile *profile;
    const struct irreducible_loops *irreducible;
    struct loop_count *counts;
    uint32_t *first;       /* by block, and one more: index of its first edge in edges */
    uint32_t *edges;       /* edge numbers, sorted by target */
    uint32_t *loop_of;     /* by block: the loop with this head */
    uint32_t *inside;      /* by block: 1 + the last loop marked */
    uint64_t *interrupted; /* by block: how often a handler was entered from it */
};

static int allocate(struct counting *counting)
{
    const struct dcfg_process *process = counting->profile->process;
    size_t blocks = (size_t)process->block_count + 2;
    counting->counts = calloc((size_t)process->loop_count + counting->irreducible->count + 1,
                              sizeof *counting->counts);
    counting->first = calloc(blocks, sizeof *counting->first);
    counting->edges = malloc(((size_t)process->edges.count + 1) * sizeof *counting->edges);
    counting->loop_of = malloc(blocks * sizeof *counting->loop_of);
    counting->inside = calloc(blocks, sizeof *counting->inside);
    counting->interrupted = calloc(blocks, sizeof *counting->interrupted);
    return counting->counts && counting->first && counting->edges && counting->loop_of &&
                   counting->inside && counting->interrupted
               ? 0
               : BT_MEMORY;
}

static void sort_edges(struct counting *counting)
{
    const struct dcfg_process *process = counting->profile->process;
    uint32_t *first = counting->first;
    for (uint32_t e = 0; e < process->edges.count; e++) {
        uint32_t source = dcfg_find_block(process, process->edges.sources[e]);
        uint32_t target = dcfg_find_block(process, process->edges.targets[e]);
        if (target != DCFG_NONE)
            first[target]++;
        if (source != DCFG_NONE && process->edges.types[e] == DCFG_EDGE_CONTEXT_CHANGE)
            counting->interrupted[source] =
                saturating_add(counting->interrupted[source], dcfg_edge_total(process, e));
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

/* How often a loop whose blocks are marked was interrupted. */
static uint64_t interruptions(const struct counting *counting, uint32_t loop)
{
    const struct dcfg_process *process = counting->profile->process;
    const struct dcfg_range *nodes = &process->loops[loop].nodes;
    uint64_t sum = 0;
    for (uint32_t i = nodes->first; i < nodes->first + nodes->count; i++)
        sum = saturating_add(sum, counting->interrupted[dcfg_find_block(process, process->ids[i])]);
    return sum;
}

/* Adds returns to the head: at most `within` of them come from within the loop. */
static void add_returns(struct loop_count *count, uint64_t returned, uint64_t within)
{
    uint64_t back = returned < within ? returned : within;
    count->back = saturating_add(count->back, back);
    count->entries = saturating_add(count->entries, returned - back);
}

/* Counts the edges to the head of a loop whose blocks are marked. */
static void count_head(struct counting *counting, uint32_t loop, uint32_t head)
{
    const struct graph_profile *profile = counting->profile;
    const struct dcfg_process *process = profile->process;
    struct loop_count *count = &counting->counts[loop];
    uint64_t returned = 0;
    uint64_t resumed = 0; /* after a handler */
    uint64_t called_within = 0;
    bool has_other = false;
    bool has_way = false;
    for (uint32_t i = counting->first[head]; i < counting->first[head + 1]; i++) {
        uint32_t edge = counting->edges[i];
        enum dcfg_edge_type type = process->edges.types[edge];
        uint64_t taken = dcfg_edge_total(process, edge);
        uint32_t source = dcfg_find_block(process, process->edges.sources[edge]);
        bool back = source != DCFG_NONE && counting->inside[source] == loop + 1 &&
                    dcfg_edge_type_is_within_routine(type);
        bool gap = type == DCFG_EDGE_UNKNOWN;
        uint64_t *sum = type == DCFG_EDGE_CONTEXT_CHANGE_RETURN ? &resumed
                        : dcfg_edge_type_is_return(type)        ? &returned
                        : back && !gap                          ? &count->back
                                                                : &count->entries;
        *sum = saturating_add(*sum, taken);
        bool other = gap || type == DCFG_EDGE_CONTEXT_CHANGE_BYPASS;
        has_other |= back && other;
        has_way |= back && !other;
        if (back && dcfg_edge_type_is_bypass(type))
            called_within = saturating_add(called_within, profile->executions[source]);
    }
    count->is_no_loop = has_other && !has_way;
    add_returns(count, returned, called_within);
    add_returns(count, resumed, resumed > 0 ? interruptions(counting, loop) : 0);
}

/* Adds the irreducible loops, as parents of the natural ones in them. */
static void add_irreducible(struct counting *counting)
{
    const struct irreducible_loops *irreducible = counting->irreducible;
    const struct graph_profile *profile = counting->profile;
    const uint32_t loops = profile->process->loop_count;
    for (uint32_t i = 0; i < irreducible->count; i++) {
        const struct irreducible_loop *loop = &irreducible->loops[i];
        struct loop_count *count = &counting->counts[loops + i];
        const uint64_t executed = profile->executions[loop->head];
        *count = (struct loop_count){
            .parent = loop->parent, .routine = loop->routine, .entries = loop->entered};
        count->back = executed > loop->entered ? executed - loop->entered : 0;
        for (uint32_t b = loop->first_block; b < loop->first_block + loop->block_count; b++)
            count->instructions =
                saturating_add(count->instructions, profile->instructions[irreducible->blocks[b]]);
    }
    for (uint32_t l = 0; l < loops && irreducible->count > 0; l++)
        if (irreducible->around[l] != DCFG_NONE)
            counting->counts[l].parent = loops + irreducible->around[l];
}

/* Makes loops in one that only gaps repeat loops of the one around it. A cycle of parents, which a
 * file may contain, ends the search. */
static void skip_gaps(struct counting *counting)
{
    const uint32_t loops = counting->profile->process->loop_count + counting->irreducible->count;
    for (uint32_t l = 0; l < loops; l++) {
        uint32_t *parent = &counting->counts[l].parent;
        for (uint32_t i = 0;
             i < loops && *parent != DCFG_NONE && counting->counts[*parent].is_no_loop; i++)
            *parent = counting->counts[*parent].parent;
    }
}

struct loop_count *loop_counts_make(const struct graph_profile *profile,
                                    const struct irreducible_loops *irreducible,
                                    struct bt_error *error)
{
    const struct irreducible_loops none = {0};
    const struct dcfg_process *process = profile->process;
    struct counting counting = {.profile = profile,
                                .irreducible = irreducible ? irreducible : &none};
    if (allocate(&counting) == 0) {
        sort_edges(&counting);
        find_heads(&counting);
        add_irreducible(&counting);
        for (uint32_t l = 0; l < process->loop_count; l++) {
            uint32_t head = dcfg_find_block(process, process->loops[l].head);
            enter_loop(&counting, l);
            if (counting.loop_of[head] == l)
                count_head(&counting, l, head);
        }
        skip_gaps(&counting);
        find_depths(counting.counts, process->loop_count + counting.irreducible->count);
    } else {
        bt_fail(error, BT_MEMORY, "no memory for the counts of %u loops", process->loop_count);
        free(counting.counts);
        counting.counts = NULL;
    }
    free(counting.first);
    free(counting.edges);
    free(counting.loop_of);
    free(counting.inside);
    free(counting.interrupted);
    return counting.counts;
}

uint64_t loop_count_iterations(const struct loop_count *count)
{
    return saturating_add(count->entries, count->back);
}
