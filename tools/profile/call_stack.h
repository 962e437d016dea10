/* The calls of a thread that are at work (profiler.h says how they are followed). */
#ifndef TOOLS_PROFILE_CALL_STACK_H
#define TOOLS_PROFILE_CALL_STACK_H

#include "tools/profile/profiler.h"

struct call_frame {
    struct profile_call *call; /* NULL: what the thread began with */
    uint64_t since;            /* instructions that the thread had executed */
    uint64_t return_address;   /* 0: it was jumped to */
    uint32_t function;
    uint32_t outer;    /* the function's frame before this one: its place and 1; 0: it has none */
    uint32_t returned; /* the place of the innermost frame, up to this one, that was called: it has
                          a return address. 0: none was */
    bool search;       /* the dynamic loader's, for the function that was called */
};

#define CALL_STACK_FRAMES UINT32_MAX /* at most */

/* Returns are looked for in so many of the innermost frames; beyond, functions are (land()). */
#define CALL_STACK_RETURNS 1000u

struct call_stack {
    struct call_frame *frames;
    size_t depth, capacity;
    uint32_t *innermost; /* by function: the place of its innermost frame and 1; 0: it has none */
    size_t innermost_count;
    uint64_t **inclusive; /* the thread's */
    size_t *inclusive_count;
};

/* Over a thread's sums, which grow with it. */
void call_stack_init(struct call_stack *stack, struct profile_thread *thread);
void call_stack_clear(struct call_stack *stack);

/* A call was made: 0 or BT_MEMORY. */
int call_stack_push(struct call_stack *stack, const struct call_frame *frame);

/* Ends the innermost calls down to a depth, the thread having executed so many instructions. */
void call_stack_pop_to(struct call_stack *stack, size_t depth, uint64_t now);

/* Charges what is at work with what it cost so far; it goes on. */
void call_stack_settle(struct call_stack *stack, uint64_t now);

/* A return to an address: whether there was a call that it belongs to; it is over then. */
bool call_stack_return(struct call_stack *stack, uint64_t address, uint64_t now);

/* A return that belongs to no call: ends what was jumped to since the innermost one. */
void call_stack_end_jumps(struct call_stack *stack, uint64_t now);

/* A jump into the middle of a function, or to its entry: whether it is at work, and goes on. */
bool call_stack_resume(struct call_stack *stack, uint32_t function, bool entry, uint64_t now);

/* The same for what is usual: a call by one of a block's calls, which counts it, and the return of
 * the innermost call. False: nothing was done, it is not so. */
static inline bool call_stack_push_usual(struct call_stack *stack, struct profile_call *call,
                                         uint64_t return_address, uint64_t now)
{
    uint32_t function = call->callee;
    if (stack->depth == stack->capacity || function >= stack->innermost_count)
        return false;
    struct call_frame *frame = &stack->frames[stack->depth];
    frame->call = call;
    frame->since = now;
    frame->return_address = return_address;
    frame->function = function;
    frame->outer = stack->innermost[function];
    frame->returned = (uint32_t)stack->depth;
    frame->search = false;
    stack->innermost[function] = (uint32_t)++stack->depth;
    call->count++;
    return true;
}

static inline bool call_stack_return_usual(struct call_stack *stack, uint64_t address, uint64_t now)
{
    if (stack->depth < 2 || stack->frames[stack->depth - 1].return_address != address)
        return false;
    const struct call_frame *frame = &stack->frames[--stack->depth];
    stack->innermost[frame->function] = frame->outer;
    if (frame->outer == 0) {
        (*stack->inclusive)[frame->function] += now - frame->since;
        frame->call->cost += now - frame->since;
    }
    return true;
}

#endif
