/*
 * The control-flow graphs of a trace's functions, and what control dependence needs of them: the
 * node of each instruction, the branches, and the nodes' nearest post-dominators. They are made
 * from all of the trace's code, executed or not (doc/wet.md, "Control").
 */
#ifndef TOOLS_WET_REPLAY_WET_GRAPH_H
#define TOOLS_WET_REPLAY_WET_GRAPH_H

#include "tools/cfg/post_dominators.h"
#include "tools/wet/replay/wet_flows.h"

#define WET_NODE_NONE 0u /* no node; of a nearest post-dominator: the function's exit */

struct wet_node {
    uint32_t function; /* index in wet_graph.functions */
    uint32_t next;     /* the nearest node that post-dominates it */
    bool decides;      /* it ends with a branch that has several successors */
};

/* A function. Its nodes are numbered first + the node's number in the walk. */
struct wet_graph_function {
    struct code_walk walk;
    struct post_dominators post_dominators;
    uint32_t first;
    bool is_endless; /* from some node no path leads to the exit, or jumps out of other functions
                        lead into its middle: its branches have no regions that end */
};

struct wet_graph {
    struct wet_graph_function *functions;
    size_t function_count;
    struct wet_node *nodes; /* the first is none */
    size_t node_count;
    uint32_t *node_of;    /* by id; WET_NODE_NONE: the walk of its function does not know it */
    bool *begins_node;    /* by id */
    uint32_t *partitions; /* by number of a wet_function: functions that are one for control, as a
                             function and its cold part, have the same */
};

/* 0 or BT_MEMORY; clear it in either case. The struct need not be initialized. */
int wet_graph_make(struct wet_graph *graph, const struct wet_code *code,
                   const struct wet_flows *flows, struct bt_error *error);
void wet_graph_clear(struct wet_graph *graph);

/* Whether a node is control dependent on the branch at the end of another one. */
bool wet_graph_decides(const struct wet_graph *graph, uint32_t branch, uint32_t node);

#endif
