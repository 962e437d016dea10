/*
 * Control dependence in one iteration of a loop, from its head until the next iteration or the end
 * of the loop. A node depends on a branch if the branch leads to it one way, and may lead past it
 * another way (Ferrante, Ottenstein and Warren, 1987).
 */
#ifndef TOOLS_CFG_LOOP_CONTROL_H
#define TOOLS_CFG_LOOP_CONTROL_H

#include "tools/cfg/code_walk.h"

struct loop_control {
    uint32_t *after; /* by member of the loop: the first node after it that each path passes;
                        `count`: the iteration's end */
    uint32_t count;
};

/* nodes: the loop's members, in any order, which gives them numbers from 0; index: these, by node
 * of the walk; loop->node_count for nodes outside. 0 or BT_MEMORY; free with loop_control_clear()
 * in either case. */
int loop_control_make(struct loop_control *control, const struct code_walk *walk,
                      const struct loop *loop, const uint32_t *nodes, const uint32_t *index,
                      struct bt_error *error);
void loop_control_clear(struct loop_control *control);

#endif
