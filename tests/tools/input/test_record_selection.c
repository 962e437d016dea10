/* Selections against a choice of each record by itself. */
#include "tests/suites.h"
#include "tests/support/random.h"
#include "tools/input/record_selection.h"

#include <stdlib.h>
#include <string.h>

#define RECORDS 2000u
#define PIECE   300u

struct chosen {
    struct record record;
    uint64_t tick;
};

/* What the filter of the test says. */
static bool matches(const struct record *record)
{
    return record->type == REQUEST_FETCH && record->processor != 1;
}

static void fill(struct chosen *all, uint64_t *random)
{
    static const uint8_t types[] = {REQUEST_FETCH, REQUEST_MEMREAD};
    uint64_t tick = random_below(random, 100);
    for (unsigned i = 0; i < RECORDS; i++) {
        /* some times do not fit into a record together */
        const uint64_t step = random_one_in(random, 30) ? 0xf0000000u : random_below(random, 50);
        tick += step;
        all[i] = (struct chosen){.record = {.address = i,
                                            .type = types[random_below(random, 2)],
                                            .processor = (uint8_t)random_below(random, 3),
                                            .time = (uint32_t)step},
                                 .tick = tick};
    }
}

/* Checks the records of a batch, and that its ticks follow from its times. */
static size_t check_batch(const struct batch *batch, const struct chosen *expected, size_t count,
                          size_t done)
{
    uint64_t tick = batch->first_tick;
    for (size_t i = 0; i < batch->count; i++) {
        tick += i ? batch->records[i].time : 0;
        CU_ASSERT_FATAL(done + i < count);
        CU_ASSERT_EQUAL(batch->records[i].address, expected[done + i].record.address);
        CU_ASSERT_EQUAL(tick, expected[done + i].tick);
    }
    if (batch->count > 0)
        CU_ASSERT_EQUAL(batch->last_tick, tick);
    CU_ASSERT_EQUAL(batch->first_index, done);
    return done + batch->count;
}

static void check(bool filtered, uint64_t seed)
{
    static struct chosen all[RECORDS], expected[RECORDS];
    struct record piece[PIECE];
    uint64_t random = random_seed(seed);
    struct time_range range = {.given = false};
    struct bt_error error;
    size_t count = 0, done = 0, cut = 0;
    bool past = false;
    fill(all, &random);
    if (random_one_in(&random, 2))
        range =
            (struct time_range){.given = true,
                                .from = {EXTENT_TICKS, all[random_below(&random, RECORDS)].tick},
                                .to = {EXTENT_TICKS, all[random_below(&random, RECORDS)].tick + 1}};
    for (unsigned i = 0; i < RECORDS; i++)
        if ((!filtered || matches(&all[i].record)) &&
            (!range.given || (all[i].tick >= range.from.length && all[i].tick <= range.to.length)))
            expected[count++] = all[i];
    struct record_selection *selection =
        record_selection_new(filtered ? "type=FETCH and processor!=1" : NULL, &range, &error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(selection);
    CU_ASSERT_EQUAL(record_selection_clock(selection, 0, &error), 0);
    for (size_t begin = 0; begin < RECORDS && !past;) {
        size_t size = 1 + random_below(&random, PIECE);
        size = size < RECORDS - begin ? size : RECORDS - begin;
        struct batch batch = {.records = piece,
                              .capacity = PIECE,
                              .count = size,
                              .first_index = begin - cut,
                              .first_tick = all[begin].tick,
                              .last_tick = all[begin + size - 1].tick};
        for (size_t i = 0; i < size; i++)
            piece[i] = all[begin + i].record;
        begin += size;
        const size_t before = record_selection_trim(selection, &batch, &past);
        /* the test's indices count from the first record of the range */
        batch.first_index -= before;
        cut += before;
        CU_ASSERT_EQUAL(record_selection_apply(selection, &batch, &error), 0);
        do
            done = check_batch(&batch, expected, count, done);
        while (record_selection_held(selection, &batch));
    }
    CU_ASSERT_EQUAL(done, count);
    record_selection_free(selection);
}

static void test_twin(void)
{
    for (uint64_t seed = 0; seed < 60; seed++) {
        check(false, seed);
        check(true, seed);
    }
}

/* A loss before the range is left out, one that reaches into it is not. */
static void test_losses(void)
{
    struct record records[2] = {{.time = 5}, {.time = 10}};
    const struct time_range range = {
        .given = true, .from = {EXTENT_TICKS, 100}, .to = {EXTENT_TICKS, 200}};
    struct bt_error error;
    bool past;
    struct record_selection *selection = record_selection_new(NULL, &range, &error);
    CU_ASSERT_EQUAL(record_selection_clock(selection, 0, &error), 0);
    struct batch batch = {.records = records, .count = 2, .first_tick = 95, .last_tick = 105};
    batch.lost.count[LOSS_BUS] = 3;
    CU_ASSERT_EQUAL(record_selection_trim(selection, &batch, &past), 1);
    CU_ASSERT(!past && batch.count == 1 && batch.first_tick == 105);
    CU_ASSERT_EQUAL(loss_total(&batch.lost), 0);
    batch = (struct batch){.records = records, .count = 2, .first_tick = 150, .last_tick = 160};
    batch.lost = (struct loss){.count = {3}, .first_tick = 20, .last_tick = 100};
    CU_ASSERT_EQUAL(record_selection_trim(selection, &batch, &past), 0);
    CU_ASSERT(!past && batch.count == 2 && loss_total(&batch.lost) == 3);
    batch.first_tick = 195;
    batch.last_tick = 205;
    CU_ASSERT_EQUAL(record_selection_trim(selection, &batch, &past), 0);
    CU_ASSERT(past && batch.count == 1 && batch.last_tick == 195);
    batch = (struct batch){.records = records, .count = 2, .first_tick = 150, .last_tick = 160};
    batch.lost = (struct loss){.count = {3}, .first_tick = 20, .last_tick = 99};
    CU_ASSERT_EQUAL(record_selection_trim(selection, &batch, &past), 0);
    CU_ASSERT(!past && batch.count == 2 && loss_total(&batch.lost) == 0);
    batch = (struct batch){.records = records, .count = 2, .first_tick = 250, .last_tick = 260};
    batch.lost = (struct loss){.count = {3}, .first_tick = 199, .last_tick = 249};
    CU_ASSERT_EQUAL(record_selection_trim(selection, &batch, &past), 0);
    CU_ASSERT(past && batch.count == 0 && loss_total(&batch.lost) == 3);
    record_selection_free(selection);
}

static void test_ranges(void)
{
    struct time_range range;
    struct bt_error error;
    CU_ASSERT_EQUAL(time_range_parse(&range, "10ms..1s", &error), 0);
    CU_ASSERT(range.from.unit == EXTENT_TIME && range.from.length == 10000000);
    CU_ASSERT(range.to.unit == EXTENT_TIME && range.to.length == 1000000000);
    CU_ASSERT_EQUAL(time_range_parse(&range, "..1Mticks", &error), 0);
    CU_ASSERT(range.from.unit == EXTENT_NONE);
    CU_ASSERT(range.to.unit == EXTENT_TICKS && range.to.length == 1000000);
    CU_ASSERT_EQUAL(time_range_parse(&range, "5us..", &error), 0);
    CU_ASSERT(range.from.length == 5000 && range.to.unit == EXTENT_NONE);
    struct record_selection *selection = record_selection_new(NULL, &range, &error);
    CU_ASSERT_EQUAL(record_selection_clock(selection, 0, &error), BT_USAGE);
    CU_ASSERT_EQUAL(record_selection_clock(selection, 66000000, &error), 0);
    CU_ASSERT_EQUAL(record_selection_first_tick(selection), 330);
    CU_ASSERT_EQUAL(record_selection_last_tick(selection), UINT64_MAX);
    record_selection_free(selection);
    static const char *const wrong[] = {"",       "..",  "1s",  "1s-2s",
                                        "2s..1s", "x..", "..x", "5ticks..4ticks"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        CU_ASSERT_EQUAL(time_range_parse(&range, wrong[i], &error), BT_USAGE);
}

static const struct test_case cases[] = {{"each record by itself", test_twin},
                                         {"losses", test_losses},
                                         {"ranges of time", test_ranges},
                                         {NULL, NULL}};
TEST_SUITE(record_selection, cases)
