#include "firmware/board.h"
#include "firmware/p6.h"
#include "tests/suites.h"
#include "tests/support/board_rig.h"
#include "tests/support/random.h"

#include <string.h>

static struct wire_configuration plain(void)
{
    return (struct wire_configuration){.filter = filter_all(), .packing = WIRE_PLAIN};
}

/* --- accounting under back-pressure -------------------------------------------------------------
 */

#define PHASES_MAX 6000u

/* State of a host that reads one session, and the checks. */
struct follower {
    const struct bus_phase *phases; /* accepted ones, in order */
    uint32_t sequence;
    uint64_t index; /* requests delivered or reported as lost */
    uint64_t recorded, lost;
    bool ended;
    unsigned wrong;
};

static void follow_records(struct follower *follower, const struct wire_frame *frame)
{
    static struct record records[WIRE_FRAME_RECORDS_MAX];
    uint64_t tick = frame->first_tick;
    follower->wrong += wire_frame_records(frame, records) != 0;
    follower->wrong += frame->count == 0;
    for (unsigned i = 0; i < frame->count; i++) {
        const struct bus_phase *phase = &follower->phases[follower->index++];
        tick += i ? records[i].time : 0;
        follower->wrong += records[i].address != (uint32_t)phase->address_a;
        follower->wrong += tick != phase->tick;
    }
    follower->recorded += frame->count;
}

static void follow(struct follower *follower, const struct wire_frame *frame, uint32_t session)
{
    if (frame->session != session)
        return;
    follower->wrong += follower->ended;
    follower->wrong += frame->sequence != follower->sequence++;
    /* All requests before the frame are delivered or counted in its loss. */
    follower->wrong += frame->first_index != follower->index + frame->lost;
    if (frame->lost) {
        follower->wrong += frame->lost_first_tick != follower->phases[follower->index].tick;
        follower->index += frame->lost;
        follower->lost += frame->lost;
        follower->wrong += frame->lost_last_tick != follower->phases[follower->index - 1].tick;
        follower->wrong += frame->kind == WIRE_HEARTBEAT || frame->kind == WIRE_REPLY;
    }
    if (frame->kind == WIRE_RECORDS || frame->kind == WIRE_PACKED)
        follow_records(follower, frame);
    follower->ended |= frame->kind == WIRE_END;
}

static size_t random_phases(struct bus_phase *phases, uint64_t *random)
{
    size_t count = 1 + random_below(random, PHASES_MAX);
    uint64_t tick = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t gap = 3 + random_below(random, random_below(random, 20) ? 200 : 70000);
        if (random_below(random, 500) == 0)
            gap = UINT32_MAX - 2 + random_below(random, 1000);
        tick += gap;
        phases[i] = board_rig_fetch(tick, (uint32_t)(i * 8 + 0x1000));
    }
    return count;
}

/* One session on a link that accepts any number of bytes at a time. */
static void run_session(uint64_t seed, struct follower *follower, size_t *sent)
{
    static struct bus_phase phases[PHASES_MAX];
    uint64_t random = seed * 2654435761u + 1;
    struct board_rig *rig = board_rig_new(4 + (uint32_t)random_below(&random, 5));
    struct wire_configuration configuration = plain();
    struct wire_frame frame;
    *follower = (struct follower){.phases = phases, .sequence = 1};
    *sent = random_phases(phases, &random);

    configuration.packing = seed & 1 ? WIRE_DELTA : WIRE_PLAIN;
    configuration.heartbeat_ms = seed & 2 ? 1 : 0;
    configuration.flush_us = seed & 4 ? 300 : 0;
    rig->phases = phases;
    board_rig_arm(rig, &configuration, 77);
    size_t most = 64u << random_below(&random, 9);
    while (rig->taken < *sent) {
        rig->happened += random_below(&random, 100);
        if (rig->happened > *sent)
            rig->happened = *sent;
        rig->microseconds += random_below(&random, 200);
        rig->link_room = random_below(&random, 3) ? 0 : random_below(&random, most);
        if (random_below(&random, 50) == 0)
            board_rig_command(rig, WIRE_STATUS, 5, NULL, 0);
        board_step(&rig->board);
        while (board_rig_frame(rig, &frame))
            follow(follower, &frame, 77);
    }
    if (seed & 8)
        rig->ended = true;
    else
        board_rig_command(rig, WIRE_STOP, 9, NULL, 0);
    for (unsigned i = 0; i < 10000 && !follower->ended; i++) {
        rig->link_room = 500;
        board_step(&rig->board);
        while (board_rig_frame(rig, &frame)) {
            follow(follower, &frame, 77);
            bool ended = frame.kind == WIRE_END && frame.flags & WIRE_FLAG_BUS_ENDED;
            follower->wrong += frame.kind == WIRE_END && ended != (seed >> 3 & 1);
        }
    }
    struct wire_counters counters;
    board_counters(&rig->board, &counters);
    follower->wrong += counters.seen != *sent || counters.accepted != *sent;
    follower->wrong += counters.lost != follower->lost || counters.state != BOARD_IDLE;
    board_rig_free(rig);
}

static void test_accounting(void)
{
    unsigned wrong = 0, lossy = 0, clean = 0;
    for (uint64_t seed = 1; seed <= 3000; seed++) {
        struct follower follower;
        size_t sent;
        run_session(seed, &follower, &sent);
        wrong += follower.wrong || !follower.ended || follower.recorded + follower.lost != sent;
        lossy += follower.lost > 0;
        clean += follower.lost == 0;
    }
    CU_ASSERT_EQUAL(wrong, 0);
    CU_ASSERT(lossy > 300 && clean > 300);
}

static void test_room_is_kept(void)
{
    /* At most as many phases as board_room allows: nothing is lost, whatever the link does. */
    static struct bus_phase phases[PHASES_MAX];
    unsigned lost = 0, waited = 0;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        uint64_t random = seed;
        struct board_rig *rig = board_rig_new(4 + (uint32_t)random_below(&random, 3));
        struct wire_configuration configuration = plain();
        struct wire_frame frame;
        size_t sent = random_phases(phases, &random);
        configuration.packing = seed & 1 ? WIRE_DELTA : WIRE_PLAIN;
        rig->phases = phases;
        CU_ASSERT_EQUAL(board_room(&rig->board), 0);
        board_rig_arm(rig, &configuration, 77);
        while (rig->happened < sent) {
            uint32_t room = board_room(&rig->board);
            waited += room == 0;
            while (room-- && rig->happened < sent &&
                   phases[rig->happened].tick - phases[rig->taken].tick < UINT32_MAX)
                rig->happened++;
            while (rig->taken < rig->happened)
                board_step(&rig->board);
            rig->link_room = random_below(&random, 3000);
            board_step(&rig->board);
            while (board_rig_frame(rig, &frame))
                ;
        }
        struct wire_counters counters;
        board_counters(&rig->board, &counters);
        lost += counters.lost > 0 || counters.accepted != sent;
        board_rig_free(rig);
    }
    CU_ASSERT_EQUAL(lost, 0);
    CU_ASSERT(waited > 500);
}

/* --- time ---------------------------------------------------------------------------------------
 */

static void test_times(void)
{
    struct bus_phase phases[] = {
        board_rig_fetch(UINT32_MAX, 0x10),                    /* as real traces begin */
        board_rig_fetch(UINT32_MAX + UINT64_C(5), 0x18),      /* 5 later */
        board_rig_fetch(UINT64_C(2) * UINT32_MAX + 4, 0x20),  /* the longest exact time */
        board_rig_fetch(UINT64_C(3) * UINT32_MAX + 4, 0x28),  /* saturates exactly */
        board_rig_fetch(UINT64_C(10) * UINT32_MAX, 0x30),     /* saturates */
        board_rig_fetch(UINT64_C(10) * UINT32_MAX + 7, 0x38), /* 7 later */
    };
    static const uint32_t times[] = {UINT32_MAX, 5, UINT32_MAX - 1, UINT32_MAX, UINT32_MAX, 7};
    static const unsigned counts[] = {3, 1, 2};
    struct wire_configuration configuration = plain();
    struct board_rig *rig = board_rig_new(8);
    struct wire_frame frame;
    rig->phases = phases;
    board_rig_arm(rig, &configuration, 3);
    rig->happened = 6;
    rig->ended = true;
    unsigned at = 0;
    for (unsigned i = 0; i < 3; i++) {
        struct record records[8];
        CU_ASSERT_FATAL(board_rig_await(rig, WIRE_RECORDS, &frame));
        CU_ASSERT_EQUAL(frame.count, counts[i]);
        CU_ASSERT_EQUAL(frame.first_tick, phases[at].tick);
        CU_ASSERT_EQUAL_FATAL(wire_frame_records(&frame, records), 0);
        for (unsigned k = 0; k < frame.count; k++)
            CU_ASSERT_EQUAL(records[k].time, times[at++]);
    }
    CU_ASSERT(board_rig_await(rig, WIRE_END, &frame));
    board_rig_free(rig);
}

static void test_second_session_counts_from_its_arming(void)
{
    struct bus_phase phases[] = {board_rig_fetch(500, 0x10), board_rig_fetch(900, 0x18),
                                 board_rig_fetch(1200, 0x20)};
    struct wire_configuration configuration = plain();
    struct board_rig *rig = board_rig_new(4);
    struct wire_frame frame;
    struct record record;
    rig->phases = phases;
    board_rig_arm(rig, &configuration, 3);
    rig->happened = 1;
    board_rig_settle(rig);
    board_rig_command(rig, WIRE_STOP, 1, NULL, 0);
    CU_ASSERT(board_rig_await(rig, WIRE_END, &frame));
    rig->now = 1000; /* the phase at 900 precedes this arming */
    board_rig_arm(rig, &configuration, 4);
    rig->happened = 3;
    rig->ended = true;
    CU_ASSERT_FATAL(board_rig_await(rig, WIRE_RECORDS, &frame));
    CU_ASSERT_EQUAL(frame.session, 4);
    CU_ASSERT_EQUAL(frame.first_index, 0);
    CU_ASSERT_EQUAL(frame.first_tick, 200);
    CU_ASSERT_EQUAL_FATAL(frame.count, 1);
    CU_ASSERT_EQUAL(wire_frame_records(&frame, &record), 0);
    CU_ASSERT_EQUAL(record.time, 200);
    board_rig_free(rig);
}

static void test_flush_and_heartbeat(void)
{
    struct bus_phase phases[] = {board_rig_fetch(100, 0x10), board_rig_fetch(200, 0x18)};
    struct wire_configuration configuration = plain();
    struct wire_counters counters;
    struct board_rig *rig = board_rig_new(4);
    struct wire_frame frame;
    configuration.flush_us = 1000;
    configuration.heartbeat_ms = 10;
    rig->phases = phases;
    board_rig_arm(rig, &configuration, 3);
    rig->happened = 1;
    board_rig_settle(rig);
    rig->microseconds = 999;
    CU_ASSERT_FALSE(board_step(&rig->board));
    CU_ASSERT_FALSE(board_rig_frame(rig, &frame));
    rig->microseconds = 1000;
    CU_ASSERT_FATAL(board_rig_await(rig, WIRE_RECORDS, &frame));
    CU_ASSERT_EQUAL(frame.count, 1);

    rig->microseconds = 9999;
    board_rig_settle(rig);
    CU_ASSERT_FALSE(board_rig_frame(rig, &frame));
    rig->happened = 2; /* a partly filled frame is sent before the heartbeat */
    board_rig_settle(rig);
    rig->microseconds = 10000;
    board_rig_settle(rig);
    CU_ASSERT(board_rig_frame(rig, &frame) && frame.kind == WIRE_RECORDS);
    CU_ASSERT_FATAL(board_rig_frame(rig, &frame) && frame.kind == WIRE_HEARTBEAT);
    CU_ASSERT_EQUAL(frame.first_index, 2);
    CU_ASSERT_EQUAL(frame.first_tick, 200);
    CU_ASSERT_EQUAL(wire_counters_get(&counters, frame.payload, frame.payload_bytes), 0);
    CU_ASSERT_EQUAL(counters.accepted, 2);
    CU_ASSERT_EQUAL(counters.session, frame.session);
    CU_ASSERT_EQUAL(counters.state, BOARD_ARMED);
    rig->microseconds = 20000;
    CU_ASSERT(board_rig_await(rig, WIRE_HEARTBEAT, &frame));
    board_rig_free(rig);
}

static void test_heartbeats_do_not_pile_up(void)
{
    struct wire_configuration configuration = plain();
    struct board_rig *rig = board_rig_new(4);
    struct wire_frame frame;
    unsigned heartbeats = 0;
    configuration.heartbeat_ms = 1;
    board_rig_arm(rig, &configuration, 3);
    rig->link_room = 0;
    for (unsigned i = 0; i < 100; i++) {
        rig->microseconds += 1000;
        board_step(&rig->board);
    }
    rig->link_room = SIZE_MAX;
    board_step(&rig->board);
    while (board_rig_frame(rig, &frame))
        heartbeats += frame.kind == WIRE_HEARTBEAT;
    CU_ASSERT_EQUAL(heartbeats, 1);
    rig->microseconds += 1000;
    CU_ASSERT(board_rig_await(rig, WIRE_HEARTBEAT, &frame));
    board_rig_free(rig);
}

/* --- requests that are not recorded -------------------------------------------------------------
 */

static void test_flags_and_filter(void)
{
    struct bus_phase phases[5];
    struct wire_configuration configuration = plain();
    struct wire_counters counters;
    struct board_rig *rig = board_rig_new(4);
    struct wire_frame frame;
    struct record record;
    for (unsigned i = 0; i < 5; i++)
        phases[i] = board_rig_fetch(100 * (i + 1), 0x1000 * i);
    phases[1].request_a = 014; /* 36 bits of address, above 4 GiB */
    phases[1].address_a |= UINT64_C(1) << 32;
    phases[2].request_b = 3;              /* a reserved length */
    configuration.filter.range_count = 1; /* phases[3] is outside */
    configuration.filter.ranges[0].low = 0x4000;
    configuration.filter.ranges[0].high = 0x4fff;
    rig->phases = phases;
    board_rig_arm(rig, &configuration, 3);
    rig->happened = 5;
    rig->ended = true;
    CU_ASSERT_FATAL(board_rig_await(rig, WIRE_RECORDS, &frame));
    CU_ASSERT_EQUAL(frame.flags, WIRE_FLAG_ABOVE_4GIB | WIRE_FLAG_UNDECODED);
    CU_ASSERT_EQUAL_FATAL(frame.count, 1);
    CU_ASSERT_EQUAL(wire_frame_records(&frame, &record), 0);
    CU_ASSERT_EQUAL(record.address, 0x4000);
    CU_ASSERT_EQUAL(record.time, 500); /* since the start: no record was kept before */
    CU_ASSERT_FATAL(board_rig_await(rig, WIRE_END, &frame));
    CU_ASSERT_EQUAL(frame.flags, WIRE_FLAG_BUS_ENDED);
    CU_ASSERT_EQUAL(wire_counters_get(&counters, frame.payload, frame.payload_bytes), 0);
    CU_ASSERT_EQUAL(counters.seen, 5);
    CU_ASSERT_EQUAL(counters.accepted, 1);
    CU_ASSERT_EQUAL(counters.filtered, 2);
    CU_ASSERT_EQUAL(counters.above_4gib, 1);
    CU_ASSERT_EQUAL(counters.undecoded, 1);
    CU_ASSERT_EQUAL(counters.lost, 0);
    board_rig_free(rig);
}

static void test_front_end_losses(void)
{
    struct bus_phase phases[] = {board_rig_fetch(100, 0x10),
                                 board_rig_fetch(500, 0x18),
                                 {.tick = 900, .request_a = BUS_NO_REQUEST, .missed = 3}};
    struct wire_configuration configuration = plain();
    struct wire_counters counters;
    struct board_rig *rig = board_rig_new(4);
    struct wire_frame frame;
    phases[1].missed = 7;
    rig->phases = phases;
    board_rig_arm(rig, &configuration, 3);
    rig->happened = 3;
    rig->ended = true;
    CU_ASSERT_FATAL(board_rig_await(rig, WIRE_RECORDS, &frame));
    CU_ASSERT(frame.count == 1 && frame.lost == 0);
    CU_ASSERT_FATAL(board_rig_await(rig, WIRE_RECORDS, &frame));
    CU_ASSERT(frame.count == 1 && frame.lost == 7 && frame.first_index == 8);
    CU_ASSERT(frame.lost_first_tick == 100 && frame.lost_last_tick == 500);
    CU_ASSERT_FATAL(board_rig_await(rig, WIRE_END, &frame));
    CU_ASSERT(frame.lost == 3 && frame.first_index == 12);
    CU_ASSERT(frame.lost_first_tick == 500 && frame.lost_last_tick == 900);
    board_counters(&rig->board, &counters);
    CU_ASSERT(counters.seen == 12 && counters.accepted == 12 && counters.lost == 10);
    board_rig_free(rig);
}

static const struct test_case cases[] = {
    {"recorded and lost requests add up to those sent", test_accounting},
    {"a bus that waits for room loses nothing", test_room_is_kept},
    {"times, and where they saturate", test_times},
    {"a second session counts from its arming", test_second_session_counts_from_its_arming},
    {"flush time-out and heartbeat", test_flush_and_heartbeat},
    {"heartbeats do not pile up", test_heartbeats_do_not_pile_up},
    {"above 4 GiB, undecoded, filtered", test_flags_and_filter},
    {"losses of the front end", test_front_end_losses},
    {NULL, NULL}};
TEST_SUITE(board, cases)
