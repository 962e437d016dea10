/*
 * The fast path of executor_run() when stepping: executes one translated block that ends with a
 * branch. Inline, because calls would be a large part of its cost.
 */
#ifndef CAPTURE_EXEC_DISPATCH_EXECUTOR_STEP_H
#define CAPTURE_EXEC_DISPATCH_EXECUTOR_STEP_H

#include "capture/exec/dispatch/executor_state.h"
#include "capture/exec/dispatch/trampoline.h"
#include "capture/exec/translate/vector_state.h"

enum executor_stepped {
    EXECUTOR_STEP_DONE,
    EXECUTOR_STEP_NOT,  /* not possible, and nothing was executed: call executor_run() */
    EXECUTOR_STEP_BEGUN /* stopped in the middle of the block; the thread has the state, *state is
                           unchanged. executor_run() continues, and puts the records */
};

/* Result of a step. */
struct executor_step {
    const struct block *block; /* executed block. Its record_count records are in step_records,
                                  valid until the next step or run; they have not been put */
    const struct exit *exit;   /* exit of the block: the branch taken */
};

enum {
    EXECUTOR_STATE_RIP = EXEC_THREAD_RIP / 8,
    EXECUTOR_STATE_FLAGS = EXEC_THREAD_FLAGS / 8,
    EXECUTOR_STATE_FS_BASE = EXEC_THREAD_FS_BASE / 8
};

#define EXECUTOR_ADDRESS_BITS 47 /* significant bits of a program's address */

/* Allocates a block's step_records if executor_step() can execute the block. */
bool executor_step_prepare(const struct executor *executor, struct block *block);

/* Writes the current processor to a block's step_records. */
void executor_step_set_processor(const struct executor *executor, struct block *block);

/* After executor_step_patch(), for blocks that use fs: adds the base to addresses through fs. */
void executor_step_through_fs(const struct block *block, const uint32_t *entries, uint64_t fs_base);

/* The target of a block's last branch is not a user address. If it is canonical, the processor
 * executes the branch and faults at the target, else at the branch. executor_run() reports which.
 */
void executor_step_nowhere(struct executor *executor, const uint64_t *state,
                           const struct exit *exit);

/* Writes the addresses from the entries to the records. */
static inline void executor_step_patch(const struct block *block, const uint32_t *entries)
{
    const struct patch *patch = block->patches, *end = patch + block->patch_count;
    struct record *records = block->step_records;
    for (; patch < end; patch++)
        records[patch->record].address = entries[patch->slot] + patch->addend;
}

/*
 * Executes one block. Registers, rip, flags and the base of fs, which must be a user address, are
 * read from *state, in the order of struct exec_thread, and written back; likewise the vector
 * state, to which the thread's `vector` then points if the block uses it. No limit may be set.
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
    enum exec_step_vector vector_use = EXEC_STEP_NO_VECTOR;
    if (block->vector) {
        vector_state_normalize(layout, vector);
        thread->vector = vector;
        vector_use = block->beyond_sse || !vector_state_has_sse(vector) ? EXEC_STEP_ALL_VECTOR
                                                                        : EXEC_STEP_SSE;
    }
    exec_step(thread, block->code, state, block->fs, vector_use);
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
