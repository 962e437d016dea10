/*
 * executor_run()'s short way when stepping: from one branch to the next, in a block that is there,
 * where there is nothing to look out for. In a header, because calls would be a good part of it.
 */
#ifndef CAPTURE_EXEC_DISPATCH_EXECUTOR_STEP_H
#define CAPTURE_EXEC_DISPATCH_EXECUTOR_STEP_H

#include "capture/exec/dispatch/executor_state.h"
#include "capture/exec/dispatch/trampoline.h"
#include "capture/exec/translate/vector_state.h"

enum executor_stepped {
    EXECUTOR_STEP_DONE,
    EXECUTOR_STEP_NOT,  /* nothing has happened: it is for executor_run() */
    EXECUTOR_STEP_BEGUN /* it was left in its middle, with the thread as it was there; *state is as
                           before. executor_run() goes on, and has the records of what was done */
};

/* What a step has executed. */
struct executor_step {
    const struct block *block; /* has the records, record_count of them, in step_records, until the
                                  next step or run; they have not been put */
    const struct exit *exit;   /* of the block: the branch that it ended with */
};

enum {
    EXECUTOR_STATE_RIP = EXEC_THREAD_RIP / 8,
    EXECUTOR_STATE_FLAGS = EXEC_THREAD_FLAGS / 8,
    EXECUTOR_STATE_FS_BASE = EXEC_THREAD_FS_BASE / 8
};

#define EXECUTOR_ADDRESS_BITS 47 /* of a program's addresses */

/* Gives a block its step_records if it can be executed so. */
bool executor_step_prepare(const struct executor *executor, struct block *block);

/* Writes the current processor to a block's step_records. */
void executor_step_set_processor(const struct executor *executor, struct block *block);

/* Behind executor_step_patch(), for blocks that use fs: adds the base to addresses that go through
 * it. */
void executor_step_through_fs(const struct block *block, const uint32_t *entries, uint64_t fs_base);

/* A block's last branch goes to where no program's code can be. The processor does it if the
 * address is canonical, and fails there; else at the branch. executor_run() tells which it was. */
void executor_step_nowhere(struct executor *executor, const uint64_t *state,
                           const struct exit *exit);

/* What the entries tell into the records. */
static inline void executor_step_patch(const struct block *block, const uint32_t *entries)
{
    const struct patch *patch = block->patches, *end = patch + block->patch_count;
    struct record *records = block->step_records;
    for (; patch < end; patch++)
        records[patch->record].address = entries[patch->slot] + patch->addend;
}

/*
 * Registers, rip, flags and the base of fs, which must be a user's address, are those of *state, in
 * the order of struct exec_thread, and left there; so is its vector state, which the thread has
 * instead of its own when this returns, if it needed one. There must be no limit.
 */
static inline enum executor_stepped executor_step(struct executor *executor, uint64_t *state,
                                                  uint8_t *vector,
                                                  const struct vector_layout *layout,
                                                  struct executor_step *step)
{
    struct exec_thread *thread = executor->thread;
    const uint32_t *entries = (const uint32_t *)(const void *)executor->buffer;
    struct block *block = code_cache_find_in(executor->hash, state[EXECUTOR_STATE_RIP]);
    if (!executor->steps || !block ||
        (state[EXECUTOR_STATE_FLAGS] & ~(uint64_t)EXEC_STEP_RESULTS) != EXEC_STEP_FLAGS ||
        (!block->step_records && !executor_step_prepare(executor, block)))
        return EXECUTOR_STEP_NOT;
    executor->faulted = false;
    thread->exit = EXEC_NOT_ENTERED;
    if (block->vector) {
        vector_state_normalize(layout, vector);
        thread->vector = vector;
    }
    exec_step(thread, block->code, state, block->fs, block->vector);
    if (thread->exit == EXEC_NOT_ENTERED) {
        if (!executor->faulted)
            return EXECUTOR_STEP_NOT;
        thread->fs_base = executor->fs_base = state[EXECUTOR_STATE_FS_BASE];
        executor->begun = true;
        return EXECUTOR_STEP_BEGUN;
    }
    const struct exit *exit = &block->exits[thread->exit - block->first_exit];
    if (exit->kind == EXIT_INDIRECT && thread->jump >> EXECUTOR_ADDRESS_BITS != 0) {
        executor_step_nowhere(executor, state, exit);
        return EXECUTOR_STEP_BEGUN;
    }
    state[EXECUTOR_STATE_RIP] = exit->kind == EXIT_INDIRECT ? thread->jump : exit->target;
    thread->pointer = (uint64_t)(uintptr_t)entries;
    executor_step_patch(block, entries);
    if (block->step_processor != executor->expander.processor)
        executor_step_set_processor(executor, block);
    if (block->through_fs_count > 0)
        executor_step_through_fs(block, entries, state[EXECUTOR_STATE_FS_BASE]);
    executor->expander.instructions += block->instructions;
    step->block = block;
    step->exit = exit;
    return EXECUTOR_STEP_DONE;
}

#endif
