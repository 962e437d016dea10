/* Which batches, and which records of them, belong to a part. */
#include "tools/cut/cut_range.h"

#include "tests/suites.h"
#include "tests/support/random.h"

#include <string.h>

#define BATCHES 20000
#define RECORDS 12u

static bool same_range(const struct cut_range *a, const struct cut_range *b)
{
    return a->first_tick == b->first_tick && a->last_tick == b->last_tick && a->skip == b->skip &&
           a->left == b->left;
}

static struct batch random_batch(struct record records[RECORDS], uint64_t *random)
{
    struct batch batch = {.records = records, .capacity = RECORDS};
    batch.count = random_below(random, RECORDS + 1);
    batch.first_index = 100;
    batch.first_tick = batch.last_tick = 10 + random_below(random, 30);
    for (size_t i = 0; i < batch.count; i++) {
        records[i] =
            (struct record){.address = (uint32_t)i, .time = (uint32_t)random_below(random, 5)};
        batch.last_tick += i > 0 ? records[i].time : 0;
    }
    if (random_one_in(random, 2)) {
        batch.lost.count[LOSS_LINK] = 1 + random_below(random, 3);
        batch.lost.last_tick = batch.first_tick - random_below(random, 5);
        batch.lost.first_tick = batch.lost.last_tick - random_below(random, 5);
    }
    return batch;
}

static struct cut_range random_range(uint64_t *random)
{
    struct cut_range range = {.last_tick = UINT64_MAX, .left = UINT64_MAX};
    if (random_one_in(random, 2))
        range.first_tick = random_below(random, 80);
    if (random_one_in(random, 2))
        range.last_tick = range.first_tick + random_below(random, 60);
    if (random_one_in(random, 2))
        range.skip = random_below(random, 2 * RECORDS);
    if (random_one_in(random, 2))
        range.left = random_below(random, 2 * RECORDS);
    return range;
}

/* The twin of cut_range_trim for records: those of the time, without the first `skip`, at most
 * `left`. Returns their number; *first: the address of the first one. */
static size_t count_slowly(struct cut_range *range, const struct batch *batch, uint32_t *first)
{
    uint64_t tick = batch->first_tick;
    size_t count = 0;
    for (size_t i = 0; i < batch->count; i++) {
        tick += i > 0 ? batch->records[i].time : 0;
        if (tick < range->first_tick || tick > range->last_tick)
            continue;
        if (range->skip > 0) {
            range->skip--;
        } else if (range->left > 0) {
            range->left -= range->left < UINT64_MAX;
            *first = count == 0 ? batch->records[i].address : *first;
            count++;
        }
    }
    return count;
}

/* What is decided without the records, what is decided with them, and the twin agree. */
static void test_twin(void)
{
    uint64_t random = random_seed(1);
    for (int i = 0; i < BATCHES; i++) {
        struct record records[RECORDS], trimmed_records[RECORDS];
        const struct batch batch = random_batch(records, &random);
        struct batch trimmed = batch;
        struct cut_range range = random_range(&random), judged = range, slow = range;
        uint32_t first = 0;
        memcpy(trimmed_records, records, sizeof records);
        trimmed.records = trimmed_records;
        const enum cut_fate fate = cut_range_judge(&judged, &batch);
        if (batch.count == 0) {
            CU_ASSERT_EQUAL(fate, range.left == 0 ? CUT_PAST : CUT_PART);
            continue;
        }
        const size_t wanted = count_slowly(&slow, &batch, &first);
        cut_range_trim(&range, &trimmed);
        CU_ASSERT_EQUAL(trimmed.count, wanted);
        CU_ASSERT(range.skip == slow.skip && range.left == slow.left);
        if (wanted > 0) {
            CU_ASSERT_EQUAL(trimmed.records[0].address, first);
            CU_ASSERT_EQUAL(trimmed.first_index, batch.first_index + first);
            CU_ASSERT_EQUAL(trimmed.last_tick,
                            trimmed.first_tick + records_time(trimmed.records + 1, wanted - 1));
            CU_ASSERT_EQUAL(range.first_tick, 0);
        }
        if (fate == CUT_WHOLE)
            CU_ASSERT(wanted == batch.count && same_range(&judged, &range) &&
                      memcmp(&trimmed.lost, &batch.lost, sizeof batch.lost) == 0);
        if (fate == CUT_PASSED)
            CU_ASSERT(judged.skip == slow.skip && judged.left == slow.left);
        if (fate == CUT_PASSED || fate == CUT_PAST)
            CU_ASSERT_EQUAL(wanted, 0);
    }
}

static struct batch lost_batch(uint64_t first_tick, uint64_t last_tick, uint64_t tick)
{
    return (struct batch){
        .lost = {.count = {[LOSS_BUS] = 2}, .first_tick = first_tick, .last_tick = last_tick},
        .first_index = 9,
        .first_tick = tick,
        .last_tick = tick};
}

/* A loss belongs to the part that has its last tick; its first may be before the part. */
static void test_losses(void)
{
    struct cut_range range = {.first_tick = 50, .last_tick = 90, .left = UINT64_MAX};
    struct batch batch = lost_batch(20, 49, 20);
    cut_range_trim(&range, &batch);
    CU_ASSERT(loss_total(&batch.lost) == 0 && range.first_tick == 50);
    batch = lost_batch(20, 50, 20);
    cut_range_trim(&range, &batch);
    CU_ASSERT(loss_total(&batch.lost) == 2 && range.first_tick == 0);
    batch = lost_batch(60, 91, 60);
    cut_range_trim(&range, &batch);
    CU_ASSERT(loss_total(&batch.lost) == 0 && range.left == 0);
    /* the loss before the first record after the part */
    range = (struct cut_range){.last_tick = 90, .left = UINT64_MAX};
    batch = lost_batch(80, 90, 95);
    CU_ASSERT(cut_range_trim_past(&range, &batch, 70));
    CU_ASSERT(batch.count == 0 && batch.first_tick == 70 && loss_total(&batch.lost) == 2);
    batch = lost_batch(80, 91, 95);
    CU_ASSERT_FALSE(cut_range_trim_past(&range, &batch, 70));
    range.skip = 1;
    batch = lost_batch(80, 90, 95);
    CU_ASSERT_FALSE(cut_range_trim_past(&range, &batch, 70));
}

static void test_end(void)
{
    const struct cut_range open = {.first_tick = 50, .last_tick = UINT64_MAX, .left = UINT64_MAX};
    struct cut_range range = open;
    CU_ASSERT(cut_range_has_end(&range, 50));
    CU_ASSERT_FALSE(cut_range_has_end(&range, 49));
    range.last_tick = 1000;
    CU_ASSERT_FALSE(cut_range_has_end(&range, 60));
    range = open;
    range.left = 0;
    CU_ASSERT_FALSE(cut_range_has_end(&range, 60));
    range = open;
    range.skip = 1;
    CU_ASSERT_FALSE(cut_range_has_end(&range, 60));
}

static const struct test_case cases[] = {{"random batches", test_twin},
                                         {"losses at the borders", test_losses},
                                         {"the end of the trace", test_end},
                                         {NULL, NULL}};
TEST_SUITE(cut_range, cases)
