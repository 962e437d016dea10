#include "tools/cfg/post_dominators.h"

#include <stdlib.h>

struct reversal {
    uint32_t *sources, *targets;
    size_t count;
};

static void add(struct reversal *edges, uint32_t from, uint32_t to)
{
    edges->sources[edges->count] = from;
    edges->targets[edges->count++] = to;
}

static void reverse_edges(struct reversal *edges, const struct code_walk *walk)
{
    const struct digraph *graph = &walk->graph;
    for (uint32_t node = 1; node < graph->nodes; node++) {
        const uint32_t first = graph->first_successor[node], end = graph->first_successor[node + 1];
        for (uint32_t i = first; i < end; i++)
            add(edges, graph->successors[i], node);
        if (walk->nodes[node].leaves || first == end)
            add(edges, POST_DOMINATORS_EXIT, node);
    }
}

static void add_endless(struct reversal *edges, const struct dominators *tree, uint32_t nodes)
{
    for (uint32_t node = 1; node < nodes; node++)
        if (!dominators_reached(tree, node))
            add(edges, POST_DOMINATORS_EXIT, node);
}

static int make_tree(struct post_dominators *post_dominators, const struct reversal *edges,
                     uint32_t nodes, struct bt_error *error)
{
    post_dominators_clear(post_dominators);
    int result = digraph_make(&post_dominators->reversed, nodes, edges->sources, edges->targets,
                              edges->count, error);
    return result == 0 ? dominators_find(&post_dominators->tree, &post_dominators->reversed,
                                         POST_DOMINATORS_EXIT, error)
                       : result;
}

int post_dominators_find(struct post_dominators *post_dominators, const struct code_walk *walk,
                         struct bt_error *error)
{
    const uint32_t nodes = walk->graph.nodes;
    const size_t most = walk->graph.first_successor[nodes] + 2 * (size_t)nodes;
    struct reversal edges = {.sources = malloc(most * sizeof(uint32_t)),
                             .targets = malloc(most * sizeof(uint32_t))};
    int result = 0;
    *post_dominators = (struct post_dominators){.reversed = {.nodes = 0}};
    if (!edges.sources || !edges.targets) {
        result = bt_fail(error, BT_MEMORY, "no memory for the post-dominators of a function");
    } else {
        reverse_edges(&edges, walk);
        result = make_tree(post_dominators, &edges, nodes, error);
        if (result == 0 && post_dominators->tree.reached < nodes) {
            add_endless(&edges, &post_dominators->tree, nodes);
            result = make_tree(post_dominators, &edges, nodes, error);
        }
    }
    free(edges.sources);
    free(edges.targets);
    return result;
}

void post_dominators_clear(struct post_dominators *post_dominators)
{
    digraph_clear(&post_dominators->reversed);
    dominators_clear(&post_dominators->tree);
    *post_dominators = (struct post_dominators){.reversed = {.nodes = 0}};
}

bool post_dominators_decide(const struct post_dominators *post_dominators, uint32_t branch,
                            uint32_t node)
{
    const struct digraph *reversed = &post_dominators->reversed;
    const struct dominators *tree = &post_dominators->tree;
    if (node != branch && dominates(tree, node, branch))
        return false;
    for (uint32_t i = reversed->first_predecessor[branch];
         i < reversed->first_predecessor[branch + 1]; i++)
        if (dominates(tree, node, reversed->predecessors[i]))
            return true;
    return false;
}
