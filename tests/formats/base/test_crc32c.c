/* CRC-32C: all ways to compute it give the same value. */
#include "formats/base/crc32c.h"
#include "tests/suites.h"
#include "tests/support/random.h"

static void test_check_value(void)
{
    CU_ASSERT_EQUAL(crc32c(0, "123456789", 9), 0xe3069283u);
    CU_ASSERT_EQUAL(crc32c_by_4(0, "123456789", 9), 0xe3069283u);
    CU_ASSERT_EQUAL(crc32c_portable(0, "123456789", 9), 0xe3069283u);
    CU_ASSERT_EQUAL(crc32c(0, "", 0), 0);
    CU_ASSERT_EQUAL(crc32c_by_4(0, "", 0), 0);
}

/* Any length, any alignment, in one piece or two. */
static void test_same_by_all_ways(void)
{
    uint8_t bytes[300];
    uint64_t state = random_seed(1);
    for (unsigned i = 0; i < 20000; i++) {
        random_fill(&state, bytes, sizeof bytes);
        size_t from = random_below(&state, 9), size = random_below(&state, 290);
        size_t half = random_below(&state, size + 1);
        uint32_t begin = random_next32(&state);
        uint32_t expected = crc32c_portable(begin, bytes + from, size);
        CU_ASSERT_EQUAL(crc32c(begin, bytes + from, size), expected);
        CU_ASSERT_EQUAL(crc32c_by_4(begin, bytes + from, size), expected);
        CU_ASSERT_EQUAL(
            crc32c_by_4(crc32c_by_4(begin, bytes + from, half), bytes + from + half, size - half),
            expected);
    }
}

static const struct test_case cases[] = {
    {"the check value", test_check_value},
    {"all ways agree", test_same_by_all_ways},
    {NULL, NULL},
};
TEST_SUITE(crc32c, cases)
