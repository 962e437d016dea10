/* Which signals are one request to end, and which are impatience. */
#include "capture/patience.h"

#include "tests/suites.h"

#define BEGIN       INT64_C(1000000000000)
#define MICROSECOND 1000

/* Two signals 50 microseconds apart. */
static void test_twice(void)
{
    struct patience patience = {.asked_ns = 0};
    CU_ASSERT_EQUAL(patience_quiet(&patience, BEGIN), INT64_MAX);
    CU_ASSERT_TRUE(patience_ask(&patience, BEGIN));
    CU_ASSERT_FALSE(patience_ask(&patience, BEGIN + 50 * MICROSECOND));
    CU_ASSERT_EQUAL(patience_quiet(&patience, BEGIN + 100 * MICROSECOND),
                    PATIENCE_NS - 100 * MICROSECOND);
    CU_ASSERT_FALSE(patience_ask(&patience, BEGIN + PATIENCE_NS - 1));
    CU_ASSERT_EQUAL(patience_quiet(&patience, BEGIN + PATIENCE_NS), INT64_MAX);
    CU_ASSERT_TRUE(patience_ask(&patience, BEGIN + PATIENCE_NS + MICROSECOND));
    CU_ASSERT_FALSE(patience_ask(&patience, BEGIN + PATIENCE_NS + 2 * MICROSECOND));
}

/* A process that was stopped finds an old signal pending, which may have followed the first. */
static void test_late(void)
{
    struct patience patience = {.asked_ns = 0};
    CU_ASSERT_TRUE(patience_ask(&patience, BEGIN));
    CU_ASSERT_FALSE(patience_ask(&patience, BEGIN + 100 * PATIENCE_NS));
    CU_ASSERT_EQUAL(patience_quiet(&patience, BEGIN + 101 * PATIENCE_NS), INT64_MAX);
    CU_ASSERT_TRUE(patience_ask(&patience, BEGIN + 102 * PATIENCE_NS));
}

static const struct test_case cases[] = {{"one request as two signals", test_twice},
                                         {"a signal that is taken late", test_late},
                                         {NULL, NULL}};
TEST_SUITE(patience, cases)
