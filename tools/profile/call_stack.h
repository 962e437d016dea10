/* The active calls of a thread; profiler.h describes how they are followed. */
#ifndef TOOLS_PROFILE_CALL_STACK_H
#define TOOLS_PROFILE_CALL_STACK_H

#include "tools/profile/profiler.h"

struct call_frame {
    struct profile_call *call; /* NULL: the thread's first function */
    uint64_t since;            /* instructions that the thread had executed at the call */
    uint64_t return_address;   /* 0: entered by a jump */
    uint32_t function;
    uint32_t outer; /* index + 1 of the same function's previous frame; 0: none */
    uint32_t
        returned; /* index of the innermost frame, up to this one, with a return address; 0: none */
    bool search;  /* the dynamic loader's symbol search on behalf of the called function */
};

#define CALL_STACK_FRAMES UINT32_MAX /* maximum number of frames */

/*
 * Returns are matched against this number of innermost frames; beyond that, by function (land()).
 */
#define CALL_STACK_RETURNS 1000u

struct call_stack {
    struct call_frame *frames;
    size_t depth, capacity;
    uint32_t *innermost; /* by function: index + 1 of its innermost frame; 0: none */
    size_t innermost_count;
    uint64_t **inclusive; /* the thread's sums */
    size_t *inclusive_count;
};

/* Initialises the stack over a thread's sums, which grow with it. */
void call_stack_init(struct call_stack *stack, struct profile_thread *thread);
void call_stack_clear(struct call_stack *stack);

/* Pushes a call. 0 or BT_MEMORY. */
int call_stack_push(struct call_stack *stack, const struct call_frame *frame);

/* Pops the innermost calls down to a depth; instructions: executed by the thread so far. */
void call_stack_pop_to(struct call_stack *stack, size_t depth, uint64_t now);

/* Charges active calls with their cost so far; they remain active. */
void call_stack_settle(struct call_stack *stack, uint64_t now);

/* Handles a return to an address. Returns whether it matches a call, which is popped. */
bool call_stack_return(struct call_stack *stack, uint64_t address, uint64_t now);

/*
 * Handles a return that matches no call: pops what was entered by jumps since the innermost call.
 */
void call_stack_end_jumps(struct call_stack *stack, uint64_t now);

/* Handles a jump to a function. Returns whether the function is active; it then continues. */
bool call_stack_resume(struct call_stack *stack, uint32_t function, bool entry, uint64_t now);

/* Fast paths: a call by one of a block's known calls, and the return of the innermost call. Return
 * false, without effect, in all other cases. */
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
