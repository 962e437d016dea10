/*
 * Post-dominators of a function's code, and the control dependences that follow from them: a node
 * post-dominates another one if every path from that one to the function's exit contains it (J.
 * Ferrante, K. Ottenstein and J. Warren, "The Program Dependence Graph", 1987).
 *
 * There is one exit, to which all nodes lead that may end the path. A node from which no path leads
 * there, in a loop without an end, is treated as if it led there itself.
 */
#ifndef TOOLS_CFG_POST_DOMINATORS_H
#define TOOLS_CFG_POST_DOMINATORS_H

#include "tools/cfg/code_walk.h"

#define POST_DOMINATORS_EXIT 0u /* the exit; in a walk it is the number of the root */

struct post_dominators {
    struct digraph reversed; /* the walk's graph, without its root and with the exit */
    struct dominators tree;  /* of the reversed graph, whose root is the exit */
};

/* Finds the post-dominators of the walk's nodes. 0 or BT_MEMORY; free with post_dominators_clear()
 * in either case. */
int post_dominators_find(struct post_dominators *post_dominators, const struct code_walk *walk,
                         struct bt_error *error);
void post_dominators_clear(struct post_dominators *post_dominators);

/* The nearest node that post-dominates this one, or POST_DOMINATORS_EXIT. */
static inline uint32_t post_dominators_next(const struct post_dominators *post_dominators,
                                            uint32_t node)
{
    return post_dominators->tree.immediate[node];
}

/*
 * Whether a node is control dependent on the branch at the end of another one (perhaps the same):
 * the node post-dominates a successor of the branch, and does not strictly post-dominate the
 * branch.
 */
bool post_dominators_decide(const struct post_dominators *post_dominators, uint32_t branch,
                            uint32_t node);

#endif
