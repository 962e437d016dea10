#include "tools/profile/call_stack.h"

#include "formats/base/grow.h"

#include <stdlib.h>
#include <string.h>

void call_stack_init(struct call_stack *stack, struct profile_thread *thread)
{
    *stack = (struct call_stack){.inclusive = &thread->inclusive,
                                 .inclusive_count = &thread->inclusive_count};
}

void call_stack_clear(struct call_stack *stack)
{
    free(stack->frames);
    free(stack->active);
}

/* Makes the sums reach to a function. */
static bool reach(struct call_stack *stack, uint32_t function)
{
    if (function < stack->active_count)
        return true;
    size_t count = (size_t)function + function / 2 + 256;
    uint32_t *active = realloc(stack->active, count * sizeof *active);
    if (active)
        stack->active = active;
    uint64_t *inclusive = realloc(*stack->inclusive, count * sizeof *inclusive);
    if (inclusive)
        *stack->inclusive = inclusive;
    if (!active || !inclusive)
        return false;
    memset(active + stack->active_count, 0, (count - stack->active_count) * sizeof *active);
    memset(inclusive + stack->active_count, 0, (count - stack->active_count) * sizeof *inclusive);
    *stack->inclusive_count = stack->active_count = count;
    return true;
}

int call_stack_push(struct call_stack *stack, const struct call_frame *frame)
{
    struct call_frame *larger =
        grow_array(stack->frames, &stack->capacity, stack->depth + 1, sizeof *larger);
    if (!larger)
        return BT_MEMORY;
    stack->frames = larger;
    if (!reach(stack, frame->function))
        return BT_MEMORY;
    larger[stack->depth] = *frame;
    larger[stack->depth++].outermost = stack->active[frame->function]++ == 0;
    return 0;
}

static void charge(const struct call_stack *stack, struct call_frame *frame, uint64_t now)
{
    if (!frame->outermost)
        return;
    (*stack->inclusive)[frame->function] += now - frame->since;
    if (frame->call)
        frame->call->cost += now - frame->since;
    frame->since = now;
}

void call_stack_pop_to(struct call_stack *stack, size_t depth, uint64_t now)
{
    while (stack->depth > depth) {
        struct call_frame *frame = &stack->frames[--stack->depth];
        stack->active[frame->function]--;
        charge(stack, frame, now);
    }
}

void call_stack_settle(struct call_stack *stack, uint64_t now)
{
    for (size_t i = 0; i < stack->depth; i++)
        charge(stack, &stack->frames[i], now);
}

bool call_stack_return(struct call_stack *stack, uint64_t address, uint64_t now)
{
    size_t last = stack->depth > CALL_STACK_RETURNS ? stack->depth - CALL_STACK_RETURNS : 1;
    for (size_t i = stack->depth; i-- > last;)
        if (stack->frames[i].return_address == address) {
            call_stack_pop_to(stack, i, now);
            return true;
        }
    return false;
}

void call_stack_end_jumps(struct call_stack *stack, uint64_t now)
{
    size_t depth = stack->depth;
    while (depth > 1 && stack->frames[depth - 1].return_address == 0)
        depth--;
    call_stack_pop_to(stack, depth, now);
}

bool call_stack_resume(struct call_stack *stack, uint32_t function, bool entry, uint64_t now)
{
    if (function >= stack->active_count || stack->active[function] == 0)
        return false;
    for (size_t i = stack->depth; i-- > 0;) {
        if (stack->frames[i].function == function) {
            call_stack_pop_to(stack, i + 1, now);
            return true;
        }
        /* who calls it anew has not jumped there */
        if (entry && stack->frames[i].return_address != 0)
            return false;
    }
    return false;
}
