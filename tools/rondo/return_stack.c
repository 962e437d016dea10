#include "tools/rondo/return_stack.h"

#include <stdlib.h>
#include <string.h>

bool return_stack_make(struct return_stack *stack, uint32_t size)
{
    *stack = (struct return_stack){.size = size};
    if (size == 0)
        return true;
    stack->entries = calloc(size, sizeof *stack->entries);
    stack->saved = calloc(size, sizeof *stack->saved);
    return stack->entries && stack->saved;
}

void return_stack_clear(struct return_stack *stack)
{
    free(stack->entries);
    free(stack->saved);
}

void return_stack_push(struct return_stack *stack, uint64_t address)
{
    if (stack->size == 0)
        return;
    stack->top = stack->top + 1 < stack->size ? stack->top + 1 : 0;
    stack->entries[stack->top] = address;
}

uint64_t return_stack_pop(struct return_stack *stack)
{
    if (stack->size == 0)
        return 0;
    uint64_t address = stack->entries[stack->top];
    stack->top = stack->top > 0 ? stack->top - 1 : stack->size - 1;
    return address;
}

void return_stack_save(struct return_stack *stack)
{
    stack->saved_top = stack->top;
    if (stack->size > 0)
        memcpy(stack->saved, stack->entries, stack->size * sizeof *stack->entries);
}

void return_stack_restore(struct return_stack *stack)
{
    stack->top = stack->saved_top;
    if (stack->size > 0)
        memcpy(stack->entries, stack->saved, stack->size * sizeof *stack->entries);
}
