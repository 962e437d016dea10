/*
 * Values that the iterations of a loop pass on in registers and stack slots, and updates of memory,
 * found in the machine code of the loop. Optimized code keeps sums in registers; without
 * optimization all variables are slots.
 *
 * Steps by a constant are inductions. A value that is only combined with others by an associative
 * and commutative operation, and is not used otherwise, is a reduction. All other values that an
 * iteration reads from an earlier one make the loop serial.
 */
#ifndef TOOLS_DEPEND_LOOP_VALUES_H
#define TOOLS_DEPEND_LOOP_VALUES_H

#include "tools/depend/loop_flow.h"

enum loop_value_kind {
    LOOP_VALUE_NONE, /* not passed on, or not known: memory whose address is taken */
    LOOP_VALUE_INDUCTION,
    LOOP_VALUE_REDUCTION,
    LOOP_VALUE_LAST, /* assigned, and used after the loop only */
    LOOP_VALUE_SERIAL
};

struct loop_values {
    struct value_flow flow;
    uint8_t kinds[VALUE_STORED];      /* enum loop_value_kind, by variable */
    uint8_t operations[VALUE_STORED]; /* enum value_operation of reductions */
    value_set exits;                  /* variables that decide whether it ends */
    bool ends_early;                  /* what it computes or loads decides whether it ends */
    bool is_unknown;                  /* it is too large: nothing is known */
};

/* Analyses a loop of a walk; read as in code_walk_settings. live: variables whose values are used
 * after the loop. exposed: bits 1 << slot, for slots that
 * other instructions access, too, as an earlier analysis has numbered them. 0 or BT_MEMORY. */
int loop_values_find(struct loop_values *values, const struct code_walk *walk, uint32_t loop,
                     value_set live, uint64_t exposed, loop_flow_read *read, void *context,
                     struct bt_error *error);

/* The slot that an instruction at an address accesses; VALUE_VARIABLE_NONE: none. */
unsigned loop_values_slot(const struct loop_values *values, uint64_t address, loop_flow_read *read,
                          void *context);

/* The operation if an instruction stores what it, or another one, has loaded from the same memory,
 * combined with something else by an associative operation; if an instruction loads only for this.
 * Else VALUE_NONE. */
struct value_kind loop_values_updates(const struct loop_values *values, uint64_t store);
struct value_kind loop_values_loads_for_update(const struct loop_values *values, uint64_t load);

/* Whether an instruction loads what decides whether the loop ends. */
bool loop_values_decides_end(const struct loop_values *values, uint64_t load);

#endif
