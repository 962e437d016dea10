#include "tools/dcfg/graph/region_flow.h"

#include "formats/base/saturating.h"

#include <stdlib.h>
#include <string.h>

struct bounds {
    uint64_t lower, upper;
};

struct making {
    struct region_flow *flow;
    const struct dcfg_process *process;
    struct bounds *back;     /* by loop: edges to its head from within */
    struct bounds *executed; /* by node */
    struct bounds *in, *out; /* by node: sums over its edges in the region */
    uint64_t *returned;      /* by block: returns to it */
    uint64_t *callable;      /* by block: returns to it for which there may have been calls */
    uint32_t *first;         /* by node, and one more: its first edge */
    uint32_t *next;          /* by node: the next edge to search */
    uint32_t *stack;
    bool *seen;
};

static uint64_t less(uint64_t from, uint64_t subtracted)
{
    return from > subtracted ? from - subtracted : 0;
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static void add_bounds(struct bounds *sum, uint64_t lower, uint64_t upper)
{
    sum->lower = saturating_add(sum->lower, lower);
    sum->upper = saturating_add(sum->upper, upper);
}

/* --- counts ---------------------------------------------------------------------------------- */

/* Counts the returns to each block, and how many of them its bypasses can explain. */
static void count_returns(struct making *making)
{
    const struct dcfg_process *process = making->process;
    const struct dcfg_edges *edges = &process->edges;
    for (uint32_t e = 0; e < edges->count; e++) {
        const uint32_t target = dcfg_find_block(process, edges->targets[e]);
        if (target != DCFG_NONE && dcfg_edge_type_is_return(edges->types[e]))
            making->returned[target] =
                saturating_add(making->returned[target], dcfg_edge_total(process, e));
    }
    for (uint32_t e = 0; e < edges->count; e++) {
        const uint32_t source = dcfg_find_block(process, edges->sources[e]);
        const uint32_t target = dcfg_find_block(process, edges->targets[e]);
        if (source != DCFG_NONE && target != DCFG_NONE && dcfg_edge_type_is_bypass(edges->types[e]))
            making->callable[target] = saturating_add(
                making->callable[target],
                smaller(making->flow->profile->executions[source], making->returned[target]));
    }
}

static struct bounds count_edge(const struct making *making, uint32_t edge, uint32_t source,
                                uint32_t target)
{
    const uint64_t counted = dcfg_edge_total(making->process, edge);
    if (!dcfg_edge_type_is_bypass(making->process->edges.types[edge]))
        return (struct bounds){counted, counted};
    const uint64_t executed = making->flow->profile->executions[source];
    const uint64_t returned = making->returned[target];
    const uint64_t own = smaller(executed, returned);
    const uint64_t upper = smaller(executed, saturating_add(counted, returned));
    const uint64_t lower =
        saturating_add(counted, less(returned, less(making->callable[target], own)));
    return (struct bounds){smaller(lower, upper), upper};
}

static void add_edges(struct making *making)
{
    const struct dcfg_process *process = making->process;
    struct region_flow *flow = making->flow;
    for (uint32_t e = 0; e < process->edges.count; e++) {
        uint32_t source = dcfg_find_block(process, process->edges.sources[e]);
        uint32_t target = dcfg_find_block(process, process->edges.targets[e]);
        const enum dcfg_edge_type type = process->edges.types[e];
        if (source == DCFG_NONE || target == DCFG_NONE || !dcfg_edge_type_is_within_routine(type))
            continue;
        const struct bounds count = count_edge(making, e, source, target);
        const uint32_t block = target;
        const uint32_t region = region_tree_join(&flow->tree, &source, &target);
        if (region == DCFG_NONE)
            continue;
        if (region < process->loop_count && block == region_tree_head(process, region))
            add_bounds(&making->back[region], count.lower, count.upper);
        else if (type != DCFG_EDGE_UNKNOWN && source != target && count.upper > 0)
            flow->edges[flow->edge_count++] =
                (struct region_edge){region, source, target, count.lower, count.upper};
    }
}

static int compare_ends(const void *left, const void *right)
{
    const struct region_edge *a = left;
    const struct region_edge *b = right;
    if (a->source != b->source)
        return a->source < b->source ? -1 : 1;
    return a->target != b->target ? (a->target < b->target ? -1 : 1) : 0;
}

/* Makes one edge of those with the same ends. */
static void merge_edges(struct region_flow *flow)
{
    size_t kept = 0;
    qsort(flow->edges, flow->edge_count, sizeof *flow->edges, compare_ends);
    for (size_t e = 0; e < flow->edge_count; e++) {
        struct region_edge *last = &flow->edges[kept - (kept > 0)];
        const struct region_edge *edge = &flow->edges[e];
        if (kept > 0 && compare_ends(last, edge) == 0) {
            last->lower = saturating_add(last->lower, edge->lower);
            last->upper = saturating_add(last->upper, edge->upper);
        } else {
            flow->edges[kept++] = *edge;
        }
    }
    flow->edge_count = kept;
}

/* --- cycles without a loop ------------------------------------------------------------------- */

/* Searches from a node; edges to nodes whose search has not ended get the bound 0. */
static void search(struct making *making, uint32_t root)
{
    struct region_edge *edges = making->flow->edges;
    uint32_t depth = 0;
    if (making->seen[root])
        return;
    making->seen[root] = true;
    making->stack[depth++] = root;
    while (depth > 0) {
        const uint32_t node = making->stack[depth - 1];
        if (making->next[node] == making->first[node + 1]) {
            making->next[node] = UINT32_MAX; /* ended */
            depth--;
            continue;
        }
        struct region_edge *edge = &edges[making->next[node]++];
        if (!making->seen[edge->target]) {
            making->seen[edge->target] = true;
            making->stack[depth++] = edge->target;
        } else if (making->next[edge->target] != UINT32_MAX) {
            edge->upper = 0;
        }
    }
}

/* Removes the edges that lead back in a region. */
static void cut_cycles(struct making *making)
{
    const struct dcfg_process *process = making->process;
    struct region_flow *flow = making->flow;
    uint32_t edge = 0;
    for (uint32_t node = 0; node <= flow->tree.node_count; node++) {
        while (edge < flow->edge_count && flow->edges[edge].source < node)
            edge++;
        making->first[node] = edge;
    }
    memcpy(making->next, making->first, flow->tree.node_count * sizeof *making->next);
    for (uint32_t l = 0; l < process->loop_count; l++)
        search(making, region_tree_head(process, l));
    for (uint32_t r = 0; r < process->routine_count; r++) {
        uint32_t entry = dcfg_find_block(process, process->routines[r].entry);
        while (flow->tree.region_of[entry] < process->loop_count)
            entry = process->block_count + flow->tree.region_of[entry];
        search(making, entry);
    }
    for (uint32_t node = 0; node < flow->tree.node_count; node++)
        search(making, node);
    size_t kept = 0;
    for (size_t e = 0; e < flow->edge_count; e++)
        if (flow->edges[e].upper > 0)
            flow->edges[kept++] = flow->edges[e];
    flow->edge_count = kept;
}

/* --- where passes begin and end -------------------------------------------------------------- */

static void count_nodes(struct making *making)
{
    const struct dcfg_process *process = making->process;
    struct region_flow *flow = making->flow;
    for (uint32_t node = 0; node < flow->tree.node_count; node++) {
        const uint64_t count = flow->profile->executions[region_tree_block(&flow->tree, node)];
        const struct bounds back = node < process->block_count
                                       ? (struct bounds){0, 0}
                                       : making->back[node - process->block_count];
        making->executed[node] = (struct bounds){less(count, back.upper), less(count, back.lower)};
        flow->upper[node] = making->executed[node].upper;
    }
}

/* What enters a node, but not by an edge of the region, begins there; likewise what ends. */
static void add_ends(struct making *making)
{
    struct region_flow *flow = making->flow;
    for (size_t e = 0; e < flow->edge_count; e++) {
        const struct region_edge *edge = &flow->edges[e];
        add_bounds(&making->in[edge->target], edge->lower, edge->upper);
        add_bounds(&making->out[edge->source], edge->lower, edge->upper);
    }
    for (uint32_t node = 0; node < flow->tree.node_count; node++) {
        const struct bounds *all = &making->executed[node];
        const struct bounds *in = &making->in[node];
        const struct bounds *out = &making->out[node];
        const uint32_t region = flow->tree.region_of[node];
        if (all->upper > in->lower)
            flow->edges[flow->edge_count++] = (struct region_edge){
                region, DCFG_NONE, node, less(all->lower, in->upper), all->upper - in->lower};
        if (all->upper > out->lower)
            flow->edges[flow->edge_count++] = (struct region_edge){
                region, node, DCFG_NONE, less(all->lower, out->upper), all->upper - out->lower};
    }
}

static int compare_heat(const void *left, const void *right)
{
    const struct region_edge *a = left;
    const struct region_edge *b = right;
    if (a->region != b->region)
        return a->region < b->region ? -1 : 1;
    if (a->upper != b->upper)
        return a->upper > b->upper ? -1 : 1;
    return compare_ends(left, right);
}

/* --- all of it ------------------------------------------------------------------------------- */

static int allocate(struct making *making)
{
    struct region_flow *flow = making->flow;
    const size_t nodes = (size_t)flow->tree.node_count + 1;
    flow->upper = malloc(nodes * sizeof *flow->upper);
    flow->edges = malloc((making->process->edges.count + 2 * nodes) * sizeof *flow->edges);
    making->back = calloc(nodes, sizeof *making->back);
    making->executed = calloc(nodes, sizeof *making->executed);
    making->in = calloc(nodes, sizeof *making->in);
    making->out = calloc(nodes, sizeof *making->out);
    making->returned = calloc(nodes, sizeof *making->returned);
    making->callable = calloc(nodes, sizeof *making->callable);
    making->first = malloc(nodes * sizeof *making->first);
    making->next = malloc(nodes * sizeof *making->next);
    making->stack = malloc(nodes * sizeof *making->stack);
    making->seen = calloc(nodes, sizeof *making->seen);
    return flow->upper && flow->edges && making->back && making->executed && making->in &&
                   making->out && making->returned && making->callable && making->first &&
                   making->next && making->stack && making->seen
               ? 0
               : BT_MEMORY;
}

static void making_clear(struct making *making)
{
    free(making->back);
    free(making->executed);
    free(making->in);
    free(making->out);
    free(making->returned);
    free(making->callable);
    free(making->first);
    free(making->next);
    free(making->stack);
    free(making->seen);
}

int region_flow_make(struct region_flow *flow, const struct graph_profile *profile,
                     struct bt_error *error)
{
    const struct dcfg_process *process = profile->process;
    struct making making = {.flow = flow, .process = process};
    *flow = (struct region_flow){.profile = profile};
    int result = region_tree_make(&flow->tree, profile);
    if (result == 0)
        result = allocate(&making);
    if (result == 0) {
        count_returns(&making);
        add_edges(&making);
        merge_edges(flow);
        cut_cycles(&making);
        count_nodes(&making);
        add_ends(&making);
        qsort(flow->edges, flow->edge_count, sizeof *flow->edges, compare_heat);
    }
    making_clear(&making);
    if (result == 0)
        return 0;
    region_flow_clear(flow);
    return bt_fail(error, result, "no memory for the paths of %u blocks", process->block_count);
}

void region_flow_clear(struct region_flow *flow)
{
    region_tree_clear(&flow->tree);
    free(flow->upper);
    free(flow->edges);
    *flow = (struct region_flow){0};
}
