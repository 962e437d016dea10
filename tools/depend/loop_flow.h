/*
 * The values at the end of an iteration of a loop, in terms of those at its head: executes the
 * loop's machine code with unknown values (value_flow.h), along all paths, until nothing changes.
 */
#ifndef TOOLS_DEPEND_LOOP_FLOW_H
#define TOOLS_DEPEND_LOOP_FLOW_H

#include "tools/cfg/code_walk.h"
#include "tools/depend/value_flow.h"

/* The code at an address, as in code_walk_settings. */
typedef size_t loop_flow_read(void *context, uint64_t address, const uint8_t **code);

struct loop_flow_result {
    struct value_state end; /* of an iteration */
    value_set exits;        /* variables that decide whether the loop ends */
    bool is_known;          /* false: the loop is too large; the rest is not valid */
};

/* Decodes an instruction; false: there is none. */
bool loop_flow_decode(loop_flow_read *read, void *context, uint64_t address,
                      struct value_instruction *instruction);

/* flow must be zeroed, but for its callbacks. 0 or BT_MEMORY. */
int loop_flow_find(struct value_flow *flow, struct loop_flow_result *result,
                   const struct code_walk *walk, uint32_t loop, loop_flow_read *read, void *context,
                   struct bt_error *error);

#endif
