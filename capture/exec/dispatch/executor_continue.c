/* What is done for a new block so that translated code is left less often. */
#include "capture/exec/dispatch/executor_state.h"

/* Blocks translated at a time. More are too often not executed: of 1, 4 and 16, 4 is the fastest
 * for cc1, python3 and sqlite3. */
#define AHEAD 4u

void executor_remember(struct executor *executor, struct block *block)
{
    const uint8_t *arrival;
    if (executor_has_pointer(executor))
        exec_thread_remember(executor->thread, block->address, block->indirect);
    else if ((arrival = translate_arrival(executor->translator, block)))
        exec_thread_arrive(executor->thread, block->address, arrival);
}

static void link_to(const struct executor *executor, struct exit *exit)
{
    struct block *to = exit->jump ? code_cache_find(executor->cache, exit->target) : NULL;
    if (to && !to->breakpoint)
        code_cache_link(exit, to);
}

static bool is_call(const struct block *block)
{
    return block->ending == DECODE_CALL || block->ending == DECODE_CALL_INDIRECT;
}

/* Translates the block after a conditional branch or a call: after the latter it is entered by a
 * return. NULL: there is none, or it exists. */
static struct block *translate_next(struct executor *executor, const struct block *block)
{
    const uint64_t address = block->address + block->size;
    if (!(is_call(block) || block->ending == DECODE_CONDITIONAL) || block->verify_code ||
        !code_cache_has_room(executor->cache) || code_cache_find(executor->cache, address) ||
        address == executor->breakpoint || executor_readable(executor, address) == 0)
        return NULL;
    struct block *next = translate(executor->translator, address, 0, is_call(block) ? NULL : block);
    if (!next)
        return NULL;
    code_cache_enter(executor->cache, next);
    if (is_call(block) && !next->breakpoint)
        executor_remember(executor, next);
    return next;
}

void executor_continue(struct executor *executor, struct block *block)
{
    const bool goes_on =
        !executor_has_pointer(executor) && !executor->settings.operations->translated;
    for (unsigned i = 0; block; i++) {
        struct block *next = goes_on && i < AHEAD ? translate_next(executor, block) : NULL;
        for (unsigned j = 0; j < block->exit_count; j++)
            link_to(executor, &block->exits[j]);
        block = next;
    }
}
