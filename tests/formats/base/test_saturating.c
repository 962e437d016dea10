/* Sums and products that saturate at UINT64_MAX. */
#include "formats/base/saturating.h"

#include "tests/suites.h"

static void test_add(void)
{
    CU_ASSERT_EQUAL(saturating_add(0, 0), 0);
    CU_ASSERT_EQUAL(saturating_add(3, 4), 7);
    CU_ASSERT_EQUAL(saturating_add(UINT64_MAX - 1, 1), UINT64_MAX);
    CU_ASSERT_EQUAL(saturating_add(UINT64_MAX, 1), UINT64_MAX);
    CU_ASSERT_EQUAL(saturating_add(UINT64_MAX, UINT64_MAX), UINT64_MAX);
}

static void test_multiply(void)
{
    const uint64_t half = UINT64_C(1) << 32;
    CU_ASSERT_EQUAL(saturating_multiply(0, UINT64_MAX), 0);
    CU_ASSERT_EQUAL(saturating_multiply(UINT64_MAX, 0), 0);
    CU_ASSERT_EQUAL(saturating_multiply(UINT64_MAX, 1), UINT64_MAX);
    CU_ASSERT_EQUAL(saturating_multiply(3, 4), 12);
    CU_ASSERT_EQUAL(saturating_multiply(half, half - 1), UINT64_MAX - half + 1);
    CU_ASSERT_EQUAL(saturating_multiply(half, half), UINT64_MAX);
    CU_ASSERT_EQUAL(saturating_multiply(half + 1, half - 1), UINT64_MAX);
    CU_ASSERT_EQUAL(saturating_multiply(half + 1, half + 1), UINT64_MAX);
}

static const struct test_case cases[] = {
    {"sums", test_add}, {"products", test_multiply}, {NULL, NULL}};
TEST_SUITE(saturating, cases)
