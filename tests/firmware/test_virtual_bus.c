#include "firmware/board_state.h"
#include "firmware/virtual/virtual_bus.h"
#include "tests/suites.h"
#include "tests/support/files.h"

#include <stdio.h>
#include <string.h>

static void test_settings(void)
{
    struct bt_error error;
    struct virtual_bus_settings settings = {.processors = 0};
    CU_ASSERT_PTR_NULL(virtual_bus_new(&settings, &error));
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "1 to 8"));
    settings = (struct virtual_bus_settings){.processors = 1, .pace = BUS_PACE_RATE};
    CU_ASSERT_PTR_NULL(virtual_bus_new(&settings, &error));
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "rate"));
    settings = (struct virtual_bus_settings){.processors = 1, .clock_hz = UINT64_C(20000000000)};
    CU_ASSERT_PTR_NULL(virtual_bus_new(&settings, &error));
    settings = (struct virtual_bus_settings){.replay = "-", .loop = true};
    CU_ASSERT_PTR_NULL(virtual_bus_new(&settings, &error));
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "looped"));
}

/* A trace does not contain its clock rate: a replay in real time needs the rate. */
static void test_real_time_needs_a_clock(void)
{
    static const struct record record = {.type = REQUEST_MEMREAD, .size = 4};
    struct bt_error error;
    struct test_path *path = test_path_file(&record, sizeof record);
    struct virtual_bus_settings settings = {.pace = BUS_PACE_REAL};
    snprintf(settings.replay, sizeof settings.replay, "%s", test_path_name(path));
    CU_ASSERT_PTR_NULL(virtual_bus_new(&settings, &error));
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "clock=HZ"));
    settings.clock_hz = 1000;
    struct virtual_bus *bus = virtual_bus_new(&settings, &error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(bus);
    CU_ASSERT_EQUAL(virtual_bus_clock_hz(bus), 1000);
    virtual_bus_free(bus);
    test_path_free(path);
}

/* Drives a bus directly: an armed board with unlimited room. */
static void test_ends_after_so_many_requests(void)
{
    static const enum bus_pace paces[] = {BUS_PACE_MAX, BUS_PACE_REAL, BUS_PACE_RATE};
    for (unsigned i = 0; i < 3; i++) {
        static struct board board;
        static struct board_frame frames[64];
        struct bus_phase phases[50];
        struct bt_error error;
        struct virtual_bus_settings settings = {
            .processors = 2, .requests = 3333, .pace = paces[i], .phases_per_second = 1000000};
        struct virtual_bus *bus = virtual_bus_new(&settings, &error);
        CU_ASSERT_PTR_NOT_NULL_FATAL(bus);
        struct bus_front front = virtual_bus_front(bus, &board);
        struct board_link none = {.send = 0};
        struct wire_identity identity = {.clock_hz = virtual_bus_clock_hz(bus)};
        board_init(&board, &identity, &front, &none, frames, 64);
        CU_ASSERT_EQUAL(front.take(front.context, phases, 50), 0);
        CU_ASSERT_FALSE(front.ended(front.context));
        board.state = BOARD_ARMED;

        uint64_t taken = 0, now = 0, backwards = 0;
        while (!front.ended(front.context)) {
            size_t count = front.take(front.context, phases, 50);
            for (size_t k = 0; k < count; k++) {
                backwards += phases[k].tick < now;
                now = phases[k].tick;
            }
            backwards += front.now(front.context) < now;
            taken += count;
        }
        CU_ASSERT_EQUAL(taken, 3333);
        CU_ASSERT_EQUAL(backwards, 0);
        CU_ASSERT_EQUAL(virtual_bus_failure(bus, &error), 0);
        virtual_bus_free(bus);
    }
}

/* Without a board the bus begins at once, and gives what is asked for. */
static void test_without_a_board(void)
{
    struct bus_phase phases[50];
    struct bt_error error;
    struct virtual_bus_settings settings = {.processors = 2, .requests = 120};
    struct virtual_bus *bus = virtual_bus_new(&settings, &error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(bus);
    struct bus_front front = virtual_bus_front(bus, NULL);
    uint64_t taken = 0;
    for (size_t count; (count = front.take(front.context, phases, 50)) > 0; taken += count)
        CU_ASSERT_FALSE(front.ended(front.context) && taken + count < 120);
    CU_ASSERT_EQUAL(taken, 120);
    CU_ASSERT(front.ended(front.context));
    virtual_bus_free(bus);
}

static const struct test_case cases[] = {
    {"without a board", test_without_a_board},
    {"invalid settings", test_settings},
    {"real time needs a clock", test_real_time_needs_a_clock},
    {"ends after N requests, at any pace", test_ends_after_so_many_requests},
    {NULL, NULL}};
TEST_SUITE(virtual_bus, cases)
