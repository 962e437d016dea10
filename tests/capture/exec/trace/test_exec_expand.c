#include "capture/exec/trace/trace_compile.h"
#include "capture/exec/trace/trace_expand.h"
#include "tests/suites.h"
#include "tests/support/random.h"

#include <stdlib.h>
#include <string.h>

#define BLOCKS     40u
#define EXECUTIONS 4000u
#define SLOTS      24u
#define ROOM       200000u

struct output {
    struct record *records;
    size_t count;
};

static int take(void *context, struct record *records, size_t count)
{
    struct output *output = context;
    if (output->count + count > ROOM)
        return -1;
    memcpy(output->records + output->count, records, count * sizeof *records);
    output->count += count;
    return 0;
}

/* A block of random references, some of them through fs, some through entries, some through both;
 * one may be repeated. */
static void make_block(struct block *block, struct code_cache *cache, uint64_t *state)
{
    unsigned records = (unsigned)(random_next(state) % 60 + 1);
    *block = (struct block){.instructions = (uint16_t)(records / 2 + 1),
                            .slots = SLOTS,
                            .record_count = (uint16_t)records};
    block->records = code_cache_allocate(cache, records * sizeof *block->records);
    block->patches = code_cache_allocate(cache, records * sizeof *block->patches);
    block->through_fs = code_cache_allocate(cache, records * sizeof *block->through_fs);
    block->specials = code_cache_allocate(cache, sizeof *block->specials);
    for (unsigned i = 0; i < records; i++) {
        uint64_t value = random_next(state);
        block->records[i] = (struct record){.address = (uint32_t)value,
                                            .type = value >> 32 & 1 ? REQUEST_MEMREAD : 0,
                                            .size = (uint8_t)(value >> 33),
                                            .attribute = ATTRIBUTE_WRITE_BACK,
                                            .time = value >> 41 & 1};
        if (value >> 42 & 1)
            block->patches[block->patch_count++] =
                (struct patch){.record = (uint16_t)i,
                               .slot = (uint16_t)(1 + (value >> 43) % (SLOTS - 1)),
                               .addend = value >> 50 & 1 ? (uint32_t)random_next(state) : 0};
        if ((value >> 51) % 8 == 0)
            block->through_fs[block->through_fs_count++] = (uint16_t)i;
    }
    if (random_next(state) % 8 == 0) {
        struct special *special = &block->specials[block->special_count++];
        *special = (struct special){.record = (uint16_t)(records / 2), .slot = 1, .accesses = 1};
        special->access[0] = (struct decode_access){.form = DECODE_REPEATED, .size = 4};
    }
    code_cache_add_block(cache, block);
}

static void make_entries(uint32_t *entries, uint64_t *state)
{
    for (unsigned i = 0; i < EXECUTIONS * SLOTS; i++)
        entries[i] = (uint32_t)random_next(state);
    for (unsigned i = 0; i < EXECUTIONS; i++) {
        uint32_t *entry = entries + (size_t)i * SLOTS;
        entry[0] = (uint32_t)(random_next(state) % BLOCKS);
        entry[3] = entry[1] - (uint32_t)(random_next(state) % 100); /* repeated */
    }
}

/* In pieces, as a buffer may be full at any block. */
static void expand(struct trace_expander *expander, const uint32_t *entries, uint64_t seed)
{
    uint64_t state = seed;
    unsigned done = 0;
    while (done < EXECUTIONS) {
        unsigned count = (unsigned)(random_next(&state) % 500);
        if (count > EXECUTIONS - done)
            count = EXECUTIONS - done;
        CU_ASSERT_EQUAL_FATAL(
            trace_expand(expander, entries + (size_t)done * SLOTS, (size_t)count * SLOTS), 0);
        done += count;
        if (count % 3 == 0)
            CU_ASSERT_EQUAL(trace_expander_flush(expander), 0);
    }
    CU_ASSERT_EQUAL(trace_expander_flush(expander), 0);
}

static void compare(uint64_t seed, uint32_t *entries, struct output *outputs)
{
    uint64_t state = seed * 2 + 1;
    struct code_cache *cache = code_cache_new(1 << 20, NULL);
    struct trace_code *code = trace_code_new(1 << 20, cache);
    struct block *blocks = calloc(BLOCKS, sizeof *blocks);
    uint64_t instructions[2];
    CU_ASSERT_PTR_NOT_NULL_FATAL(cache);
    for (unsigned i = 0; i < BLOCKS; i++)
        make_block(&blocks[i], cache, &state);
    make_entries(entries, &state);
    for (unsigned way = 0; way < 2; way++) {
        size_t capacity = TRACE_EXPAND_RECORDS_MIN + random_next(&state) % 2000;
        struct trace_expander expander = {.cache = cache,
                                          .code = way == 0 ? NULL : code,
                                          .fs_base = seed * 0x12345678,
                                          .processor = (uint8_t)(seed % 5),
                                          .capacity = capacity,
                                          .records = malloc(capacity * sizeof(struct record)),
                                          .put = take,
                                          .context = &outputs[way]};
        outputs[way].count = 0;
        expand(&expander, entries, seed + 1);
        instructions[way] = expander.instructions;
        free(expander.records);
    }
    CU_ASSERT_EQUAL(instructions[0], instructions[1]);
    CU_ASSERT_EQUAL_FATAL(outputs[0].count, outputs[1].count);
    CU_ASSERT_EQUAL(
        memcmp(outputs[0].records, outputs[1].records, outputs[0].count * sizeof(struct record)),
        0);
    free(blocks);
    trace_code_free(code);
    code_cache_free(cache);
}

/* A block's code and the interpretation of its lists give the same records. */
static void test_code(void)
{
    uint32_t *entries = malloc(sizeof *entries * EXECUTIONS * SLOTS);
    struct output outputs[2] = {{malloc(ROOM * sizeof(struct record)), 0},
                                {malloc(ROOM * sizeof(struct record)), 0}};
    for (uint64_t seed = 0; seed < 60; seed++)
        compare(seed, entries, outputs);
    free(outputs[0].records);
    free(outputs[1].records);
    free(entries);
}

static const struct test_case cases[] = {{"code", test_code}, {NULL, NULL}};
TEST_SUITE(exec_expand, cases)
