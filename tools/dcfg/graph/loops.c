#include "tools/dcfg/graph/loops.h"

#include <stdlib.h>
#include <string.h>

struct loop_search {
    const struct digraph *graph;
    const struct dominators *dominators;
    struct loops *loops;
    uint32_t
        *within; /* by node: union-find parent; the root is the head of the outermost loop so far */
    uint32_t *headed;  /* by node: the loop with this head */
    uint32_t *work;    /* work list: nodes of a loop whose predecessors remain */
    uint32_t *goes_to; /* by node: last head with a back edge from it */
    uint32_t back_edges;
};

/* The head of the outermost loop found so far that contains the node, or the node. */
static uint32_t outermost(struct loop_search *search, uint32_t node)
{
    uint32_t *within = search->within;
    while (within[node] != node) {
        within[node] = within[within[node]]; /* path halving */
        node = within[node];
    }
    return node;
}

/* Adds a node, or the loop that it is the head of, to a loop. */
static void take(struct loop_search *search, uint32_t node, uint32_t loop)
{
    struct loops *loops = search->loops;
    search->within[node] = loops->loops[loop].head;
    if (search->headed[node] != LOOPS_NONE) {
        loops->loops[search->headed[node]].parent = loop;
        loops->loops[loop].node_count += loops->loops[search->headed[node]].node_count;
    } else {
        loops->innermost[node] = loop;
        loops->loops[loop].node_count++;
    }
}

/* Finds the sources of a loop's back edges. */
static void find_back_edges(struct loop_search *search, struct loop *loop)
{
    const struct digraph *graph = search->graph;
    uint32_t head = loop->head;
    loop->first_back_edge = search->back_edges;
    for (uint32_t i = graph->first_predecessor[head]; i < graph->first_predecessor[head + 1]; i++) {
        uint32_t source = graph->predecessors[i];
        if (search->goes_to[source] == head || !dominators_reached(search->dominators, source) ||
            !dominates(search->dominators, head, source))
            continue;
        search->goes_to[source] = head;
        search->loops->back_edges[search->back_edges++] = source;
    }
    loop->back_edge_count = search->back_edges - loop->first_back_edge;
}

/* Searches backwards from the sources of the back edges to the head. Inner loops are known already
 * and count as one node each. */
static void find_loop(struct loop_search *search, uint32_t head)
{
    const struct digraph *graph = search->graph;
    struct loops *loops = search->loops;
    uint32_t number = loops->count;
    struct loop loop = {.head = head, .parent = LOOPS_NONE, .node_count = 1};
    find_back_edges(search, &loop);
    if (loop.back_edge_count == 0)
        return;
    loops->loops[loops->count++] = loop;
    loops->innermost[head] = number;
    uint32_t waiting = 0;
    for (uint32_t i = 0; i < loop.back_edge_count; i++) {
        uint32_t node = outermost(search, loops->back_edges[loop.first_back_edge + i]);
        if (node == head)
            continue;
        take(search, node, number);
        search->work[waiting++] = node;
    }
    while (waiting > 0) {
        uint32_t node = search->work[--waiting];
        for (uint32_t i = graph->first_predecessor[node]; i < graph->first_predecessor[node + 1];
             i++) {
            uint32_t before = graph->predecessors[i];
            if (!dominators_reached(search->dominators, before))
                continue;
            before = outermost(search, before);
            if (before == head)
                continue;
            take(search, before, number);
            search->work[waiting++] = before;
        }
    }
    search->headed[head] = number;
}

/* Assigns each loop its range of nodes, inner loops within the outer ones' ranges. */
static void order_nodes(struct loop_search *search)
{
    struct loops *loops = search->loops;
    uint32_t *place = search->work; /* by loop: index of its next node */
    uint32_t free_place = 0;
    for (uint32_t i = loops->count; i-- > 0;) {
        struct loop *loop = &loops->loops[i];
        uint32_t *from = loop->parent == LOOPS_NONE ? &free_place : &place[loop->parent];
        loop->first_node = *from;
        *from += loop->node_count;
        place[i] = loop->first_node;
    }
    for (uint32_t node = 0; node < search->graph->nodes; node++)
        if (loops->innermost[node] != LOOPS_NONE)
            loops->nodes[place[loops->innermost[node]]++] = node;
}

int loops_find(struct loops *loops, const struct digraph *graph,
               const struct dominators *dominators, struct bt_error *error)
{
    size_t nodes = graph->nodes;
    size_t edges = graph->first_successor[nodes];
    struct loop_search search = {.graph = graph, .dominators = dominators, .loops = loops};
    *loops = (struct loops){.count = 0};
    loops->loops = malloc((nodes + 1) * sizeof *loops->loops);
    loops->innermost = malloc((nodes * 2 + edges + 1) * sizeof(uint32_t));
    search.within = malloc((nodes * 4 + 1) * sizeof(uint32_t));
    if (!loops->loops || !loops->innermost || !search.within) {
        loops_clear(loops);
        free(search.within);
        return bt_fail(error, BT_MEMORY, "no memory for the loops of %u nodes", graph->nodes);
    }
    loops->nodes = loops->innermost + nodes;
    loops->back_edges = loops->nodes + nodes;
    search.headed = search.within + nodes;
    search.goes_to = search.headed + nodes;
    search.work = search.goes_to + nodes;
    memset(loops->innermost, 0xff, nodes * sizeof(uint32_t));
    memset(search.headed, 0xff, nodes * 2 * sizeof(uint32_t)); /* also goes_to */
    for (uint32_t node = 0; node < nodes; node++)
        search.within[node] = node;
    /* heads of outer loops dominate those of inner ones: inner loops come first */
    for (uint32_t i = dominators->reached; i-- > 0;)
        find_loop(&search, dominators->preorder[i]);
    order_nodes(&search);
    free(search.within);
    return 0;
}

void loops_clear(struct loops *loops)
{
    free(loops->loops);
    free(loops->innermost);
    *loops = (struct loops){.count = 0};
}
