/* Registers whose values are used after a loop, by the machine code of its function. */
#ifndef TOOLS_DEPEND_LIVE_REGISTERS_H
#define TOOLS_DEPEND_LIVE_REGISTERS_H

#include "tools/depend/loop_flow.h"

/* Registers in which a function returns values. */
value_set live_results(void);

/* rdx and xmm1: the second ones, which no call passes on as they are. */
value_set live_second_results(void);

/* What is known of a function. */
struct live_code {
    const struct code_walk *walk;
    loop_flow_read *read; /* as in code_walk_settings */
    void *context;
    value_set results;    /* of live_results(): these are used by its callers */
    value_set unassigned; /* no arguments of functions that are not known */
};

/* Finds the registers that code after a loop of the walk may read before it writes them. 0 or
 * BT_MEMORY. */
int live_after_loop(const struct live_code *code, uint32_t loop, value_set *live,
                    struct bt_error *error);

/* The same, of the code after the instruction at an address, which ends at `next`. */
int live_after(const struct live_code *code, uint64_t address, uint64_t next, value_set *live,
               struct bt_error *error);

#endif
