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
    free(stack->innermost);
}

/* Extends the sums to include a function. */
static bool reach(struct call_stack *stack, uint32_t function)
{
    if (function < stack->innermost_count)
        return true;
    size_t count = (size_t)function + function / 2 + 256;
    size_t old = stack->innermost_count;
    uint32_t *innermost = realloc(stack->innermost, count * sizeof *innermost);
    if (innermost)
        stack->innermost = innermost;
    uint64_t *inclusive = realloc(*stack->inclusive, count * sizeof *inclusive);
    if (inclusive)
        *stack->inclusive = inclusive;
    if (!innermost || !inclusive)
        return false;
    memset(innermost + old, 0, (count - old) * sizeof *innermost);
    memset(inclusive + old, 0, (count - old) * sizeof *inclusive);
    *stack->inclusive_count = stack->innermost_count = count;
    return true;
}

int call_stack_push(struct call_stack *stack, const struct call_frame *frame)
{
    struct call_frame *larger =
        grow_array(stack->frames, &stack->capacity, stack->depth + 1, sizeof *larger);
    if (!larger)
        return BT_MEMORY;
    stack->frames = larger;
    if (!reach(stack, frame->function) || stack->depth == CALL_STACK_FRAMES)
        return BT_MEMORY;
    uint32_t index = (uint32_t)stack->depth;
    struct call_frame *pushed = &larger[stack->depth++];
    *pushed = *frame;
    pushed->outer = stack->innermost[frame->function];
    pushed->returned = frame->return_address != 0 ? index : index > 0 ? pushed[-1].returned : 0;
    stack->innermost[frame->function] = index + 1;
    return 0;
}

static void charge(const struct call_stack *stack, struct call_frame *frame, uint64_t now)
{
    if (frame->outer != 0)
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
        stack->innermost[frame->function] = frame->outer;
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
    uint32_t depth = function < stack->innermost_count ? stack->innermost[function] : 0;
    /* a call from elsewhere is not a jump back */
    if (depth == 0 || (entry && depth - 1 < stack->frames[stack->depth - 1].returned))
        return false;
    call_stack_pop_to(stack, depth, now);
    return true;
}
