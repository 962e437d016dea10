#include "tools/dcfg/graph/routines.h"

#include "formats/dcfg/dcfg_edge_type.h"

#include <stdlib.h>
#include <string.h>

/* The edges that are followed, including the root's. */
struct ways {
    uint32_t *sources;
    uint32_t *targets;
    size_t count;
    bool *entered; /* by node: an entry */
    bool *reached; /* by node: reachable from an entry */
    uint32_t *stack;
};

bool routines_stays(const struct routines_graph *graph, size_t edge)
{
    uint32_t source = graph->sources[edge];
    uint32_t target = graph->targets[edge];
    return source != ROUTINES_OUTSIDE && target != ROUTINES_OUTSIDE &&
           dcfg_edge_type_is_within_routine(graph->types[edge]) &&
           (!graph->images || graph->images[source] == graph->images[target]);
}

/* Marks the nodes reachable from an entry. */
static void reach(struct ways *ways, const struct digraph *inner, uint32_t entry)
{
    uint32_t depth = 0;
    ways->entered[entry] = true;
    if (ways->reached[entry])
        return;
    ways->reached[entry] = true;
    ways->stack[depth++] = entry;
    while (depth > 0) {
        uint32_t node = ways->stack[--depth];
        for (uint32_t i = inner->first_successor[node]; i < inner->first_successor[node + 1]; i++) {
            uint32_t next = inner->successors[i];
            if (ways->reached[next])
                continue;
            ways->reached[next] = true;
            ways->stack[depth++] = next;
        }
    }
}

/* Finds the entries. Return addresses are reached by bypass edges; if the call is missing (the
 * stream began within the callee), the return's target becomes an entry. */
static void find_entries(struct ways *ways, const struct routines_graph *graph,
                         const struct digraph *inner)
{
    for (size_t e = 0; e < graph->edges; e++)
        if (graph->targets[e] != ROUTINES_OUTSIDE && !routines_stays(graph, e) &&
            !dcfg_edge_type_is_return(graph->types[e]))
            reach(ways, inner, graph->targets[e]);
    for (uint32_t node = 0; graph->entered && node < graph->nodes; node++)
        if (graph->entered[node])
            reach(ways, inner, node);
    for (size_t e = 0; e < graph->edges; e++)
        if (graph->targets[e] != ROUTINES_OUTSIDE && dcfg_edge_type_is_return(graph->types[e]) &&
            !ways->reached[graph->targets[e]])
            reach(ways, inner, graph->targets[e]);
    for (uint32_t node = 0; node < graph->nodes; node++)
        if (!ways->reached[node])
            reach(ways, inner, node);
}

static int make_ways(struct ways *ways, const struct routines_graph *graph, struct digraph *rooted,
                     struct bt_error *error)
{
    size_t nodes = graph->nodes;
    struct digraph inner;
    ways->sources = malloc((graph->edges + nodes + 1) * sizeof(uint32_t));
    ways->targets = malloc((graph->edges + nodes + 1) * sizeof(uint32_t));
    ways->stack = malloc((nodes + 1) * sizeof(uint32_t));
    ways->entered = calloc(nodes + 1, sizeof(bool));
    ways->reached = calloc(nodes + 1, sizeof(bool));
    if (!ways->sources || !ways->targets || !ways->stack || !ways->entered || !ways->reached)
        return bt_fail(error, BT_MEMORY, "no memory for the routines of %u blocks", graph->nodes);
    for (size_t e = 0; e < graph->edges; e++) {
        if (!routines_stays(graph, e))
            continue;
        ways->sources[ways->count] = graph->sources[e];
        ways->targets[ways->count++] = graph->targets[e];
    }
    if (digraph_make(&inner, graph->nodes, ways->sources, ways->targets, ways->count, error) != 0)
        return BT_MEMORY;
    find_entries(ways, graph, &inner);
    digraph_clear(&inner);
    for (uint32_t node = 0; node < graph->nodes; node++) {
        if (!ways->entered[node])
            continue;
        ways->sources[ways->count] = graph->nodes;
        ways->targets[ways->count++] = node;
    }
    return digraph_make(rooted, graph->nodes + 1, ways->sources, ways->targets, ways->count, error);
}

static void ways_clear(struct ways *ways)
{
    free(ways->sources);
    free(ways->targets);
    free(ways->stack);
    free(ways->entered);
    free(ways->reached);
}

/* The children of the root are entries; a routine is the subtree of its entry. */
static void split(struct routines *routines, const struct dominators *dominators, uint32_t nodes)
{
    for (uint32_t node = 0; node < nodes; node++) {
        routines->dominator[node] = dominators->immediate[node];
        if (dominators->immediate[node] != nodes)
            continue;
        uint32_t number = routines->count++;
        uint32_t begin = dominators->begin[node];
        uint32_t count = dominators->end[node] - begin;
        routines->dominator[node] = node;
        /* preorder begins with the root */
        routines->routines[number] =
            (struct routine){.entry = node, .first_node = begin - 1, .node_count = count};
        memcpy(routines->nodes + begin - 1, dominators->preorder + begin, count * sizeof(uint32_t));
        for (uint32_t i = begin; i < begin + count; i++)
            routines->routine_of[dominators->preorder[i]] = number;
    }
}

/* A node is an exit if any of its edges leaves the routine. Ranges of exits correspond to those of
 * nodes. */
static void find_exits(struct routines *routines, const struct routines_graph *graph, bool *leaves)
{
    memset(leaves, 0, graph->nodes * sizeof *leaves);
    for (size_t e = 0; e < graph->edges; e++) {
        uint32_t source = graph->sources[e];
        uint32_t target = graph->targets[e];
        if (source != ROUTINES_OUTSIDE &&
            (target == ROUTINES_OUTSIDE ||
             routines->routine_of[source] != routines->routine_of[target]))
            leaves[source] = true;
    }
    for (uint32_t r = 0; r < routines->count; r++) {
        struct routine *routine = &routines->routines[r];
        routine->first_exit = routine->first_node;
        for (uint32_t i = 0; i < routine->node_count; i++) {
            uint32_t node = routines->nodes[routine->first_node + i];
            if (leaves[node])
                routines->exits[routine->first_exit + routine->exit_count++] = node;
        }
    }
}

/* Finds loops in reverse preorder, in which a routine's nodes are contiguous. */
static void assign_loops(struct routines *routines)
{
    for (uint32_t l = 0; l < routines->loops.count; l++) {
        uint32_t number = routines->routine_of[routines->loops.loops[l].head];
        struct routine *routine = &routines->routines[number];
        if (routine->loop_count++ == 0)
            routine->first_loop = l;
    }
}

int routines_find(struct routines *routines, const struct routines_graph *graph,
                  struct bt_error *error)
{
    size_t nodes = graph->nodes;
    struct ways ways = {.count = 0};
    struct digraph rooted = {.nodes = 0};
    struct dominators dominators = {.immediate = NULL};
    *routines = (struct routines){.count = 0};
    routines->routines = malloc((nodes + 1) * sizeof *routines->routines);
    routines->routine_of = malloc((nodes * 4 + 1) * sizeof(uint32_t));
    int result = BT_MEMORY;
    if (!routines->routines || !routines->routine_of) {
        bt_fail(error, BT_MEMORY, "no memory for the routines of %u blocks", graph->nodes);
        goto out;
    }
    routines->dominator = routines->routine_of + nodes;
    routines->nodes = routines->dominator + nodes;
    routines->exits = routines->nodes + nodes;
    if (make_ways(&ways, graph, &rooted, error) != 0 ||
        dominators_find(&dominators, &rooted, graph->nodes, error) != 0 ||
        loops_find(&routines->loops, &rooted, &dominators, error) != 0)
        goto out;
    split(routines, &dominators, graph->nodes);
    find_exits(routines, graph, ways.reached);
    assign_loops(routines);
    result = 0;
out:
    if (result != 0)
        routines_clear(routines);
    dominators_clear(&dominators);
    digraph_clear(&rooted);
    ways_clear(&ways);
    return result;
}

void routines_clear(struct routines *routines)
{
    free(routines->routines);
    free(routines->routine_of);
    loops_clear(&routines->loops);
    *routines = (struct routines){.count = 0};
}
