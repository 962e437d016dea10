/*
 * What a whole block does to registers and control, for replays that report no instructions.
 */
#ifndef TOOLS_WET_REPLAY_WET_PLANS_H
#define TOOLS_WET_REPLAY_WET_PLANS_H

#include "tools/wet/replay/wet_graph.h"

/* A block writes bytes of a register last by this instruction. */
struct wet_plan_write {
    uint64_t bytes;
    uint8_t reg;   /* wet_registers.h; x87's are in no plan */
    uint8_t index; /* of the instruction in the block */
};

struct wet_plan {
    uint32_t first_node, node_count;   /* nodes that begin in the block, in order */
    uint32_t first_write, write_count; /* of registers */
    bool is_plain;                     /* the writes do not depend on the execution */
};

/* Zeroed is empty. */
struct wet_plans {
    struct wet_plan *plans; /* by block */
    uint32_t *nodes;
    size_t node_count, node_capacity;
    struct wet_plan_write *writes;
    size_t write_count, write_capacity;
};

/* 0 or BT_MEMORY; clear it in either case. */
int wet_plans_make(struct wet_plans *plans, const struct wet_code *code,
                   const struct wet_flows *flows, const struct wet_graph *graph);
void wet_plans_clear(struct wet_plans *plans);

#endif
