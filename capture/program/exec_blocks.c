#include "capture/program/exec_blocks.h"

#include "capture/exec/dispatch/executor.h"
#include "capture/exec/trace/trace_compile.h"

#include <string.h>

/* Takes as many blocks as the program's process. */
static int begin(struct exec_blocks *blocks, struct bt_error *error)
{
    blocks->cache = code_cache_new(EXECUTOR_CACHE_BYTES, error);
    if (!blocks->cache)
        return BT_MEMORY;
    blocks->code = trace_code_new(EXECUTOR_CACHE_BYTES, blocks->cache);
    return 0;
}

void exec_blocks_free(struct exec_blocks *blocks)
{
    trace_code_free(blocks->code);
    code_cache_free(blocks->cache);
}

/* Copies a list of the description, and moves *from to its end. */
static void *copy(struct exec_blocks *blocks, const uint8_t **from, size_t bytes)
{
    void *list = code_cache_allocate(blocks->cache, bytes);
    if (list && bytes > 0)
        memcpy(list, *from, bytes);
    *from += bytes;
    return list;
}

/* Whether all numbers within the block's lists are valid. */
static bool is_sound(const struct block *block)
{
    bool sound = block->slots > 0 && block->slots <= CODE_CACHE_SLOTS &&
                 block->record_count <= TRACE_EXPAND_RECORDS_MIN;
    for (unsigned i = 0; i < block->patch_count; i++)
        sound &=
            block->patches[i].record < block->record_count && block->patches[i].slot < block->slots;
    for (unsigned i = 0; i < block->through_fs_count; i++)
        sound &= block->through_fs[i] < block->record_count;
    for (unsigned i = 0; i < block->special_count; i++)
        sound &= block->specials[i].record <= block->record_count &&
                 (i == 0 || block->specials[i].record >= block->specials[i - 1].record) &&
                 block->specials[i].slot < block->slots && block->specials[i].accesses <= 2;
    return sound;
}

int exec_blocks_add(struct exec_blocks *blocks, const void *description, size_t bytes,
                    struct bt_error *error)
{
    const uint8_t *from = description;
    struct exec_block numbers;
    if (!blocks->cache && begin(blocks, error) < 0)
        return BT_MEMORY;
    struct block *block = code_cache_allocate(blocks->cache, sizeof *block);
    if (!block || code_cache_add_block(blocks->cache, block) != 0)
        return bt_fail(error, BT_MEMORY, "no memory for the program's blocks");
    memcpy(&numbers, from, sizeof numbers);
    from += sizeof numbers;
    if (bytes != sizeof numbers + numbers.records * sizeof *block->records +
                     numbers.patches * sizeof *block->patches +
                     numbers.specials * sizeof *block->specials +
                     numbers.through_fs * sizeof *block->through_fs)
        return bt_fail(error, BT_DEVICE, "the program has overwritten bustap's memory");
    block->instructions = numbers.instructions;
    block->slots = numbers.slots;
    block->record_count = numbers.records;
    block->patch_count = numbers.patches;
    block->special_count = numbers.specials;
    block->through_fs_count = numbers.through_fs;
    block->records = copy(blocks, &from, numbers.records * sizeof *block->records);
    block->patches = copy(blocks, &from, numbers.patches * sizeof *block->patches);
    block->specials = copy(blocks, &from, numbers.specials * sizeof *block->specials);
    block->through_fs = copy(blocks, &from, numbers.through_fs * sizeof *block->through_fs);
    if (!block->records || !block->patches || !block->specials || !block->through_fs)
        return bt_fail(error, BT_MEMORY, "no memory for the program's blocks");
    return is_sound(block) ? 0
                           : bt_fail(error, BT_DEVICE,
                                     "the program has overwritten bustap's "
                                     "memory");
}

void exec_blocks_forget(struct exec_blocks *blocks)
{
    if (blocks->cache)
        code_cache_flush(blocks->cache);
    if (blocks->code)
        trace_code_forget(blocks->code);
}
