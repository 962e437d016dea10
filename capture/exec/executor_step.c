#include "capture/exec/enter.h"
#include "capture/exec/executor_parts.h"

#include <string.h>

enum { STATE_RIP = EXEC_THREAD_RIP / 8, STATE_FLAGS = EXEC_THREAD_FLAGS / 8, STATE_FS_BASE };

_Static_assert(STATE_FS_BASE == EXEC_THREAD_FS_BASE / 8, "in this order");

/* Where the records of steps are, with all that is the same each time. False: no memory. */
static bool make_records(const struct executor *executor, struct block *block)
{
    size_t bytes = block->record_count * sizeof(struct record);
    block->step_records = code_cache_allocate(executor->cache, bytes);
    if (block->step_records)
        memcpy(block->step_records, block->records, bytes);
    return block->step_records;
}

/* A block that is executed in one go, and ends with a branch. */
static bool is_usual(const struct executor *executor, struct block *block)
{
    const struct exec_thread *thread = executor->thread;
    return !block->vector && !block->looks && block->special_count == 0 &&
           block->ending >= DECODE_JUMP && block->ending <= DECODE_CALL_INDIRECT &&
           !(block->fs && thread->fs_by_system) &&
           (block->step_records || make_records(executor, block));
}

/* What the entries tell into the records. */
static void patch(const struct block *block, const uint32_t *entries, uint64_t fs_base)
{
    struct record *records = block->step_records;
    if (block->through_fs_count > 0)
        memcpy(records, block->records, block->record_count * sizeof *records);
    for (unsigned i = 0; i < block->patch_count; i++) {
        const struct patch *one = &block->patches[i];
        records[one->record].address = entries[one->slot] + one->addend;
    }
    for (unsigned i = 0; i < block->through_fs_count; i++)
        records[block->through_fs[i]].address += (uint32_t)fs_base;
}

enum executor_stepped executor_step(struct executor *executor, uint64_t *state,
                                    struct executor_step *step)
{
    struct exec_thread *thread = executor->thread;
    struct block *block = code_cache_find(executor->cache, state[STATE_RIP]);
    if (!block || !is_usual(executor, block) || !executor->settings.stepping || executor->stop_at ||
        executor->worker || executor->expander.take ||
        executor->settings.trace == EXEC_TRACE_NONE ||
        (state[STATE_FLAGS] & ~(uint64_t)EXEC_STEP_RESULTS) != EXEC_STEP_FLAGS)
        return EXECUTOR_STEP_NOT;
    executor->faulted = false;
    exec_step(thread, block->code, state, block->fs);
    if (executor->faulted) {
        thread->fs_base = executor->fs_base = state[STATE_FS_BASE];
        executor->begun = true;
        return EXECUTOR_STEP_BEGUN;
    }
    if (thread->exit == EXEC_NOT_ENTERED)
        return EXECUTOR_STEP_NOT;
    const struct exit *exit = &block->exits[thread->exit - block->first_exit];
    state[STATE_RIP] = exit->kind == EXIT_INDIRECT ? thread->jump : exit->target;
    thread->pointer = (uint64_t)(uintptr_t)executor->buffer;
    patch(block, (const uint32_t *)(const void *)executor->buffer, state[STATE_FS_BASE]);
    executor->expander.instructions += block->instructions;
    executor->records += block->record_count;
    *step = (struct executor_step){.exit = exit,
                                   .records = block->step_records,
                                   .record_count = block->record_count,
                                   .instructions = block->instructions};
    return EXECUTOR_STEP_DONE;
}
