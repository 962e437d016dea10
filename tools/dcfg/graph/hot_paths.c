#include "tools/dcfg/graph/hot_paths.h"

#include "formats/base/grow.h"
#include "formats/base/saturating.h"
#include "tools/dcfg/graph/region_flow.h"

#include <stdlib.h>
#include <string.h>

struct path_search {
    const struct region_flow *flow;
    struct hot_paths *paths;
    uint32_t *best_in, *best_out; /* by node: the hottest edge; DCFG_NONE: none */
    bool *covered;                /* by edge: it is on a path */
    uint32_t *chain;              /* edges of a path */
    uint32_t chain_count;
};

static void find_best(struct path_search *search)
{
    const struct region_flow *flow = search->flow;
    memset(search->best_in, 0xff, flow->tree.node_count * sizeof *search->best_in);
    memset(search->best_out, 0xff, flow->tree.node_count * sizeof *search->best_out);
    for (size_t e = flow->edge_count; e-- > 0;) {
        if (flow->edges[e].target != DCFG_NONE)
            search->best_in[flow->edges[e].target] = (uint32_t)e;
        if (flow->edges[e].source != DCFG_NONE)
            search->best_out[flow->edges[e].source] = (uint32_t)e;
    }
}

/* Makes the chain of edges through one edge. */
static void follow(struct path_search *search, uint32_t through)
{
    const struct region_edge *edges = search->flow->edges;
    uint32_t count = 0;
    for (uint32_t e = through; e != DCFG_NONE;) {
        search->chain[count++] = e;
        e = edges[e].source != DCFG_NONE ? search->best_in[edges[e].source] : DCFG_NONE;
    }
    for (uint32_t i = 0; i < count / 2; i++) {
        const uint32_t e = search->chain[i];
        search->chain[i] = search->chain[count - 1 - i];
        search->chain[count - 1 - i] = e;
    }
    while (edges[search->chain[count - 1]].target != DCFG_NONE) {
        const uint32_t e = search->best_out[edges[search->chain[count - 1]].target];
        if (e == DCFG_NONE)
            break;
        search->chain[count++] = e;
    }
    search->chain_count = count;
}

/* Bounds of the executions of the chain. */
static void bound(const struct path_search *search, struct hot_path *path)
{
    const struct region_flow *flow = search->flow;
    const struct region_edge *before = &flow->edges[search->chain[0]];
    path->at_least = before->lower;
    path->at_most = before->upper;
    for (uint32_t i = 1; i < search->chain_count; i++) {
        const struct region_edge *edge = &flow->edges[search->chain[i]];
        const uint64_t executed = flow->upper[before->target];
        const uint64_t left = executed > edge->lower ? executed - edge->lower : 0;
        path->at_least = path->at_least > left ? path->at_least - left : 0;
        path->at_most = edge->upper < path->at_most ? edge->upper : path->at_most;
        before = edge;
    }
    if (path->at_least > path->at_most)
        path->at_least = path->at_most; /* the graph contradicts itself */
}

static int add_step(struct path_search *search, struct hot_path *path, uint32_t node)
{
    const struct dcfg_process *process = search->flow->profile->process;
    struct hot_paths *paths = search->paths;
    struct hot_step *steps = grow_array(paths->steps, &paths->step_capacity, paths->step_count + 1,
                                        sizeof *paths->steps);
    if (!steps)
        return BT_MEMORY;
    paths->steps = steps;
    const bool loop = node >= process->block_count;
    const struct hot_step step = {region_tree_block(&search->flow->tree, node), loop};
    if (!loop)
        path->length = saturating_add(path->length, process->blocks[step.block].instructions);
    path->routine = search->flow->profile->routine_of[step.block];
    steps[paths->step_count++] = step;
    path->step_count++;
    return 0;
}

/* Makes a path of the chain; one that consists of an inner loop alone is left out. 0 or
 * BT_MEMORY. */
static int add_path(struct path_search *search, uint32_t region)
{
    const struct region_edge *edges = search->flow->edges;
    struct hot_paths *paths = search->paths;
    const uint32_t loops = search->flow->profile->process->loop_count;
    struct hot_path path = {.loop = region < loops ? region : DCFG_NONE,
                            .first_step = paths->step_count};
    const uint32_t source = edges[search->chain[0]].source;
    if (source != DCFG_NONE && add_step(search, &path, source) != 0)
        return BT_MEMORY;
    for (uint32_t i = 0; i < search->chain_count; i++) {
        const uint32_t target = edges[search->chain[i]].target;
        if (target != DCFG_NONE && add_step(search, &path, target) != 0)
            return BT_MEMORY;
        search->covered[search->chain[i]] = true;
    }
    if (path.length == 0) {
        paths->step_count = path.first_step;
        return 0;
    }
    struct hot_path *rows = grow_array(paths->paths, &paths->path_capacity, paths->path_count + 1,
                                       sizeof *paths->paths);
    if (!rows)
        return BT_MEMORY;
    paths->paths = rows;
    bound(search, &path);
    rows[paths->path_count++] = path;
    return 0;
}

static int find_all(struct path_search *search, uint64_t each)
{
    const struct region_flow *flow = search->flow;
    uint32_t region = DCFG_NONE;
    uint64_t found = 0;
    for (size_t e = 0; e < flow->edge_count; e++) {
        if (flow->edges[e].region != region)
            found = 0;
        region = flow->edges[e].region;
        if (search->covered[e] || found >= each)
            continue;
        const size_t before = search->paths->path_count;
        follow(search, (uint32_t)e);
        if (add_path(search, region) != 0)
            return BT_MEMORY;
        found += search->paths->path_count - before;
    }
    return 0;
}

static int search_paths(struct path_search *search, uint64_t each)
{
    const size_t nodes = (size_t)search->flow->tree.node_count + 1;
    int result = BT_MEMORY;
    search->best_in = malloc(nodes * sizeof *search->best_in);
    search->best_out = malloc(nodes * sizeof *search->best_out);
    search->covered = calloc(search->flow->edge_count + 1, sizeof *search->covered);
    search->chain = malloc((nodes + 1) * sizeof *search->chain); /* no node is on it twice */
    if (search->best_in && search->best_out && search->covered && search->chain) {
        find_best(search);
        result = find_all(search, each);
    }
    free(search->best_in);
    free(search->best_out);
    free(search->covered);
    free(search->chain);
    return result;
}

int hot_paths_find(struct hot_paths *paths, const struct graph_profile *profile, uint64_t each,
                   struct bt_error *error)
{
    struct region_flow flow;
    struct path_search search = {.flow = &flow, .paths = paths};
    *paths = (struct hot_paths){0};
    if (region_flow_make(&flow, profile, error) != 0)
        return BT_MEMORY;
    const int result = search_paths(&search, each);
    region_flow_clear(&flow);
    if (result == 0)
        return 0;
    hot_paths_clear(paths);
    return bt_fail(error, result, "no memory for the paths of %u blocks",
                   profile->process->block_count);
}

void hot_paths_clear(struct hot_paths *paths)
{
    free(paths->paths);
    free(paths->steps);
    *paths = (struct hot_paths){0};
}
