#include "capture/loss_watch.h"

#include "tests/suites.h"

#include <string.h>

#define SECOND INT64_C(1000000000)

static struct loss lost_at(uint64_t tick, enum loss_stage stage, uint64_t count)
{
    struct loss lost = {.first_tick = tick, .last_tick = tick + 10};
    lost.count[stage] = count;
    return lost;
}

/* Several losses without a pause have one beginning and one end. */
static void test_one_time(void)
{
    char text[LOSS_WATCH_BYTES] = "";
    struct loss_watch watch = {.began_ns = 0};
    struct loss lost = lost_at(1000, LOSS_BUS, 7);
    int64_t now = 50 * SECOND;
    CU_ASSERT_FALSE(loss_watch_over(&watch, now, false, text));
    CU_ASSERT_TRUE(loss_watch_add(&watch, &lost, now, text));
    CU_ASSERT_STRING_EQUAL(text, "losses began at tick 1000 (bus 7 so far)");
    for (int i = 1; i <= 20; i++) {
        now += LOSS_WATCH_QUIET_NS / 2;
        lost = lost_at(1000 + 100 * (uint64_t)i, LOSS_QUEUE, 5);
        CU_ASSERT_FALSE(loss_watch_over(&watch, now, false, text));
        CU_ASSERT_FALSE(loss_watch_add(&watch, &lost, now, text));
    }
    CU_ASSERT_FALSE(loss_watch_over(&watch, now + LOSS_WATCH_QUIET_NS - 1, false, text));
    CU_ASSERT_TRUE(loss_watch_over(&watch, now + LOSS_WATCH_QUIET_NS, false, text));
    CU_ASSERT_STRING_EQUAL(text, "losses ended at tick 3010 after 50.0 s: 107 lost since tick 1000 "
                                 "(bus 7, queue 100)");
    CU_ASSERT_FALSE(loss_watch_over(&watch, now + 10 * LOSS_WATCH_QUIET_NS, false, text));
}

/* The next losses are reported again. */
static void test_again(void)
{
    char text[LOSS_WATCH_BYTES] = "";
    struct loss_watch watch = {.began_ns = 0};
    struct loss none = {.first_tick = 5};
    struct loss lost = lost_at(0, LOSS_LINK, 1);
    CU_ASSERT_FALSE(loss_watch_add(&watch, &none, 1, text));
    CU_ASSERT_TRUE(loss_watch_add(&watch, &lost, 1, text));
    CU_ASSERT_TRUE(loss_watch_over(&watch, 2, true, text)); /* ends with the capture */
    CU_ASSERT_STRING_EQUAL(text,
                           "losses ended at tick 10 after 0.0 s: 1 lost since tick 0 (link 1)");
    lost = lost_at(500, LOSS_DISK, 3);
    CU_ASSERT_TRUE(loss_watch_add(&watch, &lost, 3, text));
    CU_ASSERT_STRING_EQUAL(text, "losses began at tick 500 (disk 3 so far)");
}

static const struct test_case cases[] = {
    {"one period of losses", test_one_time}, {"two periods", test_again}, {NULL, NULL}};
TEST_SUITE(loss_watch, cases)
