/* Calls, returns and jumps out of functions, as a thread executes them. */
#include "tools/depend/feed_internal.h"

#include "formats/base/grow.h"

/* Leaves functions that were entered with more than so many calls. */
static void leave_functions(struct depend_feed *feed, struct feed_thread *thread, size_t frames)
{
    while (thread->entered_count > 0 && thread->entered[thread->entered_count - 1].frames > frames)
        feed->left(feed->context, thread->entered[--thread->entered_count].function);
}

int feed_enter_function(struct execution *execution, const struct feed_block *block)
{
    struct feed_thread *thread = execution->thread;
    struct entered_function *larger = grow_array(thread->entered, &thread->entered_capacity,
                                                 thread->entered_count + 1, sizeof *larger);
    if (!larger)
        return BT_MEMORY;
    thread->entered = larger;
    larger[thread->entered_count++] = (struct entered_function){
        .function = block->function->number, .frames = depend_calls(execution->to)};
    execution->feed->entered(execution->feed->context, block->function->number);
    return 0;
}

void feed_find_stack(struct execution *execution, uint64_t slot)
{
    struct depend_thread *to = execution->to;
    uint64_t begin, end;
    if (depend_is_on_stack(to, slot) ||
        !execution->feed->mapping(execution->feed->context, slot, &begin, &end) ||
        (to->stack_end > 0 && end != to->stack_end))
        return;
    depend_set_stack(to, begin, end);
}

struct feed_calls feed_calls_of(const struct execution *execution)
{
    return (struct feed_calls){.calls = execution->thread->callers,
                               .count = depend_calls(execution->to)};
}

int feed_note_caller(struct execution *execution, struct feed_call caller)
{
    struct feed_thread *thread = execution->thread;
    const size_t calls = depend_calls(execution->to);
    struct feed_call *larger =
        grow_array(thread->callers, &thread->caller_capacity, calls, sizeof *larger);
    if (!larger)
        return BT_MEMORY;
    thread->callers = larger;
    if (calls > 0)
        larger[calls - 1] = caller;
    return 0;
}

void feed_leave_calls(struct execution *execution, const struct feed_block *block)
{
    struct feed_thread *thread = execution->thread;
    if (thread->origin.ending != FEED_JUMPS || block->begins_function ||
        thread->origin.function == block->origin.function)
        return;
    const struct feed_calls calls = feed_calls_of(execution);
    const struct feed_call *call = feed_call_of(&calls, block->function->number);
    if (!call)
        return;
    const size_t remaining = (size_t)(call - thread->callers);
    depend_leave_calls(execution->feed->depend, execution->to, remaining);
    thread->chain = CHAIN_UNKNOWN;
    if (execution->feed->left)
        leave_functions(execution->feed, thread, remaining);
}

int feed_transfer(struct execution *execution, const struct feed_block *block)
{
    struct depend_feed *feed = execution->feed;
    const uint64_t slot = feed_address(execution, block->transfer);
    int result = 0;
    feed_find_stack(execution, slot);
    if (block->origin.ending == FEED_CALLS) {
        depend_call(feed->depend, execution->to, slot);
        execution->thread->chain = FEED_CHAIN_NONE;
        execution->thread->is_called = true;
        result = feed_note_caller(execution, (struct feed_call){.function = block->function->number,
                                                                .address = block->origin.jump});
    } else {
        const size_t before = depend_calls(execution->to);
        depend_return(feed->depend, execution->to, slot);
        const size_t calls = depend_calls(execution->to);
        if (calls < before) /* code without symbols is of the function before it */
            execution->thread->origin.function = execution->thread->callers[calls].function;
        execution->thread->chain = CHAIN_UNKNOWN;
        execution->thread->is_called = false;
    }
    if (feed->left)
        leave_functions(feed, execution->thread,
                        depend_calls(execution->to) - (block->origin.ending == FEED_CALLS));
    return result;
}
