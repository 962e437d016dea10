/* Converts a process to arrays of numbers for the parts of check.h. */
#include "tools/dcfg/graph/check_internal.h"

#include <stdlib.h>

static uint32_t node_of(const struct check_process *view, uint32_t id)
{
    uint32_t block = dcfg_find_block(view->process, id);
    if (block != DCFG_NONE)
        return block;
    switch (dcfg_special(view->process->graph, id)) {
    case DCFG_START:
        return check_start(view);
    case DCFG_END:
        return check_end(view);
    default:
        return check_end(view) + 1;
    }
}

uint32_t check_node_id(const struct check_process *view, uint32_t node)
{
    const struct dcfg *graph = view->process->graph;
    if (node < view->blocks)
        return view->process->blocks[node].id;
    return graph->special_ids[node == check_start(view) ? DCFG_START
                              : node == check_end(view) ? DCFG_END
                                                        : DCFG_UNKNOWN];
}

static void fill_blocks(struct check_process *view)
{
    const struct dcfg_process *process = view->process;
    for (uint32_t i = 0; i < process->image_count; i++) {
        const struct dcfg_range *blocks = &process->images[i].blocks;
        for (uint32_t k = 0; k < blocks->count; k++)
            view->image_of[blocks->first + k] = i;
    }
}

/* Fills in sources, targets, and edges by source. */
static void fill_edges(struct check_process *view)
{
    const struct dcfg_edges *edges = &view->process->edges;
    uint32_t *first = view->first_out;
    for (uint32_t e = 0; e < edges->count; e++) {
        view->sources[e] = node_of(view, edges->sources[e]);
        view->targets[e] = node_of(view, edges->targets[e]);
        first[view->sources[e] + 1]++;
    }
    for (uint32_t node = 0; node < view->nodes; node++)
        first[node + 1] += first[node];
    for (uint32_t e = edges->count; e-- > 0;)
        view->out[--first[view->sources[e] + 1]] = e;
    /* each is now the start of the next node's edges: move up by one */
    for (uint32_t node = 0; node < view->nodes; node++)
        first[node] = first[node + 1];
    first[view->nodes] = edges->count;
}

/* Adds up the number of edges that each thread has a count of, in first[thread + 1]. */
static uint64_t count_counts(const struct dcfg_process *process, uint64_t *first)
{
    uint64_t total = 0;
    for (uint32_t e = 0; e < process->edges.count; e++) {
        struct dcfg_counts counts = dcfg_edge_counts(process, e);
        while (dcfg_counts_next(&counts)) {
            first[counts.thread + 1]++;
            total++;
        }
    }
    return total;
}

static int make_counts(struct check_counts *all, const struct dcfg_process *process,
                       const struct check_settings *settings, struct bt_error *error)
{
    all->first = calloc((size_t)process->threads + 2, sizeof *all->first);
    if (!all->first)
        return bt_fail(error, BT_MEMORY, "no memory for %u threads", process->threads);
    uint64_t total = count_counts(process, all->first);
    if (total > settings->memory_max / (sizeof *all->edges + sizeof *all->counts))
        return bt_fail(error, BT_MEMORY,
                       "the counts of %u threads need more than %llu MiB of memory: the limit",
                       process->threads, (unsigned long long)(settings->memory_max >> 20));
    all->edges = malloc((total + 1) * sizeof *all->edges);
    all->counts = malloc((total + 1) * sizeof *all->counts);
    if (!all->edges || !all->counts)
        return bt_fail(error, BT_MEMORY, "no memory for %llu counts", (unsigned long long)total);
    for (uint32_t t = 0; t < process->threads; t++)
        all->first[t + 1] += all->first[t];
    for (uint32_t e = 0; e < process->edges.count; e++) {
        struct dcfg_counts counts = dcfg_edge_counts(process, e);
        while (dcfg_counts_next(&counts)) {
            uint64_t place = all->first[counts.thread]++;
            all->edges[place] = e;
            all->counts[place] = counts.count;
        }
    }
    for (uint32_t t = process->threads; t > 0; t--)
        all->first[t] = all->first[t - 1];
    all->first[0] = 0;
    return 0;
}

int check_process_make(struct check_process *view, const struct dcfg_process *process,
                       const struct check_settings *settings, struct bt_error *error)
{
    size_t edges = process->edges.count;
    *view = (struct check_process){.process = process, .blocks = process->block_count};
    view->nodes = view->blocks + CHECK_SPECIAL_NODES;
    view->sources = malloc((edges + 1) * sizeof(uint32_t));
    view->targets = malloc((edges + 1) * sizeof(uint32_t));
    view->out = malloc((edges + 1) * sizeof(uint32_t));
    view->image_of = malloc(((size_t)view->blocks + 1) * sizeof(uint32_t));
    view->first_out = calloc((size_t)view->nodes + 1, sizeof(uint32_t));
    if (!view->sources || !view->targets || !view->out || !view->image_of || !view->first_out)
        return bt_fail(error, BT_MEMORY, "no memory for %zu edges", edges);
    fill_blocks(view);
    fill_edges(view);
    return make_counts(&view->counts, process, settings, error);
}

void check_process_clear(struct check_process *view)
{
    free(view->sources);
    free(view->targets);
    free(view->out);
    free(view->image_of);
    free(view->first_out);
    free(view->counts.first);
    free(view->counts.edges);
    free(view->counts.counts);
}
