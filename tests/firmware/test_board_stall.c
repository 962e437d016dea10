#include "firmware/board.h"
#include "tests/suites.h"
#include "tests/support/board_rig.h"
#include "tests/support/random.h"

/* Requests that are on the bus in spite of the stall: it takes effect late. */
#define LATE 3u

#define PHASES_MAX 6000u

/* One session with a stalled bus. */
struct stalled_session {
    uint64_t seed, random;
    struct board_rig *rig;
    struct bus_phase phases[PHASES_MAX];
    size_t count;
    size_t late; /* requests that may still come although the bus is stalled */
    uint64_t stalled;
    uint64_t delivered;
    unsigned wrong;
    bool ended;
};

static void choose_phases(struct stalled_session *session)
{
    uint64_t tick = 0;
    session->count = 1 + random_below(&session->random, PHASES_MAX);
    for (size_t i = 0; i < session->count; i++) {
        tick += 3 + random_below(&session->random, random_below(&session->random, 20) ? 9 : 70000);
        /* a saturated time begins a new frame: these take room much faster than others */
        if (random_below(&session->random, session->seed & 16 ? 40 : 500) == 0)
            tick += UINT32_MAX;
        session->phases[i] = board_rig_fetch(tick, (uint32_t)i * 8);
    }
    session->rig->phases = session->phases;
}

static void take_frames(struct stalled_session *session)
{
    static struct record records[WIRE_FRAME_RECORDS_MAX];
    struct wire_counters counters;
    struct wire_frame frame;
    while (board_rig_frame(session->rig, &frame)) {
        session->wrong += frame.lost != 0;
        if (frame.kind == WIRE_RECORDS || frame.kind == WIRE_PACKED) {
            session->wrong += wire_frame_records(&frame, records) != 0;
            for (unsigned i = 0; i < frame.count; i++)
                session->wrong += records[i].address != session->delivered++ * 8;
        }
        if (frame.kind == WIRE_END || frame.kind == WIRE_HEARTBEAT) {
            session->wrong += frame.payload_bytes != WIRE_COUNTERS_BYTES;
            session->wrong += wire_counters_get(&counters, frame.payload, frame.payload_bytes) != 0;
            session->wrong += counters.stalled > session->stalled || counters.lost != 0;
            session->ended = frame.kind == WIRE_END;
            if (!session->ended)
                continue;
            session->wrong += counters.stalled != session->stalled;
            session->wrong += counters.stalls != session->rig->stalls.count - 1000;
            session->wrong += counters.accepted != session->count;
        }
    }
}

/* The bus continues for a while: by a few requests if it is stalled. */
static void run_bus(struct stalled_session *session)
{
    struct board_rig *rig = session->rig;
    size_t more = random_below(&session->random, 100);
    if (rig->stall == BUS_STALL_NOW) {
        more = more < session->late ? more : session->late;
        session->late -= more;
        rig->stalls.ticks += 17;
        session->stalled += 17;
    } else {
        session->late = LATE;
    }
    size_t left = session->count - rig->happened;
    rig->happened += more < left ? more : left;
}

static void run_session(struct stalled_session *session)
{
    struct wire_configuration configuration = {.filter = filter_all(), .stall = true};
    struct board_rig *rig = board_rig_new(4 + (uint32_t)random_below(&session->random, 5));
    session->rig = rig;
    choose_phases(session);
    configuration.packing = session->seed & 1 ? WIRE_DELTA : WIRE_PLAIN;
    configuration.heartbeat_ms = session->seed & 2 ? 1 : 0;
    configuration.flush_us = session->seed & 4 ? 300 : 0;
    /* from before the session, and not counted in it */
    rig->stalls = (struct bus_stalls){.ticks = 5000, .count = 1000};
    board_rig_arm(rig, &configuration, 77);
    session->wrong += rig->stall == BUS_STALL_NEVER;
    size_t most = 64u << random_below(&session->random, 9);
    for (unsigned i = 0; i < 100000 && !session->ended; i++) {
        run_bus(session);
        rig->ended = rig->happened == session->count;
        rig->microseconds += random_below(&session->random, 200);
        rig->link_room =
            random_below(&session->random, 3) ? 0 : random_below(&session->random, most);
        if (random_below(&session->random, 50) == 0)
            board_rig_command(rig, WIRE_STATUS, 5, NULL, 0);
        board_step(&rig->board);
        take_frames(session);
    }
    session->wrong += !session->ended || session->delivered != session->count;
    session->wrong += rig->stall != BUS_STALL_NEVER;
    board_rig_free(rig);
}

static void test_nothing_is_lost(void)
{
    static struct stalled_session session;
    unsigned wrong = 0, stalled = 0;
    for (uint64_t seed = 1; seed <= 1000; seed++) {
        session = (struct stalled_session){.seed = seed, .random = random_seed(seed)};
        run_session(&session);
        wrong += session.wrong > 0;
        stalled += session.stalled > 0;
    }
    CU_ASSERT_EQUAL(wrong, 0);
    CU_ASSERT(stalled > 200);
}

static void bring_to_stall(struct board_rig *rig, bool stall)
{
    static struct bus_phase phases[PHASES_MAX];
    const struct wire_configuration configuration = {.filter = filter_all(), .stall = stall};
    for (size_t i = 0; i < PHASES_MAX; i++)
        phases[i] = board_rig_fetch(10 * i, 0);
    rig->phases = phases;
    board_rig_arm(rig, &configuration, 5);
    rig->happened = PHASES_MAX;
    rig->link_room = 0;
    board_rig_settle(rig);
}

/* Without the setting, the line is never driven. */
static void test_off(void)
{
    struct board_rig *rig = board_rig_new(4);
    struct wire_counters counters;
    bring_to_stall(rig, false);
    CU_ASSERT_EQUAL(rig->stall, BUS_STALL_NEVER);
    CU_ASSERT_EQUAL(rig->stalls.count, 0);
    board_counters(&rig->board, &counters);
    CU_ASSERT(counters.lost > 0 && counters.accepted == PHASES_MAX);
    board_rig_free(rig);
}

/* STOP frees the bus at once, although the host reads nothing, and the phases that wait for room
 * belong to no session: a later one does not deliver them. */
static void test_stop(void)
{
    struct board_rig *rig = board_rig_new(4);
    struct wire_frame frame;
    bring_to_stall(rig, true);
    CU_ASSERT_EQUAL(rig->stall, BUS_STALL_NOW);
    CU_ASSERT(rig->stalls.count > 0);
    board_rig_command(rig, WIRE_STOP, 1, NULL, 0);
    board_rig_settle(rig);
    CU_ASSERT_EQUAL(rig->stall, BUS_STALL_NEVER);
    CU_ASSERT_EQUAL(rig->taken, PHASES_MAX); /* and dropped */
    rig->link_room = SIZE_MAX;
    CU_ASSERT_FATAL(board_rig_await(rig, WIRE_END, &frame));
    CU_ASSERT_EQUAL(frame.lost, 0);
    bring_to_stall(rig, true);
    rig->link_room = SIZE_MAX;
    CU_ASSERT_FALSE(board_rig_await(rig, WIRE_RECORDS, &frame));
    board_rig_free(rig);
}

static const struct test_case cases[] = {{"a stalled bus loses nothing", test_nothing_is_lost},
                                         {"without the setting the bus is never stalled", test_off},
                                         {"STOP frees a stalled bus", test_stop},
                                         {NULL, NULL}};
TEST_SUITE(board_stall, cases)
