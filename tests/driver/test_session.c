#include "driver/session.h"

#include "tests/driver/session_fixture.h"
#include "tests/suites.h"
#include "tests/support/fake_board.h"
#include "tests/support/wire_frames.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CAPACITY FIXTURE_CAPACITY

static struct session_statistics statistics(const struct fixture *f)
{
    struct session_statistics s;
    session_statistics(f->session, &s);
    return s;
}

static void test_conversation(void)
{
    struct fixture f;
    bool freed = false;
    struct fake_board *board = fake_board_new();
    board->freed = &freed;
    board->piece = 1000;
    fixture_start(&f, board);
    CU_ASSERT_STRING_EQUAL(session_identity(f.session)->serial, "F1");
    struct session_settings settings = session_settings_default();
    settings.filter.processors = 5;
    settings.filter_text = "processor=0|2";
    settings.packing = WIRE_PLAIN;
    CU_ASSERT_EQUAL(session_arm(f.session, &settings, &f.error), 0);
    CU_ASSERT_EQUAL(board->configuration.filter.processors, 5);
    CU_ASSERT_EQUAL(board->configuration.heartbeat_ms, 250);
    const struct capture_info *info = source_info(f.source);
    CU_ASSERT_EQUAL(info->clock_hz, 66000000);
    CU_ASSERT_STRING_EQUAL(info->board, "fake board F1");
    CU_ASSERT_STRING_EQUAL(info->bus, "p6");
    CU_ASSERT_STRING_EQUAL(info->filter, "processor=0|2");
    CU_ASSERT(info->started_ns > 0);
    for (unsigned i = 0; i < 30; i++)
        fake_board_records(board, 300, 0);
    fake_board_heartbeat(board);
    CU_ASSERT_EQUAL(fixture_next(&f, 20000), 1);
    CU_ASSERT(f.batch.count > CAPACITY - 300); /* a batch combines frames */
    board->counters.filtered = 7;
    CU_ASSERT_EQUAL(source_stop(f.source, &f.error), 0);
    CU_ASSERT_EQUAL(source_stop(f.source, &f.error), 0);
    CU_ASSERT_EQUAL(fixture_drain(&f), 0);
    CU_ASSERT_EQUAL(fixture_next(&f, 1000), 0);
    CU_ASSERT_EQUAL(source_stop(f.source, &f.error), 0);
    CU_ASSERT_EQUAL(board->heard[WIRE_STOP], 2); /* one from the start of the session */
    CU_ASSERT_EQUAL(f.records, 9000);
    CU_ASSERT_EQUAL(loss_total(&f.lost), 0);
    struct source_totals totals;
    source_totals(f.source, &totals);
    CU_ASSERT_TRUE(totals.known);
    CU_ASSERT_EQUAL(totals.accepted, 9000);
    CU_ASSERT_EQUAL(totals.filtered, 7);
    struct session_statistics s = statistics(&f);
    CU_ASSERT_EQUAL(s.records, 9000);
    CU_ASSERT_EQUAL(s.sequence_gaps + s.duplicate_frames + s.stale_frames + s.bad_frames, 0);
    fixture_end(&f);
    CU_ASSERT_TRUE(freed);
}

static void test_time_out(void)
{
    struct fixture f;
    struct fake_board *board = fake_board_new();
    fixture_arm(&f, board);
    CU_ASSERT_EQUAL(fixture_next(&f, 0), BT_TIMEOUT);
    CU_ASSERT_EQUAL(fixture_next(&f, 10), BT_TIMEOUT);
    fake_board_records(board, 5, 0);
    CU_ASSERT_EQUAL(fixture_next(&f, 10), 1);
    fake_board_records(board, 5, 0);
    CU_ASSERT_EQUAL(fixture_next(&f, 0), 1);
    fake_board_records(board, 5, 0);
    CU_ASSERT_EQUAL(fixture_next(&f, -1), 1);
    CU_ASSERT_EQUAL(f.records, 15);
    fixture_end(&f);
}

/* Loss on the board is reported before the records that follow, with the board's interval. */
static void test_bus_loss(void)
{
    struct fixture f;
    struct fake_board *board = fake_board_new();
    fixture_arm(&f, board);
    fake_board_records(board, 10, 0);
    fake_board_records(board, 10, 5);
    fake_board_end(board, 0, 3);
    CU_ASSERT_EQUAL(fixture_next(&f, 1000), 1);
    CU_ASSERT_EQUAL(f.batch.count, 10);
    CU_ASSERT_EQUAL(fixture_next(&f, 1000), 1);
    CU_ASSERT_EQUAL(f.batch.count, 10);
    CU_ASSERT_EQUAL(f.batch.lost.count[LOSS_BUS], 5);
    CU_ASSERT_EQUAL(f.batch.lost.count[LOSS_LINK], 0);
    CU_ASSERT_EQUAL(f.batch.lost.first_tick, FAKE_TICK(10));
    CU_ASSERT_EQUAL(f.batch.lost.last_tick, FAKE_TICK(14));
    CU_ASSERT_EQUAL(fixture_next(&f, 1000), 1);
    CU_ASSERT_EQUAL(f.batch.count, 0);
    CU_ASSERT_EQUAL(f.batch.first_index, 28);
    CU_ASSERT_EQUAL(f.batch.lost.count[LOSS_BUS], 3);
    CU_ASSERT_EQUAL(fixture_next(&f, 1000), 0);
    struct source_totals totals;
    source_totals(f.source, &totals);
    CU_ASSERT_EQUAL(totals.lost_bus, 8);
    CU_ASSERT_EQUAL(statistics(&f).lost.count[LOSS_BUS], 8);
    fixture_end(&f);
}

/* Missing or corrupt frames: the loss is the jump of the index, from the last known tick. */
static void test_link_loss(void)
{
    struct fixture f;
    struct fake_board *board = fake_board_new();
    fixture_arm(&f, board);
    fake_board_records(board, 10, 0);
    board->fate = FAKE_LOST;
    fake_board_records(board, 20, 0);
    board->fate = FAKE_SPOILT;
    fake_board_records(board, 30, 2);
    fake_board_bytes(board, "garbage\xa5\x0d\xb7", 10);
    fake_board_records(board, 10, 4);
    CU_ASSERT_EQUAL(fixture_next(&f, 100), 1);
    CU_ASSERT_EQUAL(f.batch.count, 10);
    CU_ASSERT_EQUAL(fixture_next(&f, 100), 1);
    CU_ASSERT_EQUAL(f.batch.count, 10);
    CU_ASSERT_EQUAL(f.batch.lost.count[LOSS_BUS], 4);
    CU_ASSERT_EQUAL(f.batch.lost.count[LOSS_LINK], 52);
    CU_ASSERT_EQUAL(f.batch.lost.first_tick, FAKE_TICK(9));
    CU_ASSERT_EQUAL(f.batch.lost.last_tick, FAKE_TICK(66));
    struct session_statistics s = statistics(&f);
    CU_ASSERT_EQUAL(s.sequence_gaps, 1);
    CU_ASSERT_EQUAL(s.reader.bad_payloads, 1);
    /* a heartbeat reports it too, before the next records arrive */
    board->fate = FAKE_LOST;
    fake_board_records(board, 7, 0);
    fake_board_heartbeat(board);
    CU_ASSERT_EQUAL(fixture_next(&f, 100), 1);
    CU_ASSERT_EQUAL(f.batch.count, 0);
    CU_ASSERT_EQUAL(f.batch.lost.count[LOSS_LINK], 7);
    fixture_end(&f);
}

static void test_duplicates_and_reordering(void)
{
    struct fixture f;
    struct fake_board *board = fake_board_new();
    fixture_arm(&f, board);
    board->fate = FAKE_TWICE;
    fake_board_records(board, 10, 0);
    board->fate = FAKE_DELAYED; /* arrives too late: already counted as lost */
    fake_board_records(board, 10, 0);
    fake_board_records(board, 10, 0);
    board->fate = FAKE_TWICE;
    fake_board_heartbeat(board);
    fake_board_end(board, 0, 0);
    CU_ASSERT_EQUAL(fixture_drain(&f), 0);
    CU_ASSERT_EQUAL(f.records, 20);
    CU_ASSERT_EQUAL(f.lost.count[LOSS_LINK], 10);
    CU_ASSERT_EQUAL(statistics(&f).duplicate_frames, 3);
    CU_ASSERT_EQUAL(f.end, 30);
    fixture_end(&f);
}

/* Frames of another session, before and after START. */
static void test_stale_frames(void)
{
    struct fixture f;
    struct fake_board *board = fake_board_new();
    board->session = 0x1234;
    board->sequence = 77;
    board->armed = true; /* by a host that crashed */
    fake_board_bytes(board, "half a frame", 12);
    fake_board_records(board, 10, 0);
    fixture_arm(&f, board);
    CU_ASSERT_NOT_EQUAL(board->session, 0x1234);
    fake_board_records(board, 10, 0);
    uint32_t session = board->session;
    board->session = 0x1234;
    fake_board_records(board, 500, 0);
    board->session = session;
    board->sequence--;
    board->accepted = 10;
    fake_board_records(board, 10, 0);
    fake_board_end(board, 0, 0);
    CU_ASSERT_EQUAL(fixture_drain(&f), 0);
    CU_ASSERT_EQUAL(f.records, 20);
    CU_ASSERT_EQUAL(loss_total(&f.lost), 0);
    CU_ASSERT(statistics(&f).stale_frames >= 1);
    fixture_end(&f);
}

static void test_silence(void)
{
    struct fixture f;
    struct fake_board *board = fake_board_new();
    struct session_settings settings = session_settings_default();
    settings.silence_ms = 60;
    fixture_arm_with(&f, board, &settings);
    board->ignored_codes = 1u << WIRE_STATUS;
    fake_board_records(board, 10, 0);
    CU_ASSERT_EQUAL(fixture_next(&f, 10), 1);
    CU_ASSERT_EQUAL(fixture_next(&f, 10), BT_TIMEOUT);
    CU_ASSERT_EQUAL(fixture_next(&f, 5000), BT_DEVICE);
    CU_ASSERT_PTR_NOT_NULL(strstr(f.error.message, "board fake has stopped answering"));
    CU_ASSERT_EQUAL(board->heard[WIRE_STATUS], 3);
    CU_ASSERT_EQUAL(fixture_next(&f, 10), BT_DEVICE);
    struct source_totals totals;
    source_totals(f.source, &totals);
    CU_ASSERT_FALSE(totals.known);
    fixture_end(&f);
    /* a board that answers is not silent, even if its heartbeats are lost */
    board = fake_board_new();
    fixture_arm_with(&f, board, &settings);
    CU_ASSERT_EQUAL(fixture_next(&f, 200), BT_TIMEOUT);
    CU_ASSERT(board->heard[WIRE_STATUS] > 0);
    fake_board_records(board, 10, 0);
    CU_ASSERT_EQUAL(fixture_next(&f, 10), 1);
    fixture_end(&f);
    /* without heartbeats silence is normal, and the wait does not poll */
    board = fake_board_new();
    settings.heartbeat_ms = 0;
    fixture_arm_with(&f, board, &settings);
    board->reads = 0;
    CU_ASSERT_EQUAL(fixture_next(&f, 150), BT_TIMEOUT);
    CU_ASSERT(board->reads < 10);
    fixture_end(&f);
}

/* A process that was stopped during a read must not count that time as silence. */
static void test_stands_still(void)
{
    struct fixture f;
    struct fake_board *board = fake_board_new();
    struct session_settings settings = session_settings_default();
    settings.silence_ms = 200;
    fixture_arm_with(&f, board, &settings);
    board->late_ms = 500;
    CU_ASSERT_EQUAL(fixture_next(&f, 10), BT_TIMEOUT);
    fake_board_records(board, 10, 0);
    CU_ASSERT_EQUAL(fixture_next(&f, 10), 1);
    CU_ASSERT_EQUAL(source_stop(f.source, &f.error), 0);
    CU_ASSERT_EQUAL(fixture_drain(&f), 0);
    fixture_end(&f);
}

/* All records are delivered, perhaps after a stop, and then the board is unplugged. */
static void expect_unplugged(struct fixture *f, bool stops, uint64_t records)
{
    if (stops)
        CU_ASSERT_EQUAL(source_stop(f->source, &f->error), 0);
    CU_ASSERT_EQUAL(fixture_drain(f), BT_CLOSED);
    CU_ASSERT_EQUAL(f->records, records);
    CU_ASSERT_PTR_NOT_NULL(strstr(f->error.message, "unplugged"));
    fixture_end(f);
}

/* A board is unplugged while the process stands still. What it had sent is delivered although the
 * board seems silent, or a stop is due, and commands fail. */
static void test_unplugged_meanwhile(void)
{
    for (unsigned stops = 0; stops < 2; stops++) {
        struct fixture f;
        struct fake_board *board = fake_board_new();
        struct session_settings settings = session_settings_default();
        settings.silence_ms = 12;
        fixture_arm_with(&f, board, &settings);
        fake_board_records(board, 100, 0);
        fake_board_records(board, 100, 0);
        board->piece = 256;
        board->slow_ms = 8;
        board->closes = board->takes_nothing = true;
        expect_unplugged(&f, stops, 200);
    }
}

/* A board that takes no commands any more, but whose stream does not end: the reason is that, also
 * when it never stops sending. */
static void test_unsent(void)
{
    static const struct {
        bool stops, babbles;
    } cases[] = {{false, false}, {false, true}, {true, false}, {true, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fixture f;
        struct fake_board *board = fake_board_new();
        struct session_settings settings = session_settings_default();
        settings.silence_ms = 60;
        fixture_arm_with(&f, board, &settings);
        fake_board_records(board, 100, 0);
        board->takes_nothing = true;
        board->babbles = cases[i].babbles;
        expect_unplugged(&f, cases[i].stops, 100);
    }
}

/* What follows a STOP that was sent is read, although no command can be sent any more. */
static void test_unsent_after_stop(void)
{
    struct fixture f;
    struct fake_board *board = fake_board_new();
    fixture_arm(&f, board);
    board->ignored_codes = 1u << WIRE_STOP;
    CU_ASSERT_EQUAL(source_stop(f.source, &f.error), 0);
    board->takes_nothing = true;
    fake_board_records(board, 100, 0);
    fake_board_records(board, 100, 0);
    fake_board_end(board, 0, 0);
    board->piece = 1024;
    board->slow_ms = 700;
    CU_ASSERT_EQUAL(fixture_drain(&f), 0);
    CU_ASSERT_EQUAL(f.records, 200);
    fixture_end(&f);
}

/* Bytes outside of frames do not end a silence. */
static void test_noise(void)
{
    struct fixture f;
    struct fake_board *board = fake_board_new();
    struct session_settings settings = session_settings_default();
    settings.silence_ms = 60;
    fixture_arm_with(&f, board, &settings);
    board->ignored_codes = 1u << WIRE_STATUS;
    fake_board_records(board, 10, 0);
    CU_ASSERT_EQUAL(fixture_next(&f, 5), 1);
    board->babbles = true;
    int result = BT_TIMEOUT;
    for (int i = 0; i < 200 && result == BT_TIMEOUT; i++)
        result = fixture_next(&f, 5);
    CU_ASSERT_EQUAL(result, BT_DEVICE);
    CU_ASSERT_PTR_NOT_NULL(strstr(f.error.message, "only noise"));
    CU_ASSERT_EQUAL(fixture_next(&f, 5), BT_DEVICE);
    fixture_end(&f);
}

static void expect_no_session(struct fake_board *board, int code, const char *message)
{
    static bool freed; /* static: outlives the board, which cppcheck must see */
    struct bt_error error = {0};
    freed = false;
    board->freed = &freed;
    CU_ASSERT_PTR_NULL(session_new(&board->stream, &error));
    CU_ASSERT_EQUAL(error.code, code);
    if (!strstr(error.message, message))
        printf("%s\n", error.message);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, message));
    CU_ASSERT_TRUE(freed);
}

static void test_who_does_not_answer(void)
{
    struct fake_board *board = fake_board_new();
    board->silent = 100;
    expect_no_session(board, BT_DEVICE, "board fake does not answer and sends nothing");
    board = fake_board_new();
    board->stuffed = true;
    fake_board_bytes(board, "Login: ", 7);
    expect_no_session(board, BT_DEVICE,
                      "board fake does not answer; it sent 7 bytes without one good frame");
    board = fake_board_new();
    board->wrong_tags = 100;
    expect_no_session(board, BT_DEVICE, "board fake sends frames but does not answer");
    board = fake_board_new();
    board->identity.protocol = 7;
    expect_no_session(board, BT_DEVICE, "board fake speaks protocol 7, this bustap speaks 1");
    board = fake_board_new();
    board->version = 2;
    expect_no_session(board, BT_DEVICE, "board fake speaks protocol 2, this bustap speaks 1");
    board = fake_board_new();
    board->closes = true;
    expect_no_session(board, BT_CLOSED, "unplugged");
}

static void test_late_and_wrong_replies(void)
{
    struct fixture f;
    struct fake_board *board = fake_board_new();
    board->silent = 2; /* STOP and IDENTIFY of the first try */
    fixture_start(&f, board);
    CU_ASSERT_EQUAL(board->heard[WIRE_IDENTIFY], 2);
    fixture_end(&f);
    board = fake_board_new();
    board->wrong_tags = 2;
    fixture_start(&f, board);
    CU_ASSERT_EQUAL(board->heard[WIRE_IDENTIFY], 2);
    fixture_end(&f);
}

static void test_refusal(void)
{
    struct fixture f;
    struct fake_board *board = fake_board_new();
    fixture_start(&f, board);
    board->refusal = WIRE_BAD_BODY;
    struct session_settings settings = session_settings_default();
    CU_ASSERT_EQUAL(session_arm(f.session, &settings, &f.error), BT_DEVICE);
    CU_ASSERT_PTR_NOT_NULL(strstr(f.error.message, "refuses the configure command"));
    board->refusal = 99;
    struct wire_counters counters;
    CU_ASSERT_EQUAL(session_status(f.session, &counters, &f.error), BT_DEVICE);
    CU_ASSERT_PTR_NOT_NULL(strstr(f.error.message, "refuses the status command"));
    CU_ASSERT_EQUAL(fixture_next(&f, 0), 0); /* not armed: no data */
    fixture_end(&f);
}

/* A board without a stall line is not asked to use it; one with it is, and its count arrives. */
static void test_stall(void)
{
    struct fixture f;
    struct fake_board *board = fake_board_new();
    struct session_settings settings = session_settings_default();
    struct source_totals totals;
    settings.stall = true;
    fixture_start(&f, board);
    CU_ASSERT_EQUAL(session_arm(f.session, &settings, &f.error), BT_DEVICE);
    CU_ASSERT_PTR_NOT_NULL(strstr(f.error.message, "cannot stall its bus"));
    fixture_end(&f);
    board = fake_board_new();
    board->identity.features = WIRE_FEATURE_STALL;
    fixture_start(&f, board);
    CU_ASSERT_EQUAL_FATAL(session_arm(f.session, &settings, &f.error), 0);
    CU_ASSERT_TRUE(board->configuration.stall);
    CU_ASSERT_TRUE(source_info(f.source)->may_stall);
    board->counters.stalled = 12345678901;
    board->counters.stalls = 17;
    fake_board_end(board, 0, 0);
    CU_ASSERT_EQUAL(fixture_next(&f, 1000), 0);
    source_totals(f.source, &totals);
    CU_ASSERT(totals.known && totals.stalled == 12345678901 && totals.stalls == 17);
    fixture_end(&f);
}

static void test_unanswered_command(void)
{
    struct fixture f;
    struct fake_board *board = fake_board_new();
    fixture_start(&f, board);
    board->stuffed = true;
    struct wire_counters counters;
    CU_ASSERT_EQUAL(session_status(f.session, &counters, &f.error), BT_DEVICE);
    CU_ASSERT_STRING_EQUAL(f.error.message,
                           "board fake does not answer the status command; unplug it, plug it in "
                           "and try again");
    fixture_end(&f);
}

/* The session gives up on a board that never stops. */
static void expect_never_stops(bool program, const char *message)
{
    struct fixture f;
    struct fake_board *board = fake_board_new();
    struct stream_operations operations = *board->stream.operations;
    operations.program = program;
    board->stream.operations = &operations;
    fixture_start(&f, board);
    struct session_settings settings = session_settings_default();
    CU_ASSERT_EQUAL(settings.stop_ms, 30000);
    settings.stop_ms = 100;
    CU_ASSERT_EQUAL_FATAL(session_arm(f.session, &settings, &f.error), 0);
    board->ignored_codes = 1u << WIRE_STOP;
    CU_ASSERT_EQUAL(source_stop(f.source, &f.error), 0);
    int result = 1;
    for (unsigned i = 0; i < 100000 && (result == 1 || result == BT_TIMEOUT); i++) {
        fake_board_records(board, 10, 0);
        result = fixture_next(&f, 5);
    }
    CU_ASSERT_EQUAL(result, BT_DEVICE);
    CU_ASSERT_STRING_EQUAL(f.error.message, message);
    CU_ASSERT(f.records > 0);
    fixture_end(&f);
}

static void test_never_stops(void)
{
    expect_never_stops(false, "board fake still sends 0.1 s after the stop command; unplug it");
    expect_never_stops(true, "board fake still sends 0.1 s after the stop command; check that the "
                             "program reads its standard input");
}

/* END does not arrive: the board's counters show what is missing. */
static void test_end_lost(void)
{
    struct fixture f;
    struct fake_board *board = fake_board_new();
    board->loses_end = true;
    fixture_arm(&f, board);
    fake_board_records(board, 10, 0);
    board->fate = FAKE_LOST;
    fake_board_records(board, 5, 0);
    CU_ASSERT_EQUAL(source_stop(f.source, &f.error), 0);
    CU_ASSERT_EQUAL(fixture_end_of(&f), 0);
    CU_ASSERT_EQUAL(f.records, 10);
    CU_ASSERT_EQUAL(f.lost.count[LOSS_LINK], 5);
    struct source_totals totals;
    source_totals(f.source, &totals);
    CU_ASSERT_TRUE(totals.known);
    CU_ASSERT_EQUAL(totals.accepted, 15);
    fixture_end(&f);
}

static void test_end_never_known(void)
{
    struct fixture f;
    struct fake_board *board = fake_board_new();
    fixture_arm(&f, board);
    fake_board_records(board, 10, 0);
    fake_board_heartbeat(board);
    board->silent = 100;
    CU_ASSERT_EQUAL(source_stop(f.source, &f.error), 0);
    CU_ASSERT_EQUAL(fixture_end_of(&f), BT_DEVICE);
    CU_ASSERT_PTR_NOT_NULL(strstr(f.error.message, "does not report how its capture ended"));
    CU_ASSERT_EQUAL(f.records, 10);
    CU_ASSERT_EQUAL(board->heard[WIRE_STOP], 1 + 3);
    CU_ASSERT_EQUAL(board->heard[WIRE_STATUS], 3);
    struct source_totals totals;
    source_totals(f.source, &totals);
    CU_ASSERT_FALSE(totals.known);
    fixture_end(&f);
}

static void test_board_gone(void)
{
    struct fixture f;
    struct fake_board *board = fake_board_new();
    fixture_arm(&f, board);
    fake_board_records(board, 10, 0);
    board->closes = true;
    CU_ASSERT_EQUAL(fixture_next(&f, 1000), 1);
    CU_ASSERT_EQUAL(fixture_next(&f, 1000), BT_CLOSED);
    CU_ASSERT_STRING_EQUAL(f.error.message, "the fake board was unplugged");
    CU_ASSERT_EQUAL(fixture_next(&f, 1000), BT_CLOSED);
    fixture_end(&f);
    /* the stream knows more */
    board = fake_board_new();
    fixture_arm(&f, board);
    board->closes = true;
    board->diagnosis = BT_DATA;
    board->explanation = "record 17 is no P6 request";
    CU_ASSERT_EQUAL(fixture_next(&f, 1000), BT_DATA);
    CU_ASSERT_STRING_EQUAL(f.error.message, "record 17 is no P6 request");
    CU_ASSERT_EQUAL(fixture_next(&f, 1000), BT_CLOSED);
    fixture_end(&f);
    /* a capture that does not start */
    board = fake_board_new();
    fixture_start(&f, board);
    struct session_settings settings = session_settings_default();
    board->closes = true;
    board->ignored_codes = 1u << WIRE_CONFIGURE;
    CU_ASSERT_EQUAL(session_arm(f.session, &settings, &f.error), BT_CLOSED);
    board->diagnosis = BT_DATA;
    board->explanation = "record 17 is no P6 request";
    CU_ASSERT_EQUAL(session_arm(f.session, &settings, &f.error), BT_DATA);
    CU_ASSERT_EQUAL(f.error.code, BT_DATA);
    CU_ASSERT_STRING_EQUAL(f.error.message, "record 17 is no P6 request");
    fixture_end(&f);
}

/* A board ends a session for a reason that its stream knows; with STOP, the host is the reason. */
static void end_for_a_reason(uint8_t flags, int diagnosis, bool stopped)
{
    struct fixture f;
    struct fake_board *board = fake_board_new();
    fixture_arm(&f, board);
    fake_board_records(board, 10, 0);
    int result = stopped ? source_stop(f.source, &f.error) : 0;
    CU_ASSERT_EQUAL(result, 0);
    if (!stopped)
        fake_board_end(board, flags, 0);
    board->diagnosis = diagnosis;
    board->explanation = "record 10 is no P6 request";
    CU_ASSERT_EQUAL(fixture_next(&f, 1000), 1);
    if (!stopped) {
        CU_ASSERT_EQUAL(fixture_next(&f, 1000), BT_DATA);
        CU_ASSERT_STRING_EQUAL(f.error.message, "record 10 is no P6 request");
    }
    CU_ASSERT_EQUAL(fixture_next(&f, 1000), 0);
    struct source_totals totals;
    source_totals(f.source, &totals);
    CU_ASSERT_TRUE(totals.known);
    fixture_end(&f);
}

static void test_bus_ended(void)
{
    end_for_a_reason(WIRE_FLAG_BUS_ENDED, BT_DATA, false);
    end_for_a_reason(0, BT_DATA, false);
    end_for_a_reason(0, BT_DEVICE, false); /* the board's counts hold nevertheless */
    end_for_a_reason(0, BT_DATA, true);
}

/* Impossible frames with correct checksums: each is reported once, and the stream continues. */
static void test_nonsense(void)
{
    struct fixture f;
    struct fake_board *board = fake_board_new();
    uint8_t payload[24] = {0};
    fixture_arm(&f, board);
    fake_board_records(board, 10, 0);
    const struct wire_frame wrong[] = {
        {.first_index = UINT64_C(1) << 63, .count = 2, .payload_bytes = 24},
        {.first_index = UINT64_MAX, .count = 2, .payload_bytes = 24},
        {.first_index = 10, .count = 2, .payload_bytes = 24, .lost = 1},
        {.first_index = 12, .count = 2, .payload_bytes = 24, .lost = UINT64_MAX},
        {.first_index = 9, .count = 2, .payload_bytes = 24},
        {.first_index = 10, .count = 3, .payload_bytes = 24},
        {.first_index = 10, .count = 2, .payload_bytes = 24, .version = 2},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct wire_frame frame = wrong[i];
        frame.version = frame.version ? frame.version : WIRE_VERSION;
        frame.kind = WIRE_RECORDS;
        frame.first_tick = FAKE_TICK(10);
        frame.session = board->session;
        frame.sequence = board->sequence++;
        frame.payload = payload;
        fake_board_frame(board, &frame);
    }
    bytes_put32(payload + 20, 2);
    const struct wire_frame overflow = {.version = WIRE_VERSION,
                                        .kind = WIRE_RECORDS,
                                        .session = board->session,
                                        .sequence = board->sequence++,
                                        .first_index = 10,
                                        .first_tick = UINT64_MAX - 1,
                                        .count = 2,
                                        .payload = payload,
                                        .payload_bytes = 24};
    fake_board_frame(board, &overflow);
    const struct wire_frame short_heartbeat = {.version = WIRE_VERSION,
                                               .kind = WIRE_HEARTBEAT,
                                               .session = board->session,
                                               .sequence = board->sequence++,
                                               .first_index = 10,
                                               .first_tick = FAKE_TICK(10),
                                               .payload = payload,
                                               .payload_bytes = 24};
    fake_board_frame(board, &short_heartbeat);
    fake_board_records(board, 10, 0);
    fake_board_end(board, 0, 0);
    CU_ASSERT_EQUAL(fixture_drain(&f), 0);
    CU_ASSERT_EQUAL(f.damaged, 9);
    CU_ASSERT_EQUAL(statistics(&f).bad_frames, 9);
    CU_ASSERT_EQUAL(f.records, 20);
    CU_ASSERT_EQUAL(loss_total(&f.lost), 0);
    fixture_end(&f);
}

/* Sends a frame of the records of requests 10 and 11, the next in order, with the caller's
 * changes. */
static void send_lie(struct fake_board *board, struct wire_frame frame, const uint32_t times[2])
{
    uint8_t payload[2 * RECORD_BYTES];
    for (unsigned i = 0; i < 2; i++) {
        struct record record = fake_record(10 + i);
        record.time = times[i];
        record_put(payload + i * RECORD_BYTES, &record);
    }
    frame.version = WIRE_VERSION;
    frame.kind = WIRE_RECORDS;
    frame.session = board->session;
    frame.sequence = board->sequence++;
    frame.count = 2;
    frame.payload = payload;
    frame.payload_bytes = sizeof payload;
    fake_board_frame(board, &frame);
}

/* Ticks that contradict earlier frames or the frame's own records: the frame is refused with the
 * reason, and its records are counted as lost on the link. */
static void test_lying_ticks(void)
{
    const uint64_t next = FAKE_TICK(10);
    const struct {
        struct wire_frame frame;
        uint32_t times[2];
        const char *reason;
    } lies[] = {
        {{.first_index = 10, .first_tick = FAKE_TICK(8)}, {10, 10}, "precedes the last one"},
        {{.first_index = 10, .first_tick = 0}, {10, 10}, "precedes the last one"},
        {{.first_index = 10, .first_tick = next + 1}, {10, 10}, "contradicts"},
        {{.first_index = 10, .first_tick = next}, {9, 10}, "contradicts"},
        {{.first_index = 10, .first_tick = next + (UINT64_C(1) << 63)}, {10, 10}, "contradicts"},
        {{.first_index = 10, .first_tick = next}, {UINT32_MAX, 10}, "contradicts"},
        {{.first_index = 10, .first_tick = next}, {10, UINT32_MAX}, "saturated"},
        {{.first_index = 10, .first_tick = UINT64_MAX - 5}, {UINT32_MAX, 10}, "overflow"},
        {{.first_index = 12,
          .first_tick = next + 50,
          .lost = 2,
          .lost_first_tick = next + 20,
          .lost_last_tick = next + 10},
         {10, 10},
         "ticks of its loss"},
        {{.first_index = 12,
          .first_tick = next + 50,
          .lost = 2,
          .lost_first_tick = FAKE_TICK(9) - 1,
          .lost_last_tick = next + 10},
         {10, 10},
         "ticks of its loss"},
        {{.first_index = 12,
          .first_tick = next + 50,
          .lost = 2,
          .lost_first_tick = next,
          .lost_last_tick = next + 51},
         {10, 10},
         "ticks of its loss"},
    };
    for (size_t i = 0; i < sizeof lies / sizeof lies[0]; i++) {
        struct fixture f;
        struct fake_board *board = fake_board_new();
        fixture_arm(&f, board);
        fake_board_records(board, 10, 0);
        send_lie(board, lies[i].frame, lies[i].times);
        CU_ASSERT_EQUAL(fixture_next(&f, 100), 1);
        CU_ASSERT_EQUAL(source_next(f.source, &f.batch, 100, &f.error), BT_DATA);
        CU_ASSERT_PTR_NOT_NULL(strstr(f.error.message, lies[i].reason));
        board->accepted = 14;
        fake_board_records(board, 6, 0);
        fake_board_end(board, 0, 0);
        CU_ASSERT_EQUAL(fixture_drain(&f), 0);
        CU_ASSERT_EQUAL(f.records, 16);
        CU_ASSERT_EQUAL(f.lost.count[LOSS_LINK], 4);
        CU_ASSERT_EQUAL(statistics(&f).bad_frames, 1);
        struct source_totals totals;
        source_totals(f.source, &totals);
        CU_ASSERT_TRUE(totals.known);
        CU_ASSERT_EQUAL(totals.accepted, 20);
        fixture_end(&f);
    }
}

/* Final counters, in END or in a late STATUS, contradict each other or the data received: the
 * session ignores them and reports that. */
static void test_lying_counters(void)
{
    const struct wire_counters lies[] = {
        {.seen = 1, .accepted = 1},
        {.accepted = UINT64_MAX},
        {.seen = 1},
        {.seen = UINT64_MAX - 10, .filtered = UINT64_MAX},
        {.lost = 100},
        {.lost = UINT64_MAX},
    };
    for (size_t i = 0; i < 2 * sizeof lies / sizeof lies[0]; i++) {
        struct fixture f;
        struct fake_board *board = fake_board_new();
        board->impatient = true;
        board->loses_end = i & 1;
        fixture_arm(&f, board);
        fake_board_records(board, 10, 0);
        fake_board_records(board, 10, 5);
        board->counters = lies[i / 2];
        CU_ASSERT_EQUAL(source_stop(f.source, &f.error), 0);
        CU_ASSERT_EQUAL(fixture_end_of(&f), 0);
        CU_ASSERT_EQUAL(f.records, 20);
        bool believed = i == 1; /* nothing else says how far an END went that is lost */
        CU_ASSERT_EQUAL(f.damaged, !believed);
        struct source_totals totals;
        source_totals(f.source, &totals);
        CU_ASSERT_EQUAL(totals.known, believed);
        CU_ASSERT_EQUAL(loss_total(&f.lost), believed ? 6 : 5);
        fixture_end(&f);
    }
}

static void test_absurd_end(void)
{
    struct fixture f;
    struct fake_board *board = fake_board_new();
    fixture_arm(&f, board);
    fake_board_records(board, 10, 0);
    board->accepted = UINT64_C(1) << 63;
    fake_board_end(board, 0, 0);
    CU_ASSERT_EQUAL(fixture_drain(&f), 0);
    CU_ASSERT_EQUAL(f.damaged, 1);
    struct source_totals totals;
    source_totals(f.source, &totals);
    CU_ASSERT_FALSE(totals.known);
    fixture_end(&f);
}

/* A batch smaller than a frame receives it in parts. */
static void test_small_batches(void)
{
    struct fixture f;
    struct fake_board *board = fake_board_new();
    fixture_arm(&f, board);
    f.batch.capacity = 7;
    fake_board_records(board, 100, 3);
    fake_board_records(board, 2, 0);
    fake_board_records(board, 8, 0);
    fake_board_end(board, 0, 0);
    CU_ASSERT_EQUAL(fixture_drain(&f), 0);
    CU_ASSERT_EQUAL(f.records, 110);
    CU_ASSERT_EQUAL(f.lost.count[LOSS_BUS], 3);
    f.batch.capacity = 0;
    CU_ASSERT_EQUAL(source_next(f.source, &f.batch, 0, &f.error), BT_USAGE);
    fixture_end(&f);
}

/* A saturated time, or a jump of the clock: the next frame begins a new batch. */
static void test_tick_discontinuity(void)
{
    struct fixture f;
    struct fake_board *board = fake_board_new();
    fixture_arm(&f, board);
    fake_board_records(board, 10, 0);
    uint8_t payload[RECORD_BYTES];
    struct record record = fake_record(10);
    record.time = UINT32_MAX;
    record_put(payload, &record);
    const struct wire_frame frame = {.version = WIRE_VERSION,
                                     .kind = WIRE_RECORDS,
                                     .session = board->session,
                                     .sequence = board->sequence++,
                                     .first_index = 10,
                                     .first_tick = UINT64_C(1) << 40,
                                     .count = 1,
                                     .payload = payload,
                                     .payload_bytes = RECORD_BYTES};
    fake_board_frame(board, &frame);
    CU_ASSERT_EQUAL(fixture_next(&f, 100), 1);
    CU_ASSERT_EQUAL(f.batch.count, 10);
    CU_ASSERT_EQUAL(source_next(f.source, &f.batch, 100, &f.error), 1);
    CU_ASSERT_EQUAL(f.batch.count, 1);
    CU_ASSERT_EQUAL(f.batch.first_tick, UINT64_C(1) << 40);
    CU_ASSERT_EQUAL(loss_total(&f.batch.lost), 0);
    fixture_end(&f);
}

static void test_again(void)
{
    struct fixture f;
    struct fake_board *board = fake_board_new();
    struct session_settings settings = session_settings_default();
    fixture_arm(&f, board);
    CU_ASSERT_EQUAL(session_arm(f.session, &settings, &f.error), BT_USAGE);
    struct wire_counters counters;
    CU_ASSERT_EQUAL(session_status(f.session, &counters, &f.error), BT_USAGE);
    fake_board_records(board, 10, 0);
    fake_board_end(board, 0, 0);
    CU_ASSERT_EQUAL(fixture_drain(&f), 0);
    CU_ASSERT_EQUAL(session_status(f.session, &counters, &f.error), 0);
    CU_ASSERT_EQUAL(counters.accepted, 10);
    uint32_t before = board->session;
    CU_ASSERT_EQUAL(session_arm(f.session, &settings, &f.error), 0);
    CU_ASSERT_NOT_EQUAL(board->session, before);
    f.end = f.records = 0;
    fake_board_records(board, 4, 0);
    CU_ASSERT_EQUAL(source_stop(f.source, &f.error), 0);
    CU_ASSERT_EQUAL(fixture_drain(&f), 0);
    CU_ASSERT_EQUAL(f.records, 4);
    fixture_end(&f);
}

/* Counts the frames that are shown. */
static void show_frames(void *argument, uint64_t done, uint64_t total)
{
    uint64_t *shown = argument;
    CU_ASSERT_EQUAL(done, *shown + 1);
    CU_ASSERT_EQUAL(total, 50);
    *shown = done;
}

static void test_self_test(void)
{
    uint64_t shown = 0;
    struct fixture f;
    struct fake_board *board = fake_board_new();
    fixture_start(&f, board);
    struct session_test_result result;
    session_watch_test(f.session, show_frames, &shown);
    CU_ASSERT_EQUAL(session_self_test(f.session, 50, &result, &f.error), 0);
    session_watch_test(f.session, NULL, NULL);
    CU_ASSERT_EQUAL(shown, 50);
    CU_ASSERT_EQUAL(result.frames, 50);
    CU_ASSERT_EQUAL(result.bytes, 50 * 4080);
    CU_ASSERT_EQUAL(result.bad_bytes + result.missing_frames, 0);
    CU_ASSERT(result.seconds > 0);
    board->pattern_missing = 3;
    board->pattern_bad = 5; /* two of them in frames that arrive */
    CU_ASSERT_EQUAL(session_self_test(f.session, 50, &result, &f.error), 0);
    CU_ASSERT_EQUAL(result.missing_frames, 3);
    CU_ASSERT_EQUAL(result.bad_bytes, 2);
    board->refusal = WIRE_BAD_COMMAND;
    CU_ASSERT_EQUAL(session_self_test(f.session, 50, &result, &f.error), BT_DEVICE);
    fixture_end(&f);
}

/* The wait for frames that arrive very slowly is limited: each has 10 ms. */
static void test_slow_self_test(void)
{
    struct fixture f;
    struct fake_board *board = fake_board_new();
    fixture_start(&f, board);
    struct session_test_result result;
    board->piece = 2048;
    board->slow_ms = 50;
    CU_ASSERT_EQUAL(session_self_test(f.session, 40, &result, &f.error), 0);
    CU_ASSERT(result.frames > 0 && result.missing_frames > 0);
    CU_ASSERT_EQUAL(result.frames + result.missing_frames, 40);
    fixture_end(&f);
}

/* The test of a simulated board, whose time is not ours, continues while frames arrive. */
static void test_simulated_self_test(void)
{
    struct fixture f;
    struct fake_board *board = fake_board_new();
    struct stream_operations operations = *board->stream.operations;
    operations.backpressure = true;
    board->stream.operations = &operations;
    fixture_start(&f, board);
    struct session_test_result result;
    board->piece = 2048;
    board->slow_ms = 300;
    CU_ASSERT_EQUAL(session_self_test(f.session, 3, &result, &f.error), 0);
    CU_ASSERT_EQUAL(result.frames, 3);
    fixture_end(&f);
}

/* Whatever happens to frames on the link, records and losses together are the board's requests, in
 * order, in batches of any size. */
static void test_everything_is_accounted_for(void)
{
    for (unsigned seed = 0; seed < 3000; seed++) {
        uint64_t random = random_seed(seed);
        struct fixture f;
        struct fake_board *board = fake_board_new();
        board->impatient = true;
        board->piece = random_below(&random, 2) * (1 + random_below(&random, 3000));
        fixture_arm(&f, board);
        f.batch.capacity = 1 + random_below(&random, random_one_in(&random, 2) ? 100 : CAPACITY);
        for (unsigned frames = random_below(&random, 30); frames > 0; frames--) {
            uint8_t garbage[100];
            random_fill(&random, garbage, sizeof garbage);
            if (random_one_in(&random, 8))
                fake_board_bytes(board, garbage, random_below(&random, sizeof garbage));
            if (random_one_in(&random, 3))
                board->fate = (enum fake_fate)random_below(&random, FAKE_DELAYED + 1);
            board->packs = random_one_in(&random, 2);
            if (random_one_in(&random, 6))
                fake_board_heartbeat(board);
            else
                fake_board_records(board, (unsigned)random_below(&random, 200),
                                   random_one_in(&random, 5) ? 9 : 0);
        }
        board->fate = FAKE_SENT;
        fake_board_end(board, 0, (unsigned)random_below(&random, 3));
        CU_ASSERT_EQUAL(fixture_drain(&f), 0);
        CU_ASSERT_EQUAL(f.damaged, 0);
        CU_ASSERT_EQUAL(f.end, board->accepted);
        CU_ASSERT_EQUAL(f.records + loss_total(&f.lost), board->accepted);
        CU_ASSERT(f.lost.count[LOSS_BUS] <= board->lost);
        struct session_statistics s = statistics(&f);
        CU_ASSERT_EQUAL(s.records, f.records);
        CU_ASSERT_EQUAL(memcmp(&s.lost, &f.lost, sizeof f.lost), 0);
        fixture_end(&f);
    }
}

static const struct test_case cases[] = {
    {"a complete session", test_conversation},
    {"time-outs", test_time_out},
    {"loss on the board", test_bus_loss},
    {"loss on the link", test_link_loss},
    {"duplicates and reordering", test_duplicates_and_reordering},
    {"frames of other sessions", test_stale_frames},
    {"silence", test_silence},
    {"unplugged meanwhile", test_unplugged_meanwhile},
    {"commands that cannot be sent", test_unsent},
    {"no commands after STOP", test_unsent_after_stop},
    {"a stopped process", test_stands_still},
    {"noise", test_noise},
    {"boards that do not answer", test_who_does_not_answer},
    {"commands that are not answered", test_unanswered_command},
    {"a board that never stops", test_never_stops},
    {"late and wrong replies", test_late_and_wrong_replies},
    {"refusals", test_refusal},
    {"stall", test_stall},
    {"END lost", test_end_lost},
    {"END never known", test_end_never_known},
    {"board unplugged", test_board_gone},
    {"bus ended", test_bus_ended},
    {"contradictory frames", test_nonsense},
    {"wrong ticks", test_lying_ticks},
    {"wrong counters", test_lying_counters},
    {"an impossible END", test_absurd_end},
    {"small batches", test_small_batches},
    {"tick discontinuity", test_tick_discontinuity},
    {"armed again", test_again},
    {"self-test", test_self_test},
    {"slow self-test", test_slow_self_test},
    {"self-test of a simulated board", test_simulated_self_test},
    {"everything is accounted for", test_everything_is_accounted_for},
    {NULL, NULL}};
TEST_SUITE(session, cases)
