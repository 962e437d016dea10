#include "tools/dcfg/graph/dominators.h"

#include <stdlib.h>
#include <string.h>

/* Arrays are indexed by depth-first number, the root being 0, if nothing else is said. Names follow
 * the paper. */
struct dominator_search {
    uint32_t count;     /* reachable nodes */
    uint32_t *vertex;   /* node of a number */
    uint32_t *number;   /* by node; DIGRAPH_NONE: unreachable */
    uint32_t *parent;   /* in the depth-first tree */
    uint32_t *semi;     /* semidominator */
    uint32_t *ancestor; /* in the forest of linked nodes */
    uint32_t *label;    /* node with the smallest semidominator on the path to the forest's root */
    uint32_t *bucket;   /* nodes with this semidominator: a list through next */
    uint32_t *next;
    uint32_t *dominator;
    uint32_t *stack;
    uint32_t *memory;
};

static int search_new(struct dominator_search *search, uint32_t nodes, struct bt_error *error)
{
    enum { ARRAYS = 10 };
    uint32_t **arrays[ARRAYS] = {
        &search->vertex, &search->number, &search->parent, &search->semi,      &search->ancestor,
        &search->label,  &search->bucket, &search->next,   &search->dominator, &search->stack};
    size_t bytes = (size_t)nodes * sizeof(uint32_t);
    search->count = 0;
    search->memory = malloc(bytes * ARRAYS + 1);
    if (!search->memory)
        return bt_fail(error, BT_MEMORY, "no memory for the dominators of %u nodes", nodes);
    memset(search->memory, 0xff, bytes * ARRAYS); /* DIGRAPH_NONE */
    for (size_t i = 0; i < ARRAYS; i++)
        *arrays[i] = search->memory + i * nodes;
    return 0;
}

static void reach(struct dominator_search *search, uint32_t node, uint32_t parent)
{
    uint32_t number = search->count++;
    search->number[node] = number;
    search->vertex[number] = node;
    search->parent[number] = parent;
    search->semi[number] = number;
    search->label[number] = number;
}

/* Numbers the nodes depth first. next[n] is the progress in the successors of n. */
static void number_nodes(struct dominator_search *search, const struct digraph *graph,
                         uint32_t root)
{
    uint32_t depth = 0;
    uint32_t *done = search->next;
    reach(search, root, DIGRAPH_NONE);
    search->stack[depth++] = root;
    done[root] = graph->first_successor[root];
    while (depth > 0) {
        uint32_t node = search->stack[depth - 1];
        if (done[node] == graph->first_successor[node + 1]) {
            depth--;
            continue;
        }
        uint32_t successor = graph->successors[done[node]++];
        if (search->number[successor] != DIGRAPH_NONE)
            continue;
        reach(search, successor, search->number[node]);
        search->stack[depth++] = successor;
        done[successor] = graph->first_successor[successor];
    }
    memset(done, 0xff, graph->nodes * sizeof *done);
}

/* EVAL of the paper: the node with the smallest semidominator on the path to the forest's root.
 * Compresses the path (COMPRESS). */
static uint32_t evaluate(struct dominator_search *search, uint32_t number)
{
    uint32_t *ancestor = search->ancestor;
    uint32_t *label = search->label;
    uint32_t depth = 0;
    if (ancestor[number] == DIGRAPH_NONE)
        return label[number];
    for (uint32_t n = number; ancestor[ancestor[n]] != DIGRAPH_NONE; n = ancestor[n])
        search->stack[depth++] = n;
    while (depth > 0) {
        uint32_t n = search->stack[--depth];
        uint32_t above = ancestor[n];
        if (search->semi[label[above]] < search->semi[label[n]])
            label[n] = label[above];
        ancestor[n] = ancestor[above];
    }
    return label[number];
}

/* Computes dominators by number, in search->dominator. */
static void find(struct dominator_search *search, const struct digraph *graph)
{
    for (uint32_t w = search->count; w-- > 1;) {
        uint32_t node = search->vertex[w];
        for (uint32_t i = graph->first_predecessor[node]; i < graph->first_predecessor[node + 1];
             i++) {
            uint32_t v = search->number[graph->predecessors[i]];
            if (v == DIGRAPH_NONE)
                continue;
            uint32_t u = evaluate(search, v);
            if (search->semi[u] < search->semi[w])
                search->semi[w] = search->semi[u];
        }
        search->next[w] = search->bucket[search->semi[w]];
        search->bucket[search->semi[w]] = w;
        uint32_t parent = search->parent[w];
        search->ancestor[w] = parent;
        for (uint32_t v = search->bucket[parent]; v != DIGRAPH_NONE; v = search->next[v]) {
            uint32_t u = evaluate(search, v);
            search->dominator[v] = search->semi[u] < search->semi[v] ? u : parent;
        }
        search->bucket[parent] = DIGRAPH_NONE;
    }
    search->dominator[0] = 0;
    for (uint32_t w = 1; w < search->count; w++)
        if (search->dominator[w] != search->semi[w])
            search->dominator[w] = search->dominator[search->dominator[w]];
}

/* Preorder of the dominator tree. A dominator has a smaller number than the nodes it dominates, so
 * that sizes are summed in descending order, and positions assigned in ascending order. */
static void order(struct dominators *dominators, struct dominator_search *search)
{
    uint32_t *size = search->bucket;
    uint32_t *place = search->stack; /* position of the next child */
    const uint32_t *dominator = search->dominator;
    for (uint32_t w = 0; w < search->count; w++)
        size[w] = 1;
    for (uint32_t w = search->count; w-- > 1;)
        size[dominator[w]] += size[w];
    for (uint32_t w = 0; w < search->count; w++) {
        uint32_t node = search->vertex[w];
        uint32_t begin = 0;
        if (w > 0) {
            begin = place[dominator[w]];
            place[dominator[w]] += size[w];
        }
        place[w] = begin + 1;
        dominators->immediate[node] = search->vertex[dominator[w]];
        dominators->preorder[begin] = node;
        dominators->begin[node] = begin;
        dominators->end[node] = begin + size[w];
    }
    dominators->reached = search->count;
}

int dominators_find(struct dominators *dominators, const struct digraph *graph, uint32_t root,
                    struct bt_error *error)
{
    struct dominator_search search;
    size_t nodes = graph->nodes;
    *dominators = (struct dominators){.immediate = malloc((nodes * 4 + 1) * sizeof(uint32_t))};
    if (!dominators->immediate)
        return bt_fail(error, BT_MEMORY, "no memory for the dominators of %u nodes", graph->nodes);
    dominators->preorder = dominators->immediate + nodes;
    dominators->begin = dominators->preorder + nodes;
    dominators->end = dominators->begin + nodes;
    memset(dominators->immediate, 0xff, nodes * 4 * sizeof(uint32_t));
    if (search_new(&search, graph->nodes, error) != 0) {
        dominators_clear(dominators);
        return BT_MEMORY;
    }
    number_nodes(&search, graph, root);
    find(&search, graph);
    order(dominators, &search);
    free(search.memory);
    return 0;
}

void dominators_clear(struct dominators *dominators)
{
    free(dominators->immediate);
    *dominators = (struct dominators){.reached = 0};
}
