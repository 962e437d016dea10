#include "capture/exec/dispatch/executor_step.h"

#include <string.h>

/* Whether a block ends with a branch and has no special cases. */
static bool is_usual(const struct executor *executor, const struct block *block)
{
    return !block->verify_code && block->special_count == 0 && block->ending >= DECODE_JUMP &&
           block->ending <= DECODE_CALL_INDIRECT && !(block->fs && executor->thread->fs_by_system);
}

bool executor_step_prepare(const struct executor *executor, struct block *block)
{
    size_t bytes = block->record_count * sizeof(struct record);
    if (!is_usual(executor, block))
        return false;
    block->step_records = code_cache_allocate(executor->cache, bytes);
    if (block->step_records)
        memcpy(block->step_records, block->records, bytes);
    block->step_processor = 0; /* as in a block's records */
    return block->step_records;
}

void executor_step_set_processor(const struct executor *executor, struct block *block)
{
    block->step_processor = executor->expander.processor;
    for (unsigned i = 0; i < block->record_count; i++)
        block->step_records[i].processor = block->step_processor;
}

void executor_step_through_fs(const struct block *block, const uint32_t *entries, uint64_t fs_base)
{
    struct record *records = block->step_records;
    for (unsigned i = 0; i < block->through_fs_count; i++) /* also those without an entry */
        records[block->through_fs[i]].address = block->records[block->through_fs[i]].address;
    executor_step_patch(block, entries);
    for (unsigned i = 0; i < block->through_fs_count; i++)
        records[block->through_fs[i]].address += (uint32_t)fs_base;
}

void executor_step_nowhere(struct executor *executor, const uint64_t *state,
                           const struct exit *exit)
{
    struct exec_thread *thread = executor->thread;
    memcpy(thread->registers, state, sizeof thread->registers);
    thread->rip = thread->jump;
    thread->flags = state[EXECUTOR_STATE_FLAGS];
    thread->fs_base = executor->fs_base = state[EXECUTOR_STATE_FS_BASE];
    executor->begun = true;
    if (executor_can_go(executor, exit)) /* kernel address; the whole block was executed */
        executor->stop = (struct executor_stop){.reason = EXECUTOR_BRANCH, .exit = exit};
}
