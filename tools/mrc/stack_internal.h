/* The members of a stack, for stack.c and its test. */
#ifndef TOOLS_MRC_STACK_INTERNAL_H
#define TOOLS_MRC_STACK_INTERNAL_H

#include "tools/mrc/line_table.h"
#include "tools/mrc/recency.h"
#include "tools/mrc/stack.h"

struct stack_batch;

struct stack {
    struct line_table map;  /* from lines to the slot of their last reference */
    struct recency recency; /* order of the slots */
    void (*batch)(struct stack *stack, const struct stack_batch *now, struct stack_batch *next,
                  uint32_t *distances);
    void (*renumber)(struct stack *stack);
};

#endif
