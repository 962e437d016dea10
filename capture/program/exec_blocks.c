#include "capture/program/exec_blocks.h"

#include "capture/exec/dispatch/executor.h"
#include "capture/exec/trace/trace_compile.h"

#include <string.h>

/* Of accesses by a mask. */
#define LANES_MAX   64u
#define ELEMENT_MAX 64u

/* Takes as many blocks as the program's process. */
static int begin(struct exec_blocks *blocks, struct bt_error *error)
{
    blocks->cache = code_cache_new(EXECUTOR_CACHE_BYTES, error);
    if (!blocks->cache)
        return BT_MEMORY;
    blocks->code = trace_code_new(EXECUTOR_CACHE_BYTES, blocks->cache);
    if (blocks->feeds)
        blocks->table = block_table_new();
    return blocks->feeds && !blocks->table ? BT_MEMORY : 0;
}

void exec_blocks_free(struct exec_blocks *blocks)
{
    trace_code_free(blocks->code);
    code_cache_free(blocks->cache);
    block_table_leave(blocks->table);
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

static bool goes_through_fs(const struct block *block, unsigned record)
{
    for (unsigned i = 0; i < block->through_fs_count; i++)
        if (block->through_fs[i] == record)
            return true;
    return false;
}

/* The addresses that change, by record; `addresses` has room for one each. Returns their number. */
static unsigned list_addresses(const struct block *block, struct table_address *addresses)
{
    const struct patch *by_record[TRACE_EXPAND_RECORDS_MIN] = {NULL};
    unsigned count = 0;
    for (unsigned i = 0; i < block->patch_count; i++)
        by_record[block->patches[i].record] = &block->patches[i];
    for (unsigned i = 0; i < block->record_count; i++) {
        const struct patch *patch = by_record[i];
        const bool through_fs = goes_through_fs(block, i);
        if (patch || through_fs)
            addresses[count++] =
                (struct table_address){.record = (uint16_t)i,
                                       .addend = patch ? patch->addend : block->records[i].address,
                                       .word = patch ? patch->slot : 0,
                                       .through_fs = through_fs};
    }
    return count;
}

/* Adds a sound block to the table. 0 or BT_MEMORY. */
static int add_to_table(struct exec_blocks *blocks, const struct block *block)
{
    struct table_address addresses[TRACE_EXPAND_RECORDS_MIN];
    struct table_description description = {.records = block->records,
                                            .record_count = block->record_count,
                                            .words = block->slots,
                                            .instructions = block->instructions};
    if (block->special_count == 0) {
        description.addresses = addresses;
        description.address_count = list_addresses(block, addresses);
    }
    return block_table_add(blocks->table, &description);
}

static bool is_bool(const bool *value)
{
    uint8_t byte;
    memcpy(&byte, value, sizeof byte);
    return byte <= 1;
}

/* Whether trace_special.c can expand the access, with a bounded number of records. */
static bool is_sound_access(const struct decode_access *access)
{
    return is_bool(&access->write) && is_bool(&access->fs) && is_bool(&access->read) &&
           is_bool(&access->narrow) && access->lanes <= LANES_MAX && access->element > 0 &&
           access->element <= ELEMENT_MAX && access->size >= access->element &&
           access->index_size <= sizeof(uint64_t);
}

static bool is_sound_special(const struct block *block, unsigned number)
{
    const struct special *special = &block->specials[number];
    const struct decode_access *access = special->access;
    const unsigned before = number > 0 ? special[-1].record : 0;
    if (special->record > block->record_count || special->record < before || special->slot == 0 ||
        special->slot >= block->slots || !is_bool(&special->write))
        return false;
    switch (access->form) {
    case DECODE_REPEATED: /* its fetch precedes it */
        return special->record > before && special->accesses >= 1 && special->accesses <= 2 &&
               is_bool(&access[0].write) && is_bool(&access[0].fs) && is_bool(&access[1].write) &&
               is_bool(&access[1].fs);
    case DECODE_BITS:
        return access->index_size > 0 && is_bool(&access->fs);
    case DECODE_TABLE:
    case DECODE_FRAMES:
    case DECODE_XSAVE:
        return is_bool(&access->fs);
    default:
        return is_sound_access(access);
    }
}

/* Whether it is one that the translator makes: marks and processor are added later. */
static bool is_sound_record(const struct record *record)
{
    return record->processor == 0 && !(record->attribute & (ATTRIBUTE_EVENT | ATTRIBUTE_PART));
}

/* Marks a record. False: there is none with this number, or it was marked before. */
static bool mark(bool *marks, unsigned number, unsigned count)
{
    if (number >= count || marks[number])
        return false;
    return marks[number] = true;
}

/* Whether all numbers within the block's lists are valid. */
static bool is_sound(const struct block *block)
{
    bool patched[TRACE_EXPAND_RECORDS_MIN] = {false},
         through_fs[TRACE_EXPAND_RECORDS_MIN] = {false};
    bool sound = block->slots > 0 && block->slots <= CODE_CACHE_SLOTS &&
                 block->record_count <= TRACE_EXPAND_RECORDS_MIN;
    for (unsigned i = 0; i < block->record_count && sound; i++)
        sound = is_sound_record(&block->records[i]);
    for (unsigned i = 0; i < block->patch_count && sound; i++)
        sound = mark(patched, block->patches[i].record, block->record_count) &&
                block->patches[i].slot > 0 && block->patches[i].slot < block->slots;
    for (unsigned i = 0; i < block->through_fs_count && sound; i++)
        sound = mark(through_fs, block->through_fs[i], block->record_count);
    for (unsigned i = 0; i < block->special_count; i++)
        sound &= is_sound_special(block, i);
    return sound;
}

int exec_overwritten(struct bt_error *error)
{
    return bt_fail(error, BT_DEVICE, "the program has overwritten bustap's memory");
}

int exec_blocks_add(struct exec_blocks *blocks, const void *description, size_t bytes,
                    struct bt_error *error)
{
    const uint8_t *from = description;
    struct exec_block numbers;
    if (bytes < sizeof numbers)
        return exec_overwritten(error);
    if (!blocks->cache && begin(blocks, error) < 0)
        return bt_fail(error, BT_MEMORY, "no memory for the program's blocks");
    struct block *block = code_cache_allocate(blocks->cache, sizeof *block);
    if (!block || code_cache_add_block(blocks->cache, block) != 0)
        return bt_fail(error, BT_MEMORY, "no memory for the program's blocks");
    memcpy(&numbers, from, sizeof numbers);
    from += sizeof numbers;
    if (bytes != sizeof numbers + numbers.records * sizeof *block->records +
                     numbers.patches * sizeof *block->patches +
                     numbers.specials * sizeof *block->specials +
                     numbers.through_fs * sizeof *block->through_fs)
        return exec_overwritten(error);
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
    if (!is_sound(block))
        return exec_overwritten(error);
    if (blocks->table && add_to_table(blocks, block) != 0)
        return bt_fail(error, BT_MEMORY, "no memory for the program's blocks");
    return 0;
}

int exec_blocks_forget(struct exec_blocks *blocks, struct bt_error *error)
{
    if (blocks->cache)
        code_cache_flush(blocks->cache);
    if (blocks->code)
        trace_code_forget(blocks->code);
    if (!blocks->table)
        return 0;
    block_table_leave(blocks->table);
    blocks->table = block_table_new();
    return blocks->table ? 0 : bt_fail(error, BT_MEMORY, "no memory for the program's blocks");
}
