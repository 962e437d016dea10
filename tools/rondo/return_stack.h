/* The return address stack: calls push to a ring, returns pop from it. */
#ifndef TOOLS_RONDO_RETURN_STACK_H
#define TOOLS_RONDO_RETURN_STACK_H

#include <stdbool.h>
#include <stdint.h>

struct return_stack {
    uint64_t *entries, *saved;
    uint32_t size; /* 0: no stack, pushes and pops have no effect */
    uint32_t top, saved_top;
};

/* False without memory; return_stack_clear in any case. */
bool return_stack_make(struct return_stack *stack, uint32_t size);
void return_stack_clear(struct return_stack *stack);

void return_stack_push(struct return_stack *stack, uint64_t address);
uint64_t return_stack_pop(struct return_stack *stack);

void return_stack_save(struct return_stack *stack);
void return_stack_restore(struct return_stack *stack);

#endif
