/* Sessions whose stream breaks: the board kept the session, ended it, or restarted. */
#include "tests/driver/session_fixture.h"
#include "tests/suites.h"
#include "tests/support/random.h"

#include <stdlib.h>
#include <string.h>

static struct fake_board *new_board(void)
{
    struct fake_board *board = fake_board_new();
    board->impatient = true;
    return board;
}

/* A session over a cable, with 10 requests delivered. */
static void start(struct fixture *f, struct fake_board *board)
{
    struct session_settings settings = session_settings_default();
    struct session *session = session_new(fake_board_cable(board), &f->error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(session);
    CU_ASSERT_EQUAL_FATAL(session_arm(session, &settings, &f->error), 0);
    fixture_source(f, session_source(session));
    f->session = session;
    f->board = board;
    fake_board_records(board, 10, 0);
    CU_ASSERT_EQUAL(fixture_next(f, 5), 1);
    CU_ASSERT_EQUAL(f->records, 10);
}

static void unplug(struct fixture *f)
{
    f->board->unplugged = true;
    CU_ASSERT_EQUAL(fixture_next(f, 5), BT_CLOSED);
    session_suspend(f->session);
    CU_ASSERT_EQUAL(fixture_next(f, 0), BT_CLOSED);
    f->board->unplugged = false;
}

static int plug(struct fixture *f)
{
    return session_resume(f->session, fake_board_cable(f->board), &f->error);
}

static void end(struct fixture *f)
{
    struct fake_board *board = f->board;
    fixture_end(f);
    stream_close(&board->stream);
}

static struct source_totals totals_of(struct fixture *f)
{
    struct source_totals totals;
    source_totals(f->source, &totals);
    return totals;
}

/* The board continues counting: data in transit is lost on the link, requests without room are lost
 * on the board. */
static void test_kept(void)
{
    struct fixture f;
    start(&f, new_board());
    unplug(&f);
    fake_board_records(f.board, 7, 0);
    fake_board_lose_line(f.board);
    fake_board_records(f.board, 5, 3);
    CU_ASSERT_EQUAL(plug(&f), 0);
    fake_board_records(f.board, 4, 0);
    CU_ASSERT_EQUAL(source_stop(f.source, &f.error), 0);
    CU_ASSERT_EQUAL(fixture_end_of(&f), 0);
    CU_ASSERT_EQUAL(f.records, 10 + 5 + 4);
    CU_ASSERT_EQUAL(f.lost.count[LOSS_LINK], 7);
    CU_ASSERT_EQUAL(f.lost.count[LOSS_BUS], 3);
    CU_ASSERT_EQUAL(f.lost.first_tick, FAKE_TICK(9));
    CU_ASSERT_EQUAL(f.gaps, 1);
    CU_ASSERT_FALSE(f.gap.uncounted);
    CU_ASSERT(totals_of(&f).known);
    CU_ASSERT_EQUAL(totals_of(&f).accepted, 29);
    end(&f);
}

/* The bus was idle: the gap is still reported, once. */
static void test_quiet(void)
{
    struct fixture f;
    start(&f, new_board());
    unplug(&f);
    CU_ASSERT_EQUAL(plug(&f), 0);
    fake_board_heartbeat(f.board);
    CU_ASSERT_EQUAL(fixture_next(&f, 5), 1);
    CU_ASSERT_EQUAL(f.batch.count, 0);
    CU_ASSERT_EQUAL(f.gaps, 1);
    fake_board_heartbeat(f.board);
    fake_board_records(f.board, 2, 0);
    CU_ASSERT_EQUAL(source_stop(f.source, &f.error), 0);
    CU_ASSERT_EQUAL(fixture_end_of(&f), 0);
    CU_ASSERT_EQUAL(f.gaps, 1);
    CU_ASSERT_EQUAL(f.records, 12);
    CU_ASSERT_EQUAL(loss_total(&f.lost), 0);
    end(&f);
}

/* A frame before the answer to STATUS proves that the session continues, and is not lost. */
static void test_frames_first(void)
{
    struct fixture f;
    start(&f, new_board());
    unplug(&f);
    f.board->ignored_codes = 1u << WIRE_STATUS;
    fake_board_records(f.board, 100, 0);
    fake_board_records(f.board, 100, 0);
    CU_ASSERT_EQUAL(plug(&f), 0);
    CU_ASSERT_EQUAL(fixture_next(&f, 5), 1);
    CU_ASSERT_EQUAL(f.records, 210);
    CU_ASSERT_EQUAL(loss_total(&f.lost), 0);
    CU_ASSERT_EQUAL(f.gaps, 1);
    end(&f);
}

static void test_began_anew(void)
{
    struct fixture f;
    start(&f, new_board());
    unplug(&f);
    fake_board_records(f.board, 20, 0);
    fake_board_restart(f.board);
    CU_ASSERT_EQUAL(plug(&f), 0);
    fixture_begin_anew(&f);
    uint64_t last_tick = f.batch.last_tick;
    fake_board_records(f.board, 30, 5);
    fake_board_heartbeat(f.board);
    CU_ASSERT_EQUAL(fixture_next(&f, 5), 1);
    CU_ASSERT(f.batch.first_tick > last_tick);
    CU_ASSERT(f.batch.lost.first_tick > last_tick);
    CU_ASSERT(f.gap.uncounted);
    fake_board_records(f.board, 30, 0);
    /* unplugged once more, and this time the board keeps its session */
    unplug(&f);
    fake_board_records(f.board, 30, 0);
    CU_ASSERT_EQUAL(plug(&f), 0);
    CU_ASSERT_EQUAL(source_stop(f.source, &f.error), 0);
    CU_ASSERT_EQUAL(fixture_end_of(&f), 0);
    CU_ASSERT_EQUAL(f.gaps, 2);
    CU_ASSERT_EQUAL(f.records, 10 + 90);
    CU_ASSERT_EQUAL(f.lost.count[LOSS_BUS], 5);
    CU_ASSERT_EQUAL(f.end, 105);
    CU_ASSERT_FALSE(totals_of(&f).known);
    CU_ASSERT_EQUAL(totals_of(&f).accepted, 105);
    end(&f);
}

/* A board that claims the highest count of stalls, before and after it began anew: the sums stay
 * the highest numbers. */
static void test_highest_stalls(void)
{
    struct fixture f;
    start(&f, new_board());
    f.board->counters.stalled = f.board->counters.stalls = UINT64_MAX;
    fake_board_heartbeat(f.board);
    CU_ASSERT_EQUAL(fixture_next(&f, 5), BT_TIMEOUT);
    CU_ASSERT_EQUAL(totals_of(&f).stalled, UINT64_MAX);
    unplug(&f);
    fake_board_restart(f.board);
    CU_ASSERT_EQUAL(plug(&f), 0);
    fixture_begin_anew(&f);
    f.board->counters.stalled = f.board->counters.stalls = UINT64_MAX;
    fake_board_records(f.board, 30, 0);
    fake_board_heartbeat(f.board);
    CU_ASSERT_EQUAL(fixture_next(&f, 5), 1);
    CU_ASSERT_EQUAL(totals_of(&f).stalled, UINT64_MAX);
    CU_ASSERT_EQUAL(totals_of(&f).stalls, UINT64_MAX);
    CU_ASSERT_EQUAL(source_stop(f.source, &f.error), 0);
    CU_ASSERT_EQUAL(fixture_end_of(&f), 0);
    end(&f);
}

static void test_another_board(void)
{
    struct fixture f;
    start(&f, new_board());
    unplug(&f);
    struct fake_board *other = new_board();
    strcpy(other->identity.serial, "F2");
    CU_ASSERT_EQUAL(session_resume(f.session, fake_board_cable(other), &f.error), BT_DEVICE);
    CU_ASSERT_STRING_EQUAL(f.error.message,
                           "another board (fake board F2) is connected in place of fake board F1");
    stream_close(&other->stream);
    CU_ASSERT_EQUAL(fixture_next(&f, 0), BT_CLOSED);
    CU_ASSERT_EQUAL(plug(&f), 0);
    CU_ASSERT_EQUAL(source_stop(f.source, &f.error), 0);
    CU_ASSERT_EQUAL(fixture_end_of(&f), 0);
    CU_ASSERT_EQUAL(f.records, 10);
    CU_ASSERT_FALSE(f.gap.uncounted);
    end(&f);
}

/* Another board that is idle, and has counted more: neither the end of the capture nor its count.
 */
static void test_another_idle_board(void)
{
    struct fixture f;
    start(&f, new_board());
    unplug(&f);
    struct fake_board *other = new_board();
    strcpy(other->identity.serial, "F2");
    other->counters = (struct wire_counters){.accepted = 1000, .frames = 1000};
    CU_ASSERT_EQUAL(session_resume(f.session, fake_board_cable(other), &f.error), BT_DEVICE);
    CU_ASSERT_STRING_EQUAL(f.error.message,
                           "another board (fake board F2) is connected in place of fake board F1");
    stream_close(&other->stream);
    fake_board_restart(f.board);
    CU_ASSERT_EQUAL(plug(&f), 0);
    fixture_begin_anew(&f);
    fake_board_records(f.board, 3, 0);
    CU_ASSERT_EQUAL(source_stop(f.source, &f.error), 0);
    CU_ASSERT_EQUAL(fixture_end_of(&f), 0);
    CU_ASSERT_EQUAL(f.records, 13);
    CU_ASSERT_EQUAL(loss_total(&f.lost), 0);
    CU_ASSERT_EQUAL(totals_of(&f).accepted, 13);
    end(&f);
}

/* The bus ended meanwhile and END was lost: the idle board's counters show it. */
static void test_ended_meanwhile(void)
{
    struct fixture f;
    start(&f, new_board());
    unplug(&f);
    fake_board_records(f.board, 6, 0);
    fake_board_end(f.board, WIRE_FLAG_BUS_ENDED, 0);
    fake_board_lose_line(f.board);
    CU_ASSERT_EQUAL(plug(&f), 0);
    CU_ASSERT_EQUAL(fixture_end_of(&f), 0);
    CU_ASSERT_EQUAL(f.records, 10);
    CU_ASSERT_EQUAL(f.lost.count[LOSS_LINK], 6);
    CU_ASSERT_EQUAL(f.gaps, 1);
    CU_ASSERT(totals_of(&f).known);
    CU_ASSERT_EQUAL(totals_of(&f).accepted, 16);
    end(&f);
}

static void test_does_not_answer(void)
{
    struct fixture f;
    start(&f, new_board());
    unplug(&f);
    f.board->silent = 3;
    CU_ASSERT_EQUAL(plug(&f), BT_DEVICE);
    CU_ASSERT_STRING_EQUAL(f.error.message, "board fake is connected but does not answer");
    f.board->unplugged = true;
    CU_ASSERT_EQUAL(plug(&f), BT_CLOSED);
    f.board->unplugged = false;
    CU_ASSERT_EQUAL(plug(&f), 0);
    fake_board_records(f.board, 1, 0);
    CU_ASSERT_EQUAL(fixture_next(&f, 5), 1);
    CU_ASSERT_EQUAL(f.gaps, 1);
    end(&f);
}

/* A board restarts and cannot be armed: the next attempt starts from the same state. */
static void test_not_armed(void)
{
    struct fixture f;
    start(&f, new_board());
    unplug(&f);
    fake_board_restart(f.board);
    f.board->ignored_codes = 1u << WIRE_ARM;
    CU_ASSERT(plug(&f) < 0);
    CU_ASSERT_EQUAL(totals_of(&f).accepted, 0);
    f.board->ignored_codes = 0;
    fake_board_restart(f.board);
    CU_ASSERT_EQUAL(plug(&f), 0);
    fixture_begin_anew(&f);
    fake_board_records(f.board, 3, 0);
    CU_ASSERT_EQUAL(fixture_next(&f, 5), 1);
    CU_ASSERT_EQUAL(f.end, 13);
    CU_ASSERT_EQUAL(f.gaps, 1);
    CU_ASSERT(f.gap.uncounted);
    end(&f);
}

/* The board restarts while unplugged, and is unplugged again before it answers ARM. */
static void start_and_unplug_again(struct fixture *f)
{
    start(f, new_board());
    unplug(f);
    fake_board_restart(f->board);
    f->board->unplugged_by = 1u << WIRE_ARM;
    CU_ASSERT_EQUAL(plug(f), BT_CLOSED);
    f->board->unplugged = false;
    f->board->unplugged_by = 0;
}

/* A restarted board is armed, and unplugged before it answers: the next arming has no session to
 * continue. */
static void test_unplugged_while_armed_anew(void)
{
    struct fixture f;
    start_and_unplug_again(&f);
    CU_ASSERT(f.board->armed);
    fake_board_records(f.board, 7, 0);
    CU_ASSERT_EQUAL(plug(&f), 0);
    fixture_begin_anew(&f);
    fake_board_records(f.board, 3, 0);
    CU_ASSERT_EQUAL(fixture_next(&f, 5), 1);
    CU_ASSERT_EQUAL(f.records, 13);
    CU_ASSERT_EQUAL(f.end, 13);
    CU_ASSERT(f.gap.uncounted);
    end(&f);
}

/* The same, and that session has ended meanwhile: its end is not the capture's. */
static void test_ended_before_it_was_heard_of(void)
{
    struct fixture f;
    start_and_unplug_again(&f);
    fake_board_records(f.board, 20, 0);
    fake_board_heartbeat(f.board);
    fake_board_end(f.board, 0, 0);
    CU_ASSERT_EQUAL(plug(&f), 0);
    fixture_begin_anew(&f);
    fake_board_records(f.board, 3, 0);
    CU_ASSERT_EQUAL(fixture_next(&f, 5), 1);
    CU_ASSERT_EQUAL(f.records, 13);
    end(&f);
}

/* Frames of the old session that are still in transit do not concern a restarted board. */
static void test_stale_frames(void)
{
    struct fixture f;
    uint8_t stale[4096];
    start(&f, new_board());
    size_t size = f.board->out_size < sizeof stale ? f.board->out_size : sizeof stale;
    memcpy(stale, f.board->out, size);
    unplug(&f);
    fake_board_restart(f.board);
    fake_board_bytes(f.board, stale, size);
    CU_ASSERT_EQUAL(plug(&f), 0);
    fixture_begin_anew(&f);
    fake_board_records(f.board, 3, 0);
    CU_ASSERT_EQUAL(fixture_next(&f, 5), 1);
    CU_ASSERT_EQUAL(f.records, 13);
    CU_ASSERT(f.gap.uncounted);
    end(&f);
}

/* Unplugged during STOP: the session continues the stop after it resumes. */
static void test_stopping(void)
{
    struct fixture f;
    start(&f, new_board());
    f.board->silent = 1;
    CU_ASSERT_EQUAL(source_stop(f.source, &f.error), 0);
    unplug(&f);
    fake_board_records(f.board, 5, 0);
    CU_ASSERT_EQUAL(plug(&f), 0);
    CU_ASSERT_EQUAL(fixture_end_of(&f), 0);
    CU_ASSERT_EQUAL(f.records, 15);
    CU_ASSERT(totals_of(&f).known);
    end(&f);
}

/* With any losses and any unplugging, records and losses add up to the accepted requests. */
static void test_everything_is_accounted_for(void)
{
    for (unsigned seed = 0; seed < 1000; seed++) {
        uint64_t random = random_seed(seed);
        struct fixture f;
        start(&f, new_board());
        f.board->piece = random_below(&random, 2) * (1 + random_below(&random, 3000));
        f.batch.capacity = 1 + random_below(&random, random_one_in(&random, 2) ? 100 : 4000);
        unsigned cuts = 0;
        for (unsigned turns = 1 + random_below(&random, 30); turns > 0; turns--) {
            if (random_one_in(&random, 4))
                f.board->fate = (enum fake_fate)random_below(&random, FAKE_DELAYED + 1);
            if (random_one_in(&random, 6))
                fake_board_heartbeat(f.board);
            else
                fake_board_records(f.board, (unsigned)random_below(&random, 200),
                                   random_one_in(&random, 5) ? 9 : 0);
            if (random_one_in(&random, 3))
                while (fixture_next(&f, 0) == 1)
                    continue;
            if (random_one_in(&random, 5)) {
                while (f.board->unplugged = true, fixture_next(&f, 0) == 1)
                    continue;
                unplug(&f);
                cuts++;
                if (random_one_in(&random, 2))
                    fake_board_lose_line(f.board);
                f.board->fate = FAKE_SENT;
                CU_ASSERT_EQUAL_FATAL(plug(&f), 0);
            }
        }
        f.board->fate = FAKE_SENT;
        fake_board_end(f.board, 0, (unsigned)random_below(&random, 3));
        CU_ASSERT_EQUAL(fixture_drain(&f), 0);
        CU_ASSERT_EQUAL(f.damaged, 0);
        CU_ASSERT_EQUAL(f.end, f.board->accepted);
        CU_ASSERT_EQUAL(f.records + loss_total(&f.lost), f.board->accepted);
        CU_ASSERT(f.gaps <= cuts && (f.gaps > 0) == (cuts > 0));
        CU_ASSERT(totals_of(&f).known);
        end(&f);
    }
}

/* A suspended session accepts only a resumption. */
static void test_suspended(void)
{
    struct fixture f;
    struct session_settings settings = session_settings_default();
    struct session_test_result result;
    struct wire_counters counters;
    start(&f, new_board());
    fixture_begin_anew(&f);
    unplug(&f);
    fake_board_restart(f.board);
    CU_ASSERT_EQUAL(plug(&f), 0);
    fake_board_records(f.board, 5, 0);
    CU_ASSERT_EQUAL(fixture_next(&f, 5), 1);
    unplug(&f);
    CU_ASSERT_EQUAL(session_arm(f.session, &settings, &f.error), BT_CLOSED);
    CU_ASSERT_PTR_NOT_NULL(strstr(f.error.message, "is disconnected"));
    CU_ASSERT_EQUAL(session_status(f.session, &counters, &f.error), BT_CLOSED);
    CU_ASSERT_EQUAL(session_self_test(f.session, 1, &result, &f.error), BT_CLOSED);
    CU_ASSERT_EQUAL(source_stop(f.source, &f.error), 0);
    CU_ASSERT_EQUAL(plug(&f), 0);
    fake_board_records(f.board, 5, 0);
    CU_ASSERT_EQUAL(fixture_next(&f, 5), 1);
    CU_ASSERT_EQUAL(f.records, 20);
    end(&f);
}

static const struct test_case cases[] = {
    {"the board kept the session", test_kept},
    {"a quiet bus", test_quiet},
    {"frames before the answer", test_frames_first},
    {"the board restarted", test_began_anew},
    {"another board", test_another_board},
    {"another idle board", test_another_idle_board},
    {"the session ended meanwhile", test_ended_meanwhile},
    {"no answer", test_does_not_answer},
    {"not armed", test_not_armed},
    {"unplugged while rearmed", test_unplugged_while_armed_anew},
    {"ended before its first frame", test_ended_before_it_was_heard_of},
    {"stale frames", test_stale_frames},
    {"highest stalls", test_highest_stalls},
    {"while stopping", test_stopping},
    {"while suspended", test_suspended},
    {"everything is accounted for", test_everything_is_accounted_for},
    {NULL, NULL}};
TEST_SUITE(session_resume, cases)
