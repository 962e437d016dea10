/* Lines in compact form: random dependences and values, read again. */
#include "formats/base/bytes.h"
#include "tests/suites.h"
#include "tests/support/random.h"
#include "tools/wet/wet_lines.h"

#include <string.h>

#define LINES  400u
#define ROUNDS 100u

struct line {
    uint64_t reader, writer;
    uint32_t id;
};

static void check_lines(uint64_t seed)
{
    static struct line expected[LINES * 4];
    uint64_t random = random_seed(seed), reader = random_below(&random, 3);
    struct wet_lines lines = {.count = 0};
    struct wet_lines_cursor cursor;
    struct wet_line_group group;
    struct wet_writers writers = {.id = 1, .first = 0, .count = 1};
    size_t count = 0, read = 0;
    for (unsigned i = 0; i < LINES; i++) {
        CU_ASSERT_EQUAL(wet_lines_put(&lines, reader, &writers), 0);
        for (uint64_t k = 0; k < writers.count; k++)
            expected[count++] = (struct line){reader, writers.first + k, writers.id};
        const bool is_regular = !random_one_in(&random, 1 + seed % 9);
        reader += is_regular ? 1 : random_below(&random, 3);
        writers.id = is_regular ? writers.id : random_next32(&random) >> random_below(&random, 32);
        writers.id |= 1;
        writers.first = is_regular ? writers.first + writers.count + seed % 4 - 2
                                   : random_next(&random) >> random_below(&random, 64);
        writers.count = is_regular ? 1 : 1 + random_below(&random, 4);
    }
    CU_ASSERT_EQUAL(lines.count, count);
    for (wet_lines_begin(&cursor, &lines); wet_lines_next(&cursor, &group);)
        for (uint64_t i = 0; i < group.count && read < count; i++, read++) {
            CU_ASSERT_EQUAL(group.reader + i * group.step, expected[read].reader);
            CU_ASSERT_EQUAL(group.writer + i * group.stride, expected[read].writer);
            CU_ASSERT_EQUAL(group.id, expected[read].id);
        }
    CU_ASSERT_EQUAL(read, count);
    wet_lines_clear(&lines);
}

static void test_lines(void)
{
    for (unsigned round = 0; round < ROUNDS; round++)
        check_lines(round);
}

static void check_values(uint64_t seed)
{
    static const unsigned sizes[] = {1, 2, 4, 8, 10, 16, 32, 64};
    static uint8_t expected[LINES][64];
    static uint64_t instances[LINES];
    uint64_t random = random_seed(seed), instance = 0, read, value = 0;
    const unsigned size = sizes[seed % 8];
    struct wet_value_lines lines = {.count = 0};
    struct wet_values_cursor cursor;
    memset(expected, 0, sizeof expected);
    for (unsigned i = 0; i < LINES; i++) {
        const bool is_regular = !random_one_in(&random, 4);
        value = is_regular ? value + seed : random_next(&random);
        bytes_put64(expected[i], value);
        instances[i] = instance;
        CU_ASSERT_EQUAL(wet_value_lines_put(&lines, instance, expected[i], size), 0);
        instance += is_regular ? 1 : 1 + random_below(&random, 3);
    }
    CU_ASSERT(!lines.is_unordered);
    wet_values_cursor_begin(&cursor, &lines, size);
    for (unsigned i = 0; i < LINES; i++) {
        CU_ASSERT(wet_values_cursor_next(&cursor, &read));
        CU_ASSERT_EQUAL(read, instances[i]);
        CU_ASSERT(memcmp(cursor.bytes, expected[i], size) == 0);
    }
    CU_ASSERT(!wet_values_cursor_next(&cursor, &read));
    wet_value_lines_clear(&lines);
}

static void test_values(void)
{
    for (unsigned round = 0; round < ROUNDS; round++)
        check_values(round);
}

/* Results of system calls of several threads, one of them twice. */
static void test_order(void)
{
    static const uint8_t order[] = {3, 0, 1, 4, 4, 2, 7};
    struct wet_value_lines lines = {.count = 0};
    struct wet_values_cursor cursor;
    uint64_t instance;
    uint8_t bytes[8] = {0};
    for (size_t i = 0; i < sizeof order; i++) {
        bytes[0] = (uint8_t)(10 * order[i]);
        CU_ASSERT_EQUAL(wet_value_lines_put(&lines, order[i], bytes, 8), 0);
    }
    CU_ASSERT(lines.is_unordered);
    CU_ASSERT_EQUAL(wet_value_lines_sort(&lines, 8), 0);
    CU_ASSERT_EQUAL(lines.count, 6);
    wet_values_cursor_begin(&cursor, &lines, 8);
    for (uint64_t wanted = 0; wanted < 8; wanted += wanted == 4 ? 3 : 1) {
        CU_ASSERT(wet_values_cursor_next(&cursor, &instance));
        CU_ASSERT_EQUAL(instance, wanted);
        CU_ASSERT_EQUAL(cursor.bytes[0], 10 * wanted);
    }
    CU_ASSERT(!wet_values_cursor_next(&cursor, &instance));
    wet_value_lines_clear(&lines);
}

static const struct test_case cases[] = {{"dependences", test_lines},
                                         {"values", test_values},
                                         {"order of values", test_order},
                                         {NULL, NULL}};
TEST_SUITE(wet_lines, cases)
