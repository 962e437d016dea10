#include "tools/dcfg/graph/digraph.h"

#include <stdlib.h>

/* Sorts the ends of edges by their other ends. */
static void fill_rows(uint32_t *first, uint32_t *row, uint32_t nodes, const uint32_t *of,
                      const uint32_t *ends, size_t edges)
{
    for (size_t i = 0; i < edges; i++)
        first[of[i] + 1]++;
    for (uint32_t n = 0; n < nodes; n++)
        first[n + 1] += first[n];
    /*
     * in descending order, each start moves to the end of its row, and back while the row is filled
     */
    for (size_t i = edges; i-- > 0;)
        row[--first[of[i] + 1]] = ends[i];
    for (uint32_t n = 0; n < nodes; n++)
        first[n] = first[n + 1];
    first[nodes] = (uint32_t)edges;
}

int digraph_make(struct digraph *graph, uint32_t nodes, const uint32_t *sources,
                 const uint32_t *targets, size_t edges, struct bt_error *error)
{
    *graph = (struct digraph){.nodes = nodes};
    graph->first_successor = calloc((size_t)nodes + 1, sizeof(uint32_t));
    graph->first_predecessor = calloc((size_t)nodes + 1, sizeof(uint32_t));
    graph->successors = malloc((edges + 1) * sizeof(uint32_t));
    graph->predecessors = malloc((edges + 1) * sizeof(uint32_t));
    if (!graph->first_successor || !graph->first_predecessor || !graph->successors ||
        !graph->predecessors) {
        digraph_clear(graph);
        return bt_fail(error, BT_MEMORY, "no memory for a graph of %u nodes", nodes);
    }
    fill_rows(graph->first_successor, graph->successors, nodes, sources, targets, edges);
    fill_rows(graph->first_predecessor, graph->predecessors, nodes, targets, sources, edges);
    return 0;
}

void digraph_clear(struct digraph *graph)
{
    free(graph->first_successor);
    free(graph->first_predecessor);
    free(graph->successors);
    free(graph->predecessors);
    *graph = (struct digraph){.nodes = 0};
}
