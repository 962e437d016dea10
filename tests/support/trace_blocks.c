#include "tests/support/trace_blocks.h"

#include "tests/support/random.h"

static void add_record(struct block *block, unsigned number, uint64_t *state)
{
    const uint64_t value = random_next(state);
    const bool fetch = number == 0 || (value >> 32 & 1);
    block->instructions += fetch;
    block->records[number] = (struct record){.address = (uint32_t)value,
                                             .type = fetch ? REQUEST_FETCH : REQUEST_MEMREAD,
                                             .size = (uint8_t)(value >> 33),
                                             .attribute = ATTRIBUTE_WRITE_BACK,
                                             .time = fetch};
    if (fetch && (number == 0 ? block->address : value >> 60 != 0))
        block->records[number].address = (uint32_t)block->address;
    if (fetch)
        block->address = block->records[number].address + block->records[number].size;
    if (value >> 42 & 1)
        block->patches[block->patch_count++] =
            (struct patch){.record = (uint16_t)number,
                           .slot = (uint16_t)(1 + (value >> 43) % (TRACE_BLOCKS_SLOTS - 1)),
                           .addend = value >> 50 & 1 ? (uint32_t)random_next(state) : 0};
    if ((value >> 51) % 8 == 0)
        block->through_fs[block->through_fs_count++] = (uint16_t)number;
}

/* `begin` is where the block's code begins; 0: anywhere. */
static void make_block(struct block *block, uint64_t begin, struct code_cache *cache,
                       uint64_t *state)
{
    const unsigned records =
        (unsigned)(random_next(state) % (random_next(state) % 4 ? 60 : 200) + 1);
    const uint64_t kind = random_next(state) % 8;
    *block = (struct block){
        .address = begin, .slots = TRACE_BLOCKS_SLOTS, .record_count = (uint16_t)records};
    block->records = code_cache_allocate(cache, records * sizeof *block->records);
    block->patches = code_cache_allocate(cache, records * sizeof *block->patches);
    block->through_fs = code_cache_allocate(cache, records * sizeof *block->through_fs);
    block->specials = code_cache_allocate(cache, 2 * sizeof *block->specials);
    for (unsigned i = 0; i < records; i++)
        add_record(block, i, state);
    for (unsigned i = 0; i < (kind == 0 ? 2u : kind == 1 ? 1u : 0u); i++) {
        struct special *special = &block->specials[block->special_count++];
        *special = (struct special){.record = (uint16_t)(records / 2 + i * (records - records / 2)),
                                    .slot = 1};
        special->accesses = 1;
        special->access[0] = (struct decode_access){.form = DECODE_REPEATED, .size = 4};
        if (i == 1)
            special->access[0] = (struct decode_access){
                .form = DECODE_OPMASK, .size = 64, .lanes = 16, .element = 4};
    }
    if (records < 2) /* no record before the repeated instruction's references */
        block->special_count = 0;
    code_cache_add_block(cache, block);
}

void trace_blocks_make(struct block *blocks, unsigned count, struct code_cache *cache,
                       uint64_t *state)
{
    for (unsigned i = 0; i < count; i++)
        make_block(&blocks[i], i % 4 ? (uint32_t)blocks[i - 1].address : 0, cache, state);
}

void trace_blocks_execute(uint32_t *entries, unsigned executions, unsigned count,
                          uint32_t repetitions_max, uint64_t *state)
{
    for (unsigned i = 0; i < executions * TRACE_BLOCKS_SLOTS; i++)
        entries[i] = (uint32_t)random_next(state);
    for (unsigned i = 0; i < executions; i++) {
        uint32_t *entry = entries + (size_t)i * TRACE_BLOCKS_SLOTS;
        entry[0] = (uint32_t)(random_next(state) % count);
        if (i > 0 && random_next(state) % 4)
            entry[0] = (entry[0 - (int)TRACE_BLOCKS_SLOTS] + 1) % count;
        entry[3] = entry[1] - (uint32_t)(random_next(state) % (repetitions_max + 1)); /* repeated */
    }
}
