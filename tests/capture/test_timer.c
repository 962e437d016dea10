#include "capture/timer.h"

#include "tests/suites.h"
#include "tests/support/random.h"

static void test_interval(void)
{
    struct rotation_timer timer;
    rotation_timer_start(&timer, 100, 0, 1000, 5);
    CU_ASSERT_FALSE(rotation_timer_due(&timer, 1099, 0));
    CU_ASSERT_EQUAL(rotation_timer_left(&timer, 1099, 0), 1);
    CU_ASSERT_EQUAL(rotation_timer_left(&timer, 1200, 0), 0);
    CU_ASSERT(rotation_timer_due(&timer, 1100, 0));
    CU_ASSERT_FALSE(rotation_timer_due(&timer, 1100, 0));
    CU_ASSERT_EQUAL(rotation_timer_left(&timer, 1100, 0), 100);
    rotation_timer_file_began(&timer, 1150); /* because of its size */
    CU_ASSERT_FALSE(rotation_timer_due(&timer, 1249, 0));
    rotation_timer_file_began(&timer, 1120); /* out of date */
    CU_ASSERT(rotation_timer_due(&timer, 1250, 0));
}

static void test_never(void)
{
    struct rotation_timer timer;
    rotation_timer_start(&timer, 0, 0, 1000, 5);
    CU_ASSERT_FALSE(rotation_timer_due(&timer, INT64_MAX, INT64_MAX));
    CU_ASSERT_EQUAL(rotation_timer_left(&timer, 1, 1), TIMER_NEVER);
}

static void test_wall_clock(void)
{
    struct rotation_timer timer;
    rotation_timer_start(&timer, 0, 100, 0, 250);
    CU_ASSERT_EQUAL(rotation_timer_left(&timer, 0, 250), 50);
    CU_ASSERT_FALSE(rotation_timer_due(&timer, 0, 299));
    CU_ASSERT(rotation_timer_due(&timer, 0, 300));
    CU_ASSERT_FALSE(rotation_timer_due(&timer, 0, 300));
    CU_ASSERT(rotation_timer_due(&timer, 0, 745)); /* several due times count once */
    CU_ASSERT_EQUAL(rotation_timer_left(&timer, 0, 745), 55);
    CU_ASSERT_FALSE(rotation_timer_due(&timer, 0, 110)); /* the clock was set back */
    CU_ASSERT(rotation_timer_due(&timer, 0, 200));
    rotation_timer_start(&timer, 0, INT64_MAX, 0, INT64_MAX - 1);
    CU_ASSERT_FALSE(rotation_timer_due(&timer, 0, INT64_MAX - 1));
}

/* Compares with the definition: one file for every multiple since the last check. */
static void test_wall_clock_steps(void)
{
    uint64_t random = 3;
    for (int run = 0; run < 2000; run++) {
        struct rotation_timer timer;
        int64_t period = 1 + (int64_t)random_below(&random, 500);
        int64_t now = (int64_t)random_below(&random, 100000);
        rotation_timer_start(&timer, 0, period, 0, now);
        for (int i = 0; i < 50; i++) {
            int64_t later = now + (int64_t)random_below(&random, 300);
            int64_t left = rotation_timer_left(&timer, 0, later);
            bool due = rotation_timer_due(&timer, 0, later);
            CU_ASSERT_EQUAL(due, later / period != now / period);
            CU_ASSERT_EQUAL(left == 0, due);
            now = later;
        }
    }
}

static const struct test_case cases[] = {{"after an interval", test_interval},
                                         {"never", test_never},
                                         {"at multiples on the wall clock", test_wall_clock},
                                         {"random steps of the wall clock", test_wall_clock_steps},
                                         {NULL, NULL}};
TEST_SUITE(timer, cases)
