#define _GNU_SOURCE /* registers in ucontext_t */
#include "capture/exec/dispatch/executor_state.h"
#include "capture/exec/dispatch/trampoline.h"
#include "capture/exec/dispatch/trap.h"

#include <ucontext.h>

static bool within(const uint8_t *code, const uint8_t *begin, const uint8_t *end)
{
    return code >= begin && code < end;
}

/* Whether executor_save() can save the program's state here: before an instruction or at it, but
 * not in the inserted code after it or in the block's exits. */
static bool is_whole(const struct block *block, const uint8_t *code)
{
    unsigned offset = (unsigned)(code - block->code);
    const struct pc_map_entry *entry = &block->pc_map[executor_pc_map_find(block, offset)];
    return block->pc_map_count > 0 && offset >= entry->traced && offset <= entry->code;
}

/* Whether a string instruction that has changed code has repetitions left. They belong to it: its
 * block ends with the instruction. */
static bool is_repeating(struct executor *executor, const struct block *block, const uint8_t *code,
                         const void *context)
{
    return !executor->thread->interrupt && executor->thread->stepping_out &&
           executor_finish_repeated(executor, block, (unsigned)(code - block->code), context);
}

/*
 * In translated code the thread single-steps, by the trap flag, to the next safe point, a few
 * inserted instructions later, or until it leaves translated code. A thread that is about to enter
 * translated code single-steps into it.
 */
bool executor_step_out(struct exec_thread *thread, void *context_pointer)
{
    struct executor *executor = thread->executor;
    ucontext_t *context = context_pointer;
    greg_t *registers = context->uc_mcontext.gregs;
    const uint8_t *code = (const uint8_t *)(uintptr_t)registers[REG_RIP];
    bool in_cache = code_cache_holds(executor->cache, code);
    /* outside the cache, a block may be under construction */
    const struct block *block = in_cache ? code_cache_at(executor->cache, code) : NULL;
    if (block && is_whole(block, code) && !is_repeating(executor, block, code, context)) {
        executor_save(executor, block, context,
                      (struct executor_stop){.reason = EXECUTOR_INTERRUPTED});
        return false;
    }
    thread->stepping_out =
        in_cache || within(code, exec_enter_checked, exec_enter_end) ||
        within(code, exec_step_checked, exec_step_end) ||
        within(code, (const uint8_t *)(uintptr_t)exec_find_target, exec_find_target_end);
    if (thread->stepping_out)
        registers[REG_EFL] |= TRAP_FLAG;
    else
        registers[REG_EFL] &= ~(greg_t)TRAP_FLAG;
    if (within(code, exec_system_call_checked, exec_system_call_done))
        registers[REG_RIP] = (greg_t)(uintptr_t)exec_system_call_interrupted;
    return true;
}
