/* Calls, returns and loops of the threads. */
#include "capture/depend/depend.h"

#include "formats/base/grow.h"

#include <string.h>

#define HISTORIES_KEPT 1024u /* of loops nested deeper, memory is freed when they end */

/* --- loops -------------------------------------------------------------------------------------
 */

unsigned depend_loops(const struct depend_thread *thread)
{
    return thread->active_count - thread->base;
}

uint32_t depend_loop_at(const struct depend_thread *thread, unsigned depth)
{
    return thread->active[thread->base + depth].loop;
}

/* Makes room for one more active loop, and for the loop's counts. */
static int reserve_loop(struct depend *depend, struct depend_thread *thread, uint32_t loop)
{
    size_t before = thread->active_capacity;
    struct depend_active *active = grow_array(thread->active, &thread->active_capacity,
                                              (size_t)thread->active_count + 1, sizeof *active);
    if (!active)
        return BT_MEMORY;
    thread->active = active;
    memset(active + before, 0, (thread->active_capacity - before) * sizeof *active);
    before = thread->activation_capacity;
    uint32_t *activations = grow_array(thread->activations, &thread->activation_capacity,
                                       (size_t)loop + 1, sizeof *activations);
    if (!activations)
        return BT_MEMORY;
    thread->activations = activations;
    memset(activations + before, 0, (thread->activation_capacity - before) * sizeof *activations);
    before = depend->loop_capacity;
    struct depend_loop *loops =
        grow_array(depend->loops, &depend->loop_capacity, (size_t)loop + 1, sizeof *loops);
    if (!loops)
        return BT_MEMORY;
    depend->loops = loops;
    memset(loops + before, 0, (depend->loop_capacity - before) * sizeof *loops);
    if (depend->loop_count <= loop)
        depend->loop_count = (size_t)loop + 1;
    return 0;
}

void depend_loop_begin(struct depend *depend, struct depend_thread *thread, uint32_t loop,
                       uint32_t test)
{
    if (!depend->counts)
        return;
    if (reserve_loop(depend, thread, loop) < 0) {
        depend_stop(depend, DEPEND_MEMORY);
        return;
    }
    struct depend_active *active = &thread->active[thread->active_count];
    if (loop_history_begin(&active->history, depend->time) < 0) {
        depend_stop(depend, DEPEND_MEMORY);
        return;
    }
    active->loop = loop;
    active->begun = active->iteration_begun = depend->time;
    active->previous_begun = UINT64_MAX;
    active->instructions = active->iteration_instructions = thread->instructions;
    active->test = test;
    active->is_outermost = thread->activations[loop]++ == 0;
    thread->active_count++;
    depend->loops[loop].invocations++;
}

/* Ends the innermost loop, of any call. */
static void end_loop(struct depend *depend, struct depend_thread *thread)
{
    struct depend_active *active = &thread->active[--thread->active_count];
    thread->activations[active->loop]--;
    const bool has_tested_only =
        active->history.iterations > 1 && active->test > 0 &&
        thread->instructions - active->iteration_instructions <= active->test;
    depend->loops[active->loop].iterations += active->history.iterations - has_tested_only;
    if (active->is_outermost)
        depend->loops[active->loop].instructions += thread->instructions - active->instructions;
    if (thread->active_count >= HISTORIES_KEPT)
        loop_history_clear(&active->history);
}

void depend_loop_end(struct depend *depend, struct depend_thread *thread)
{
    if (thread->active_count > thread->base)
        end_loop(depend, thread);
}

void depend_system_call(struct depend *depend, const struct depend_thread *thread)
{
    for (unsigned i = 0; i < thread->active_count; i++)
        depend->loops[thread->active[i].loop].system_calls++;
}

void depend_settle(struct depend *depend)
{
    for (size_t i = 0; i < depend->thread_count; i++) {
        struct depend_thread *thread = depend->threads[i];
        while (thread->active_count > 0)
            end_loop(depend, thread);
        thread->frame_count = 0;
        thread->base = 0;
    }
}

/* --- calls -------------------------------------------------------------------------------------
 */

void depend_set_stack(struct depend_thread *thread, uint64_t begin, uint64_t end)
{
    thread->stack_begin = begin;
    thread->stack_end = end;
    if (thread->low < begin || thread->low > end)
        thread->low = end;
}

bool depend_is_on_stack(const struct depend_thread *thread, uint64_t address)
{
    return address - thread->stack_begin < thread->stack_end - thread->stack_begin;
}

/* Forgets the stack below an address. */
static void forget_below(struct depend *depend, struct depend_thread *thread, uint64_t address)
{
    if (!depend_is_on_stack(thread, address - 1))
        return;
    if (thread->low < address)
        depend_forget(depend, thread->low, address - thread->low);
    thread->low = address;
}

/* Ends calls from the latest on, until there are `frames`, with their loops. */
static void pop_frames(struct depend *depend, struct depend_thread *thread, size_t frames)
{
    if (frames == thread->frame_count)
        return;
    const unsigned loops = thread->frames[frames].loops;
    while (thread->active_count > loops)
        end_loop(depend, thread);
    thread->frame_count = frames;
    thread->base = frames ? thread->frames[frames - 1].loops : 0;
}

/* The number of calls that remain if those up to an address of the stack have ended. Calls from
 * other stacks (of signal handlers, coroutines), which are made later, have ended with them. */
static size_t frames_above(const struct depend_thread *thread, uint64_t slot)
{
    size_t frames = thread->frame_count;
    if (!depend_is_on_stack(thread, slot))
        return frames;
    while (frames > 0 && (thread->frames[frames - 1].slot <= slot ||
                          !depend_is_on_stack(thread, thread->frames[frames - 1].slot)))
        frames--;
    return frames;
}

/* The number of calls that remain after a return through a slot. On another stack the slot
 * alone identifies the call. */
static size_t frames_before(const struct depend_thread *thread, uint64_t slot)
{
    if (!depend_is_on_stack(thread, slot))
        for (size_t frames = thread->frame_count; frames > 0; frames--)
            if (thread->frames[frames - 1].slot == slot)
                return frames - 1;
    return frames_above(thread, slot);
}

void depend_call(struct depend *depend, struct depend_thread *thread, uint64_t slot)
{
    if (!depend->counts)
        return;
    pop_frames(depend, thread, frames_above(thread, slot));
    struct depend_frame *larger = grow_array(thread->frames, &thread->frame_capacity,
                                             thread->frame_count + 1, sizeof *larger);
    if (!larger) {
        depend_stop(depend, DEPEND_MEMORY);
        return;
    }
    thread->frames = larger;
    larger[thread->frame_count++] =
        (struct depend_frame){.slot = slot, .loops = thread->active_count};
    thread->base = thread->active_count;
    forget_below(depend, thread, slot);
}

size_t depend_calls(const struct depend_thread *thread)
{
    return thread->frame_count;
}

void depend_leave_calls(struct depend *depend, struct depend_thread *thread, size_t calls)
{
    if (depend->counts && calls < thread->frame_count)
        pop_frames(depend, thread, calls);
}

void depend_return(struct depend *depend, struct depend_thread *thread, uint64_t slot)
{
    if (!depend->counts)
        return;
    pop_frames(depend, thread, frames_before(thread, slot));
    forget_below(depend, thread, slot + sizeof(uint64_t));
}
