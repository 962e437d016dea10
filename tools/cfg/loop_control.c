#include "tools/cfg/loop_control.h"

#include <stdlib.h>

/* The edges of an iteration, backwards from its end: node count. Edges to the head end it. */
static int make_backward(struct digraph *graph, const struct code_walk *walk,
                         const struct loop *loop, const uint32_t *nodes, const uint32_t *index,
                         struct bt_error *error)
{
    const struct digraph *all = &walk->graph;
    const uint32_t count = loop->node_count;
    size_t edges = 0, number = 0;
    for (uint32_t i = 0; i < count; i++)
        edges += all->first_successor[nodes[i] + 1] - all->first_successor[nodes[i]];
    uint32_t *ends = malloc((2 * edges + 1) * sizeof *ends);
    if (!ends)
        return bt_fail(error, BT_MEMORY, "no memory for the control flow of a loop");
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = all->first_successor[nodes[i]]; k < all->first_successor[nodes[i] + 1];
             k++) {
            const uint32_t to = all->successors[k];
            ends[number] = to == loop->head ? count : index[to];
            ends[edges + number++] = i;
        }
    const int result = digraph_make(graph, count + 1, ends, ends + edges, edges, error);
    free(ends);
    return result;
}

int loop_control_make(struct loop_control *control, const struct code_walk *walk,
                      const struct loop *loop, const uint32_t *nodes, const uint32_t *index,
                      struct bt_error *error)
{
    struct digraph graph;
    struct dominators dominators;
    control->count = loop->node_count;
    control->after = NULL;
    int result = make_backward(&graph, walk, loop, nodes, index, error);
    if (result < 0)
        return result;
    result = dominators_find(&dominators, &graph, control->count, error);
    control->after = malloc((control->count + 1) * sizeof *control->after);
    if (result == 0 && !control->after)
        result = bt_fail(error, BT_MEMORY, "no memory for the control flow of a loop");
    for (uint32_t i = 0; i < control->count && result == 0; i++)
        control->after[i] =
            dominators_reached(&dominators, i) ? dominators.immediate[i] : control->count;
    dominators_clear(&dominators);
    digraph_clear(&graph);
    return result;
}

void loop_control_clear(struct loop_control *control)
{
    free(control->after);
}
