/* Losses and gaps: how they add up. */
#include "formats/record/batch.h"
#include "tests/suites.h"

static void test_gap_of_ns(void)
{
    CU_ASSERT_EQUAL(gap_of_ns(0, false).milliseconds, 1);
    CU_ASSERT_EQUAL(gap_of_ns(-5, false).milliseconds, 1);
    CU_ASSERT_EQUAL(gap_of_ns(1999999, false).milliseconds, 1);
    CU_ASSERT_EQUAL(gap_of_ns(2000000, false).milliseconds, 2);
    CU_ASSERT_EQUAL(gap_of_ns(INT64_MAX, false).milliseconds, GAP_MILLISECONDS_MAX);
    CU_ASSERT_FALSE(gap_of_ns(7000000, false).uncounted);
    CU_ASSERT(gap_of_ns(7000000, true).uncounted);
}

static void test_gap_add(void)
{
    struct gap gap = {.milliseconds = 0};
    const struct gap five = {.milliseconds = 5, .uncounted = false};
    const struct gap chosen = {.chosen = true};
    const struct gap unknown = {.milliseconds = GAP_MILLISECONDS_MAX - 3, .uncounted = true};
    gap_add(&gap, &five);
    CU_ASSERT_EQUAL(gap.milliseconds, 5);
    CU_ASSERT_FALSE(gap.uncounted);
    CU_ASSERT_FALSE(gap.chosen);
    gap_add(&gap, &chosen);
    CU_ASSERT(gap.chosen);
    CU_ASSERT_EQUAL(gap.milliseconds, 5);
    gap_add(&gap, &unknown);
    CU_ASSERT_EQUAL(gap.milliseconds, GAP_MILLISECONDS_MAX);
    CU_ASSERT(gap.uncounted);
    gap_add(&gap, &five);
    CU_ASSERT_EQUAL(gap.milliseconds, GAP_MILLISECONDS_MAX);
    CU_ASSERT(gap.uncounted);
}

static void test_has_loss_or_gap(void)
{
    struct batch batch = {.count = 0};
    CU_ASSERT_FALSE(batch_has_loss_or_gap(&batch));
    batch.gap.milliseconds = 1;
    CU_ASSERT(batch_has_loss_or_gap(&batch));
    batch_clear(&batch);
    CU_ASSERT_FALSE(batch_has_loss_or_gap(&batch));
    batch.lost.count[LOSS_DISK] = 1;
    CU_ASSERT(batch_has_loss_or_gap(&batch));
}

static const struct test_case cases[] = {{"the gap of a time", test_gap_of_ns},
                                         {"gaps add up", test_gap_add},
                                         {"losses and gaps of batches", test_has_loss_or_gap},
                                         {NULL, NULL}};
TEST_SUITE(batch, cases)
