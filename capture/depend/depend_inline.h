/* The common cases of references, inline in the front ends. Include depend.h. */
#ifndef CAPTURE_DEPEND_DEPEND_INLINE_H
#define CAPTURE_DEPEND_DEPEND_INLINE_H

#include "capture/depend/depend_state.h"

/* The cases that are not common, after depend_begin(). depend_count(): `times` dependences on the
 * last writer or reader of the byte at an address. */
uint32_t depend_make_context(struct depend *depend, struct depend_thread *thread,
                             struct depend_site *site);
void depend_count(struct depend *depend, struct depend_thread *thread, enum depend_kind kind,
                  uint32_t sink, shadow_entry source, uint64_t address, uint64_t times);
void depend_read_bytes(struct depend *depend, struct depend_thread *thread, uint32_t context,
                       uint64_t address, unsigned size);
void depend_write_bytes(struct depend *depend, struct depend_thread *thread, uint32_t context,
                        uint64_t address, unsigned size);

/* Begins a reference: advances the times, and returns its context; 0: none. */
static inline uint32_t depend_begin(struct depend *depend, struct depend_thread *thread,
                                    struct depend_site *site)
{
    depend->time++;
    if (site->is_detail) {
        depend->frozen++;
        depend->detail_time = depend->time;
        thread->top = site->place;
    }
    if (site->context && site->top == thread->top)
        return site->context;
    return depend_make_context(depend, thread, site);
}

/* Notes the lowest accessed byte of the stack. */
static inline void depend_touch(struct depend_thread *thread, uint64_t address)
{
    if (address - thread->stack_begin < thread->low - thread->stack_begin)
        thread->low = address;
}

static inline void depend_read(struct depend *depend, struct depend_thread *thread,
                               struct depend_site *site, uint64_t address, unsigned size)
{
    if (!depend->counts)
        return;
    const uint32_t context = depend_begin(depend, thread, site);
    shadow_entry entry;
    if (!context)
        return;
    if (!depend->reads_plainly || !shadow_sole(&depend->writers, address, size, &entry))
        depend_read_bytes(depend, thread, context, address, size);
    else if (entry)
        depend_count(depend, thread, DEPEND_RAW, context, entry, address, 1);
}

static inline void depend_write(struct depend *depend, struct depend_thread *thread,
                                struct depend_site *site, uint64_t address, unsigned size)
{
    if (!depend->counts)
        return;
    const uint32_t context = depend_begin(depend, thread, site);
    depend->writes++;
    depend_touch(thread, address);
    if (!context)
        return;
    if (!depend->is_raw_only ||
        !shadow_put(&depend->writers, address, size, shadow_entry_of(context, depend->time)))
        depend_write_bytes(depend, thread, context, address, size);
}

static inline void depend_loop_iterate(struct depend *depend, struct depend_thread *thread)
{
    if (!depend->counts || thread->active_count == thread->base)
        return;
    struct depend_active *active = &thread->active[thread->active_count - 1];
    active->previous_begun = active->iteration_begun;
    active->iteration_begun = depend->time;
    active->iteration_instructions = thread->instructions;
    if (loop_history_add(&active->history, depend->time) < 0)
        depend_stop(depend, DEPEND_MEMORY);
}

static inline void depend_execute(struct depend_thread *thread, uint64_t instructions)
{
    thread->instructions += instructions;
}

#endif
