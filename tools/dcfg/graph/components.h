/* Strongly connected components of a directed graph, by Tarjan's algorithm, in linear time. */
#ifndef TOOLS_DCFG_GRAPH_COMPONENTS_H
#define TOOLS_DCFG_GRAPH_COMPONENTS_H

#include <stdint.h>

/*
 * Numbers the components from 0 to *count - 1, each after those that it leads to; component_of is
 * by node. The successors of node n are those from successors[first[n]] to before first[n + 1]. 0
 * or BT_MEMORY.
 */
int components_find(uint32_t *component_of, uint32_t *count, uint32_t nodes, const uint32_t *first,
                    const uint32_t *successors);

#endif
