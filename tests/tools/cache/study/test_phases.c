/* Phases against an assignment of each record by itself. */
#include "tests/suites.h"
#include "tests/support/random.h"
#include "tools/cache/study/phases.h"

#include <stdlib.h>

#define RECORDS 500u

struct expected {
    uint64_t phase; /* number of phases with records before this record's */
    uint64_t first_tick;
};

/* Assigns each record: the ticks are absolute. */
static void assign(const struct extent *warm, const struct extent *interval, const uint64_t *ticks,
                   struct expected *expected)
{
    bool warming = warm->unit != EXTENT_NONE;
    uint64_t begin = 0, phase = 0, begin_tick = ticks[0], shown = ticks[0];
    for (uint64_t i = 0; i < RECORDS; i++) {
        const struct extent *now = warming ? warm : interval;
        const bool ends = now->unit == EXTENT_REQUESTS ? i - begin == now->length
                          : now->unit == EXTENT_TICKS  ? ticks[i] - shown >= now->length
                                                       : false;
        if (ends) {
            if (warming || now->unit == EXTENT_REQUESTS)
                begin_tick = shown = ticks[i];
            else
                shown = begin_tick + (ticks[i] - begin_tick) / now->length * now->length;
            begin = i;
            phase++;
            warming = false;
        }
        expected[i] = (struct expected){phase, shown};
    }
}

static struct extent random_extent(uint64_t *random)
{
    static const enum extent_unit units[] = {EXTENT_NONE, EXTENT_TICKS, EXTENT_REQUESTS};
    return (struct extent){units[random_below(random, 3)], 1 + random_below(random, 300)};
}

static void test_twin(void)
{
    struct record records[RECORDS];
    uint64_t ticks[RECORDS];
    struct expected expected[RECORDS];
    for (uint64_t seed = 0; seed < 300; seed++) {
        uint64_t random = random_seed(seed);
        const struct extent warm = random_extent(&random), interval = random_extent(&random);
        struct phases phases = phases_begin(&warm, &interval);
        uint64_t now = random_below(&random, 1000);
        uint64_t phase = 0;
        for (unsigned i = 0; i < RECORDS; i++) {
            const uint32_t step = (uint32_t)random_below(&random, seed % 3 ? 4 : 700);
            records[i] = (struct record){.time = step};
            ticks[i] = now += step;
        }
        assign(&warm, &interval, ticks, expected);
        for (unsigned begin = 0, size; begin < RECORDS; begin += size) {
            size = 1 + (unsigned)random_below(&random, 90);
            size = size < RECORDS - begin ? size : RECORDS - begin;
            const struct batch batch = {.records = records + begin,
                                        .count = size,
                                        .first_tick = ticks[begin],
                                        .last_tick = ticks[begin + size - 1]};
            uint64_t tick = batch.first_tick;
            for (size_t at = 0; at < size;) {
                const size_t some = phases_take(&phases, &batch, at, &tick);
                for (size_t i = at; i < at + some; i++) {
                    CU_ASSERT_EQUAL(expected[begin + i].phase, phase);
                    CU_ASSERT_EQUAL(expected[begin + i].first_tick, phases.first_tick);
                }
                at += some;
                if (some > 0)
                    CU_ASSERT_EQUAL(phases.last_tick, ticks[begin + at - 1]);
                if (at < size) {
                    CU_ASSERT_EQUAL(tick, ticks[begin + at]);
                    phases_next(&phases, tick);
                    phase++;
                }
            }
        }
        CU_ASSERT_EQUAL(phases.first_record + phases.records, RECORDS);
    }
}

static const struct test_case cases[] = {{"records belong to one phase each", test_twin},
                                         {NULL, NULL}};
TEST_SUITE(cache_phases, cases)
