/* Counts of distances, also above 32 bits. */
#include "tests/suites.h"
#include "tools/mrc/histogram.h"

static void test_above_32_bits(void)
{
    struct histogram histogram = {.counts = NULL};
    struct bt_error error;
    CU_ASSERT_EQUAL(histogram_end(&histogram), 0);
    CU_ASSERT_EQUAL_FATAL(histogram_reserve(&histogram, 1000, &error), 0);
    CU_ASSERT_EQUAL(histogram_add(&histogram, 999, UINT32_MAX, &error), 0);
    CU_ASSERT_EQUAL(histogram_count(&histogram, 999), UINT32_MAX);
    CU_ASSERT_EQUAL(histogram_add(&histogram, 999, 1, &error), 0);
    CU_ASSERT_EQUAL(histogram_count(&histogram, 999), UINT64_C(1) << 32);
    /* the low 32 bits are 0, but the distance occurred */
    CU_ASSERT_EQUAL(histogram_end(&histogram), 1000);
    CU_ASSERT_EQUAL(histogram_add(&histogram, 999, (UINT64_C(5) << 32) + 7, &error), 0);
    CU_ASSERT_EQUAL(histogram_count(&histogram, 999), (UINT64_C(6) << 32) + 7);
    CU_ASSERT_EQUAL(histogram_add(&histogram, 3, UINT64_C(2) << 32, &error), 0);
    CU_ASSERT_EQUAL(histogram_count(&histogram, 3), UINT64_C(2) << 32);
    CU_ASSERT_EQUAL(histogram_count(&histogram, 4), 0);
    CU_ASSERT_EQUAL(histogram_count(&histogram, SIZE_MAX), 0);
    histogram_free(&histogram);
    CU_ASSERT_EQUAL(histogram_end(&histogram), 0);
}

static void test_grows(void)
{
    struct histogram histogram = {.counts = NULL};
    struct bt_error error;
    for (uint32_t distance = 0; distance < 100000; distance++) {
        CU_ASSERT_EQUAL_FATAL(histogram_reserve(&histogram, distance + 1, &error), 0);
        CU_ASSERT_EQUAL_FATAL(histogram_add(&histogram, distance, distance % 3, &error), 0);
    }
    for (uint32_t distance = 0; distance < 100000; distance++)
        CU_ASSERT_EQUAL_FATAL(histogram_count(&histogram, distance), distance % 3);
    CU_ASSERT_EQUAL(histogram_end(&histogram), 99999);
    histogram_free(&histogram);
}

static const struct test_case cases[] = {
    {"counts above 32 bits", test_above_32_bits}, {"it grows", test_grows}, {NULL, NULL}};
TEST_SUITE(histogram, cases)
