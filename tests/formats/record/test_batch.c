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

/* Ticks 100, 103, 108, 115. */
static struct batch four_records(struct record records[4])
{
    for (unsigned i = 0; i < 4; i++)
        records[i] = (struct record){.address = i, .time = 1 + 2 * i};
    struct batch batch = {.records = records,
                          .count = 4,
                          .first_index = 10,
                          .first_tick = 100,
                          .last_tick = 115,
                          .event = EVENT_SIGNAL};
    batch.lost.count[LOSS_BUS] = 2;
    return batch;
}

static void test_ends(void)
{
    struct record records[4];
    struct batch batch = four_records(records);
    batch_drop(&batch, 0);
    CU_ASSERT(batch.count == 4 && batch_has_loss_or_gap(&batch) && batch.event == EVENT_SIGNAL);
    batch_drop(&batch, 2);
    CU_ASSERT(batch.count == 2 && batch.first_index == 12 && batch.first_tick == 108);
    CU_ASSERT(records[0].address == 2 && records[1].address == 3 && batch.last_tick == 115);
    CU_ASSERT(!batch_has_loss_or_gap(&batch) && batch.event == EVENT_NONE);
    batch_drop(&batch, 5);
    CU_ASSERT(batch.count == 0 && batch.first_index == 14 && batch.first_tick == 115);
    batch = four_records(records);
    batch_shorten(&batch, 4);
    CU_ASSERT(batch.count == 4 && batch.last_tick == 115);
    batch_shorten(&batch, 3);
    CU_ASSERT(batch.count == 3 && batch.last_tick == 108 && batch_has_loss_or_gap(&batch));
    batch_shorten(&batch, 0);
    CU_ASSERT(batch.count == 0 && batch.last_tick == 100 && batch_has_loss_or_gap(&batch));
    /* parts */
    batch = four_records(records);
    records[2].attribute = records[3].attribute = ATTRIBUTE_PART;
    batch.parts = 2;
    batch_drop(&batch, 2);
    CU_ASSERT(batch.gap.chosen && batch.parts == 1 && records[0].attribute == 0);
    batch_shorten(&batch, 1);
    CU_ASSERT(batch.parts == 0);
}

static const struct test_case cases[] = {{"the gap of a time", test_gap_of_ns},
                                         {"gaps add up", test_gap_add},
                                         {"losses and gaps of batches", test_has_loss_or_gap},
                                         {"ends of batches", test_ends},
                                         {NULL, NULL}};
TEST_SUITE(batch, cases)
