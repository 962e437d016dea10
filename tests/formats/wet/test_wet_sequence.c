/* Sequences of blocks: what is predicted takes no space, and what is read is what was put. */
#include "formats/wet/wet_sequence.h"
#include "tests/suites.h"
#include "tests/support/random.h"

#include <string.h>

#define NUMBERS 2000u
#define THREADS 2u

struct blocks {
    unsigned count;
    uint32_t largest;
    uint32_t numbers[NUMBERS];
    unsigned threads[NUMBERS];
};

static struct wet_bytes write_blocks(const struct blocks *blocks)
{
    struct wet_sequence sequence = {.by_context = NULL};
    struct wet_context contexts[THREADS] = {{.before = {0}}};
    struct wet_bytes bytes = {.bytes = NULL};
    CU_ASSERT_EQUAL_FATAL(wet_sequence_init(&sequence), 0);
    CU_ASSERT_EQUAL_FATAL(wet_sequence_reserve(&sequence, blocks->largest), 0);
    for (unsigned i = 0; i < blocks->count; i++)
        wet_sequence_put(&sequence, &contexts[blocks->threads[i]], blocks->numbers[i], &bytes);
    CU_ASSERT_EQUAL(wet_sequence_finish(&sequence, &bytes), 0);
    wet_sequence_clear(&sequence);
    return bytes;
}

/* Number of blocks that are read as they were put. */
static unsigned read_blocks(const struct blocks *blocks, const struct wet_bytes *bytes)
{
    struct wet_sequence sequence = {.by_context = NULL};
    struct wet_context contexts[THREADS] = {{.before = {0}}};
    struct wet_cursor from = {.at = bytes->bytes, .end = bytes->bytes + bytes->size};
    unsigned same = 0;
    CU_ASSERT_EQUAL_FATAL(wet_sequence_init(&sequence), 0);
    for (unsigned i = 0; i < blocks->count; i++) {
        uint32_t number = 0;
        same += wet_sequence_get(&sequence, &contexts[blocks->threads[i]], blocks->largest, &from,
                                 &number) == 0 &&
                number == blocks->numbers[i];
    }
    CU_ASSERT(from.at == from.end);
    wet_sequence_clear(&sequence);
    return same;
}

static void test_loop(void)
{
    static struct blocks blocks = {.count = NUMBERS, .largest = 40};
    for (unsigned i = 0; i < NUMBERS; i++)
        blocks.numbers[i] = 1 + i % 40;
    struct wet_bytes bytes = write_blocks(&blocks);
    CU_ASSERT(bytes.size < 140); /* two bytes a number in the first round */
    CU_ASSERT_EQUAL(read_blocks(&blocks, &bytes), NUMBERS);
    free(bytes.bytes);
}

static void test_random_sequences(void)
{
    static struct blocks blocks;
    unsigned different = 0;
    for (uint64_t seed = 1; seed <= 100; seed++) {
        uint64_t random = random_seed(seed);
        blocks.count = 1 + (unsigned)random_below(&random, NUMBERS);
        blocks.largest = random_below(&random, 4) ? 20 : UINT32_C(1) << 20;
        for (unsigned i = 0; i < blocks.count; i++) {
            blocks.threads[i] = (unsigned)random_below(&random, THREADS);
            blocks.numbers[i] = i > 30 && random_below(&random, 10)
                                    ? blocks.numbers[i - 30]
                                    : (uint32_t)random_below(&random, blocks.largest + 1);
        }
        struct wet_bytes bytes = write_blocks(&blocks);
        different += blocks.count - read_blocks(&blocks, &bytes);
        free(bytes.bytes);
    }
    CU_ASSERT_EQUAL(different, 0);
}

static void test_other_bytes(void)
{
    unsigned wrong = 0, errors = 0;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        uint64_t random = random_seed(seed);
        struct wet_sequence sequence = {.by_context = NULL};
        struct wet_context context = {.before = {0}};
        uint8_t bytes[64];
        int result = wet_sequence_init(&sequence);
        for (size_t i = 0; i < sizeof bytes; i++)
            bytes[i] = (uint8_t)random_below(&random, random_below(&random, 8) ? 12 : 256);
        struct wet_cursor from = {.at = bytes, .end = bytes + sizeof bytes};
        for (unsigned i = 0; i < 500 && result == 0; i++) {
            uint32_t number = 0;
            result = wet_sequence_get(&sequence, &context, 100, &from, &number);
            wrong += number > 100;
        }
        wrong += result != 0 && result != BT_DATA;
        errors += result == BT_DATA;
        wet_sequence_clear(&sequence);
    }
    CU_ASSERT_EQUAL(wrong, 0);
    CU_ASSERT(errors > 100);
}

/* After a reset nothing is known: the same numbers give the same bytes. */
static void test_reset(void)
{
    struct wet_sequence sequence = {.by_context = NULL};
    struct wet_bytes bytes[2] = {{.bytes = NULL}, {.bytes = NULL}};
    CU_ASSERT_EQUAL_FATAL(wet_sequence_init(&sequence), 0);
    CU_ASSERT_EQUAL_FATAL(wet_sequence_reserve(&sequence, 3), 0);
    for (unsigned round = 0; round < 2; round++) {
        struct wet_context context = {.before = {0}};
        for (uint32_t i = 0; i < 20; i++)
            wet_sequence_put(&sequence, &context, 1 + i % 3, &bytes[round]);
        CU_ASSERT_EQUAL(wet_sequence_finish(&sequence, &bytes[round]), 0);
        wet_sequence_reset(&sequence);
    }
    CU_ASSERT_EQUAL(bytes[0].size, bytes[1].size);
    CU_ASSERT(memcmp(bytes[0].bytes, bytes[1].bytes, bytes[0].size) == 0);
    free(bytes[0].bytes);
    free(bytes[1].bytes);
    wet_sequence_clear(&sequence);
}

static const struct test_case cases[] = {{"a loop", test_loop},
                                         {"random sequences", test_random_sequences},
                                         {"other bytes", test_other_bytes},
                                         {"reset", test_reset},
                                         {NULL, NULL}};
TEST_SUITE(wet_sequence, cases)
