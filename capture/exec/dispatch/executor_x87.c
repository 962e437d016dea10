/* The address of the last x87 instruction, which the processor records as an address in the code
 * cache. */
#include "capture/exec/dispatch/executor_state.h"

#include <string.h>

#define ENVIRONMENT_POINTER 12  /* in the environment that fnstenv stores */
#define X87_POINTER         8   /* offset in the vector area */
#define XSTATE_BV           512 /* offset of the components in use */

/* The program's address of an instruction in a code cache; other addresses are returned unchanged.
 */
static uint64_t address_of(const struct executor *executor, uint64_t place)
{
    const uint8_t *code = (const uint8_t *)(uintptr_t)place;
    for (unsigned side = 0; side < EXEC_SIDES; side++) {
        const struct code_cache *cache = executor->sides[side].cache;
        const struct block *block =
            cache && code_cache_holds(cache, code) ? code_cache_at(cache, code) : NULL;
        if (block)
            return block->address +
                   block->pc_map[executor_pc_map_find(block, (unsigned)(code - block->code))]
                       .offset;
    }
    return place;
}

void executor_settle_x87(struct executor *executor)
{
    uint8_t *area = executor->thread->vector;
    uint64_t pointer;
    if (!(area[XSTATE_BV] & 1))
        return;
    memcpy(&pointer, area + X87_POINTER, sizeof pointer);
    pointer = address_of(executor, pointer);
    memcpy(area + X87_POINTER, &pointer, sizeof pointer);
}

/* The environment has the low 32 bits of the pointer; the high ones are the block's. On some
 * processors (Intel's), the block's fldenv has cut the pointer in the thread's state, too. */
void executor_settle_environment(struct executor *executor, const struct block *block)
{
    uint8_t *at = executor->thread->x87_environment + ENVIRONMENT_POINTER;
    uint8_t *state = executor->thread->vector + X87_POINTER;
    uint64_t near = (uint64_t)(uintptr_t)block->code, pointer;
    uint32_t low;
    memcpy(&low, at, sizeof low);
    memcpy(&pointer, state, sizeof pointer);
    uint64_t place = near + (uint64_t)(int64_t)(int32_t)(low - (uint32_t)near);
    uint64_t address = address_of(executor, place);
    if (pointer == low && address != place)
        memcpy(state, &address, sizeof address);
    executor_settle_x87(executor);
    low = (uint32_t)address;
    memcpy(at, &low, sizeof low);
    executor->thread->x87_unsettled = 0;
}
