#include "capture/exec/trace/trace_compile.h"
#include "capture/exec/trace/trace_expand.h"
#include "tests/suites.h"
#include "tests/support/random.h"
#include "tests/support/trace_blocks.h"

#include <stdlib.h>
#include <string.h>

#define BLOCKS     40u
#define EXECUTIONS 4000u
#define SLOTS      TRACE_BLOCKS_SLOTS
#define ROOM       400000u

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
    trace_blocks_make(blocks, BLOCKS, cache, &state);
    trace_blocks_execute(entries, EXECUTIONS, BLOCKS, 99, &state);
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

/* All in pieces, with a capacity that changes, and repetitions that fill it many times. */
static void expand_some(struct trace_expander *expander, const uint32_t *entries,
                        struct output *output, uint64_t seed)
{
    uint64_t state = seed;
    size_t done = 0;
    while (done < EXECUTIONS * SLOTS) {
        size_t count = random_next(&state) % 200 * SLOTS;
        if (count > EXECUTIONS * SLOTS - done)
            count = EXECUTIONS * SLOTS - done;
        for (size_t part = 0; part < count;) {
            expander->count = 0;
            expander->capacity = TRACE_EXPAND_SOME_MIN + random_next(&state) % 2000;
            part += trace_expand_some(expander, entries + done + part, count - part);
            CU_ASSERT_FATAL(expander->count <= expander->capacity);
            CU_ASSERT_EQUAL_FATAL(take(output, expander->records, expander->count), 0);
        }
        done += count;
    }
}

static void compare_some(uint64_t seed, uint32_t *entries, struct output *outputs)
{
    uint64_t state = seed * 2 + 1;
    struct code_cache *cache = code_cache_new(1 << 20, NULL);
    struct block *blocks = calloc(BLOCKS, sizeof *blocks);
    trace_blocks_make(blocks, BLOCKS, cache, &state);
    trace_blocks_execute(entries, EXECUTIONS, BLOCKS, 20, &state);
    for (unsigned i = 0; i < 20; i++) /* some repetitions exceed the capacity */
        entries[random_next(&state) % EXECUTIONS * SLOTS + 3] -=
            (uint32_t)random_next(&state) % 5000;
    struct trace_expander expander = {.cache = cache,
                                      .fs_base = seed * 0x12345678,
                                      .processor = (uint8_t)(seed % 5),
                                      .repetitions = seed % 2,
                                      .capacity = 5000,
                                      .records = malloc(5100 * sizeof(struct record)),
                                      .put = take,
                                      .context = &outputs[0]};
    struct trace_expander some = expander;
    some.put = NULL;
    some.code = seed % 3 == 0 ? NULL : trace_code_new(1 << 20, cache);
    outputs[0].count = outputs[1].count = 0;
    CU_ASSERT_EQUAL(trace_expand(&expander, entries, EXECUTIONS * SLOTS), 0);
    CU_ASSERT_EQUAL(trace_expander_flush(&expander), 0);
    expand_some(&some, entries, &outputs[1], seed);
    CU_ASSERT_EQUAL(expander.instructions, some.instructions);
    CU_ASSERT_EQUAL_FATAL(outputs[0].count, outputs[1].count);
    CU_ASSERT_EQUAL(
        memcmp(outputs[0].records, outputs[1].records, outputs[0].count * sizeof(struct record)),
        0);
    trace_code_free(some.code);
    free(expander.records);
    free(blocks);
    code_cache_free(cache);
}

/* An expansion that stops and continues, also within executions, gives the same records. */
static void test_some(void)
{
    uint32_t *entries = malloc(sizeof *entries * EXECUTIONS * SLOTS);
    struct output outputs[2] = {{malloc(ROOM * sizeof(struct record)), 0},
                                {malloc(ROOM * sizeof(struct record)), 0}};
    for (uint64_t seed = 1; seed <= 30; seed++)
        compare_some(seed, entries, outputs);
    free(outputs[0].records);
    free(outputs[1].records);
    free(entries);
}

/* Takes the first records, and no more. */
static int take_first(void *context, struct record *records, size_t count)
{
    struct record *first = context;
    memcpy(first, records, (count < 2 ? count : 2) * sizeof *first);
    return BT_CLOSED;
}

/* The direction of a repeated string instruction, of any length up to the whole address space. */
static void test_repeated_direction(void)
{
    static const struct {
        uint32_t pointer, bytes;
        bool down;
    } runs[] = {{0x10000000, 8, false},          {0x10000000, 8, true},
                {0x10000000, 0x7ffffff8, false}, {0x8ffffff0, 0x7ffffff8, true},
                {0x10000000, 0x80000000, false}, {0x8ffffff0, 0x80000000, true},
                {0x80000000, 0x80000000, false}, {0xfffffff8, 0x80000000, true},
                {0x10000000, 0x80001008, false}, {0x8fffff00, 0x80001008, true},
                {0x00010000, 0xf0000000, false}, {0xfffff000, 0xf0000000, true}};
    for (size_t i = 0; i < 2 * sizeof runs / sizeof *runs; i++) {
        const size_t n = i / 2;
        struct special special = {.write = true,
                                  .accesses = 1,
                                  .access = {{.form = DECODE_REPEATED, .write = true, .size = 8}}};
        const uint32_t times = runs[n].bytes / 8;
        const uint32_t entries[] = {times + 5, runs[n].pointer, 5,
                                    runs[n].down ? runs[n].pointer - runs[n].bytes
                                                 : runs[n].pointer + runs[n].bytes};
        struct record first[2] = {{.address = 0}, {.address = 0}};
        struct trace_expander expander = {.repetitions = i % 2 == 1,
                                          .capacity = TRACE_EXPAND_RECORDS_MIN,
                                          .put = take_first,
                                          .context = first};
        expander.records = calloc(expander.capacity, sizeof *expander.records);
        expander.count = i % 2; /* the fetch of the instruction */
        CU_ASSERT_EQUAL(trace_goes_backwards(&special, entries), runs[n].down);
        const int result = trace_special(&expander, &special, entries);
        CU_ASSERT_EQUAL(result, times == 1 ? 0 : BT_CLOSED);
        if (result == 0)
            (void)trace_expander_flush(&expander);
        CU_ASSERT_EQUAL(first[i % 2].address, runs[n].pointer);
        if (i % 2 == 0 && times > 1)
            CU_ASSERT_EQUAL(first[1].address, runs[n].pointer + (runs[n].down ? -8u : 8u));
        free(expander.records);
    }
}

static const struct test_case cases[] = {{"code", test_code},
                                         {"in parts", test_some},
                                         {"the direction of repetitions", test_repeated_direction},
                                         {NULL, NULL}};
TEST_SUITE(exec_expand, cases)
