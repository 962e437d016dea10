/*
 * The hottest paths through the loop bodies and routines of a graph, with bounds on how often each
 * was executed.
 *
 * A path is one pass through a region (region_flow.h, region_tree.h): an iteration of a loop, from
 * its head until it returns to the head or leaves the loop; or a call of a routine, from its entry
 * to its end. It passes an inner loop as one step, however many iterations that loop has. Calls are
 * passed, too.
 *
 * A graph counts edges, not paths. A path was executed at most as often as its least frequent edge;
 * and at least as often as it began, less what left it, or else entered, at each of its steps
 * ("definite flow": Ball, Mataga and Sagiv, "Edge Profiling versus Path Profiling: The Showdown",
 * 1998).
 */
#ifndef TOOLS_DCFG_GRAPH_HOT_PATHS_H
#define TOOLS_DCFG_GRAPH_HOT_PATHS_H

#include "tools/dcfg/graph/graph_profile.h"

struct hot_step {
    uint32_t block;
    bool loop; /* the step is the inner loop with this head */
};

struct hot_path {
    uint32_t routine;    /* index in process->routines; DCFG_NONE: none */
    uint32_t loop;       /* index in process->loops: an iteration; DCFG_NONE: a call */
    uint32_t step_count; /* at least one of them is a block */
    size_t first_step;
    uint64_t at_least, at_most; /* executions; at_most is not 0 */
    uint64_t length; /* instructions of one execution, without inner loops and called functions */
};

struct hot_paths {
    struct hot_path *paths; /* by region; in each one, the hottest first */
    struct hot_step *steps;
    size_t path_count, path_capacity, step_count, step_capacity;
};

/*
 * Finds at most `each` paths of each region: one through its hottest edge, continued in both
 * directions along the hottest edges, then one through the hottest edge that is on no path yet,
 * and so on. 0 or BT_MEMORY; free with hot_paths_clear.
 */
int hot_paths_find(struct hot_paths *paths, const struct graph_profile *profile, uint64_t each,
                   struct bt_error *error);
void hot_paths_clear(struct hot_paths *paths);

#endif
