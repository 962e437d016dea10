#include "tests/suites.h"
#include "tests/support/random.h"
#include "tools/plot/request_mix.h"
#include "tools/plot/time_bins.h"

#include <stdlib.h>
#include <string.h>

#define RECORDS_MAX 40u
#define EVENTS_MAX  2000u

/* A request, a loss or a gap. */
struct bin_event {
    uint64_t tick, last;
    uint64_t lost;
    uint8_t type;
    bool missing;
};

struct time_bins_twin {
    struct bin_event events[EVENTS_MAX];
    size_t count;
    uint64_t origin, end;
    unsigned shift;
};

static void add_event(struct time_bins_twin *twin, struct bin_event event)
{
    CU_ASSERT_FATAL(twin->count < EVENTS_MAX);
    twin->events[twin->count++] = event;
}

/* A batch after the tick, with a random loss or gap before it. */
static void make_batch(struct batch *batch, uint64_t *tick, uint64_t *random,
                       struct time_bins_twin *twin)
{
    uint64_t before = *tick;
    uint64_t jump = random_below(random, 4) == 0 ? random_next32(random) : 1;
    *batch = (struct batch){.records = batch->records};
    batch->count = (size_t)random_below(random, RECORDS_MAX);
    batch->first_tick = *tick + jump;
    if (random_one_in(random, 3)) {
        batch->lost.count[random_below(random, LOSS_STAGES)] = 1 + random_below(random, 100);
        batch->lost.first_tick = *tick + jump / 3;
        batch->lost.last_tick = *tick + jump / 2;
        add_event(twin, (struct bin_event){.tick = batch->lost.first_tick,
                                           .last = batch->lost.last_tick,
                                           .lost = loss_total(&batch->lost),
                                           .missing = true});
    }
    if (twin->count > 1 && random_one_in(random, 5)) {
        batch->gap.milliseconds = 5;
        add_event(twin,
                  (struct bin_event){.tick = before, .last = batch->first_tick, .missing = true});
    }
    for (size_t i = 0; i < batch->count; i++) {
        batch->records[i] = (struct record){.type = (uint8_t)random_below(random, 0x24),
                                            .time = (uint32_t)random_below(random, 1000)};
        *tick = i == 0 ? batch->first_tick : *tick + batch->records[i].time;
        add_event(twin,
                  (struct bin_event){.tick = *tick, .last = *tick, .type = batch->records[i].type});
    }
    if (batch->count == 0)
        *tick = batch->first_tick;
    batch->last_tick = *tick;
    twin->end = *tick;
}

static size_t twin_bin(const struct time_bins_twin *twin, uint64_t tick)
{
    return (size_t)((tick - twin->origin) >> twin->shift);
}

static void compare(const struct request_mix *mix, const struct time_bins_twin *twin)
{
    const struct time_bins *time = &mix->time;
    for (size_t bin = 0; bin < time_bins_count(time); bin++) {
        uint64_t counts[REQUEST_MIX_TYPES] = {0};
        uint64_t lost = 0;
        bool missing = false;
        for (size_t i = 0; i < twin->count; i++) {
            const struct bin_event *event = &twin->events[i];
            bool begins = twin_bin(twin, event->tick) == bin;
            if (event->missing) {
                lost += begins ? event->lost : 0;
                missing |= twin_bin(twin, event->tick) <= bin && twin_bin(twin, event->last) >= bin;
            } else if (begins) {
                counts[request_type_ordinal(event->type)]++;
            }
        }
        for (unsigned type = 0; type < REQUEST_MIX_TYPES; type++)
            CU_ASSERT_EQUAL_FATAL(mix->counts[type][bin], counts[type]);
        CU_ASSERT_EQUAL_FATAL(time->lost_in[bin], lost);
        struct time_missing found;
        bool is_missing = time_bins_missing(time, bin, &found) && found.first == bin;
        CU_ASSERT_EQUAL_FATAL(is_missing, missing);
    }
}

/* Bins whose length doubled hold the same as one pass with the final length. */
static void test_against_twin(void)
{
    static struct record records[RECORDS_MAX];
    static struct time_bins_twin twin;
    for (uint64_t seed = 1; seed <= 1500; seed++) {
        uint64_t random = random_seed(seed);
        size_t limit = TIME_BINS_MIN + (size_t)random_below(&random, 30);
        uint64_t tick = random_below(&random, 1000);
        struct request_mix mix;
        struct batch batch = {.records = records};
        memset(&twin, 0, sizeof twin);
        CU_ASSERT_EQUAL_FATAL(request_mix_begin(&mix, limit, NULL), 0);
        size_t batches = 1 + (size_t)random_below(&random, 30);
        for (size_t i = 0; i < batches; i++) {
            make_batch(&batch, &tick, &random, &twin);
            if (i == 0) {
                bool loss = loss_total(&batch.lost) > 0;
                twin.origin = loss ? batch.lost.first_tick : batch.first_tick;
            }
            request_mix_put(&mix, &batch, NULL);
        }
        while ((twin.end - twin.origin) >> twin.shift >= limit)
            twin.shift++;
        CU_ASSERT_EQUAL_FATAL(mix.time.shift, twin.shift);
        CU_ASSERT_EQUAL_FATAL(mix.time.origin, twin.origin);
        CU_ASSERT_EQUAL_FATAL(time_bins_count(&mix.time), twin_bin(&twin, twin.end) + 1);
        compare(&mix, &twin);
        request_mix_free(&mix);
    }
}

/* Batches with any ticks stay within the bins. */
static void test_any_ticks(void)
{
    for (uint64_t seed = 1; seed <= 2000; seed++) {
        uint64_t random = random_seed(seed);
        struct record records[2] = {{.time = 0}, {.time = random_next32(&random)}};
        struct time_bins time;
        CU_ASSERT_EQUAL_FATAL(time_bins_begin(&time, 2 + (size_t)random_below(&random, 9), NULL),
                              0);
        for (int i = 0; i < 5; i++) {
            uint64_t shift = random_below(&random, 64);
            struct batch batch = {.records = records,
                                  .count = (size_t)random_below(&random, 3),
                                  .first_tick = UINT64_MAX >> shift,
                                  .lost = {.count = {random_below(&random, 2) ? UINT64_MAX : 0},
                                           .first_tick = UINT64_MAX >> random_below(&random, 64),
                                           .last_tick = UINT64_MAX >> random_below(&random, 64)},
                                  .gap = {.milliseconds = (uint32_t)random_below(&random, 2)}};
            time_bins_take(&time, &batch, NULL);
            CU_ASSERT_FATAL(time_bins_count(&time) >= 1 && time_bins_count(&time) <= time.limit);
            CU_ASSERT_FATAL(time_bins_at(&time, batch.first_tick) < time.limit);
        }
        CU_ASSERT(time_bins_tick(&time, time.limit) >= time.end);
        time_bins_free(&time);
    }
}

static void test_clock(void)
{
    struct time_bins time;
    const struct capture_info slow = {.clock_hz = 1000};
    const struct capture_info fast = {.clock_hz = 2000};
    const struct batch batch = {.first_tick = 100};
    const struct batch later = {.first_tick = 115};
    CU_ASSERT_EQUAL_FATAL(time_bins_begin(&time, 4, NULL), 0);
    time_bins_take(&time, &batch, &slow);
    time_bins_take(&time, &later, &slow);
    CU_ASSERT_EQUAL(time.clock_hz, 1000);
    CU_ASSERT_EQUAL(time.shift, 2);
    CU_ASSERT_DOUBLE_EQUAL(time_bins_position(&time, 2), 0.008, 1e-12);
    time_bins_take(&time, &later, &fast); /* the clocks differ: ticks, not seconds */
    CU_ASSERT_EQUAL(time.clock_hz, 0);
    CU_ASSERT_DOUBLE_EQUAL(time_bins_position(&time, 2), 8, 1e-12);
    time_bins_free(&time);
}

static const struct test_case cases[] = {{"against a slow twin", test_against_twin},
                                         {"any ticks", test_any_ticks},
                                         {"the clock", test_clock},
                                         {NULL, NULL}};
TEST_SUITE(time_bins, cases)
