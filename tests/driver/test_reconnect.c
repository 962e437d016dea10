/* A source that survives unplugging: its messages, its time limit, its end. */
#include "driver/reconnect.h"

#include "tests/driver/session_fixture.h"
#include "tests/suites.h"

#include <stdlib.h>
#include <string.h>

/* Board that open_fake opens as "fake"; a global, because a reconnect_open has no context. */
static struct fake_board *plugged;
static unsigned opened;

static int open_fake(struct stream **stream, const char *specification, struct bt_error *error)
{
    opened++;
    CU_ASSERT_STRING_EQUAL(specification, "fake");
    if (!plugged || plugged->unplugged)
        return bt_fail(error, BT_DEVICE, "no fake board is plugged in");
    *stream = fake_board_cable(plugged);
    return 0;
}

static void start(struct fixture *f, int64_t reconnect_ns)
{
    struct session_settings settings = session_settings_default();
    struct bt_error error = {0};
    settings.reconnect_ns = reconnect_ns;
    plugged = fake_board_new();
    plugged->impatient = true;
    plugged->specification = "fake";
    opened = 0;
    struct source *source = reconnect_source(open_fake, "fake", &settings, &error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(source);
    CU_ASSERT_FALSE(source->backpressure);
    CU_ASSERT_EQUAL(source_start(source, &error), 0);
    fixture_source(f, source);
    f->board = plugged;
    fake_board_records(f->board, 10, 0);
    CU_ASSERT_EQUAL(fixture_next(f, 5), 1);
}

static void end(struct fixture *f)
{
    fixture_end(f);
    stream_close(&f->board->stream);
    plugged = NULL;
}

static void expect_note(struct fixture *f, const char *text)
{
    CU_ASSERT_EQUAL(fixture_next(f, 2000), BT_NOTE);
    CU_ASSERT_PTR_NOT_NULL(strstr(f->error.message, text));
}

static void test_comes_back(void)
{
    struct fixture f;
    struct bt_error why;
    start(&f, SESSION_RECONNECT_FOR_EVER);
    CU_ASSERT_EQUAL(source_absent(f.source, &why), 0);
    f.board->unplugged = true;
    expect_note(&f, "the cable was unplugged; waiting for it to come back");
    CU_ASSERT(source_absent(f.source, &why) < 0);
    expect_note(&f, "no fake board is plugged in");
    CU_ASSERT(source_absent(f.source, &why) < 0);
    CU_ASSERT_STRING_EQUAL(why.message, "no fake board is plugged in");
    /* the same reason is reported once */
    CU_ASSERT_EQUAL(fixture_next(&f, 0), BT_TIMEOUT);
    fake_board_records(f.board, 5, 2);
    f.board->unplugged = false;
    int result;
    while ((result = fixture_next(&f, 2000)) == BT_TIMEOUT)
        continue;
    CU_ASSERT_EQUAL(result, BT_NOTE);
    CU_ASSERT_PTR_NOT_NULL(strstr(f.error.message, "the board is back after"));
    CU_ASSERT_EQUAL(source_absent(f.source, &why), 0);
    CU_ASSERT(opened >= 3); /* one attempt per second */
    CU_ASSERT_EQUAL(source_stop(f.source, &f.error), 0);
    CU_ASSERT_EQUAL(fixture_end_of(&f), 0);
    CU_ASSERT_EQUAL(f.records, 15);
    CU_ASSERT_EQUAL(f.lost.count[LOSS_BUS], 2);
    CU_ASSERT_EQUAL(f.gaps, 1);
    end(&f);
}

static void test_patience(void)
{
    struct fixture f;
    start(&f, 1);
    f.board->unplugged = true;
    expect_note(&f, "waiting for it");
    int result;
    while ((result = fixture_next(&f, 50)) == BT_TIMEOUT || result == BT_NOTE)
        continue;
    CU_ASSERT_EQUAL(result, BT_CLOSED);
    CU_ASSERT_STRING_EQUAL(f.error.message, "the cable was unplugged");
    end(&f);
    /* none at all */
    start(&f, 0);
    f.board->unplugged = true;
    CU_ASSERT_EQUAL(fixture_next(&f, 50), BT_CLOSED);
    end(&f);
}

static void test_stopped_while_away(void)
{
    struct fixture f;
    struct source_totals totals;
    start(&f, SESSION_RECONNECT_FOR_EVER);
    f.board->unplugged = true;
    expect_note(&f, "waiting for it");
    CU_ASSERT_EQUAL(source_stop(f.source, &f.error), 0);
    CU_ASSERT_EQUAL(fixture_next(&f, 50), BT_DATA);
    CU_ASSERT_PTR_NOT_NULL(
        strstr(f.error.message, "was disconnected when the capture was stopped"));
    CU_ASSERT_EQUAL(fixture_next(&f, 50), 0);
    source_totals(f.source, &totals);
    CU_ASSERT_FALSE(totals.known);
    end(&f);
}

/* Unplugged during STOP: the source does not wait for the board. */
static void test_away_while_stopping(void)
{
    struct fixture f;
    start(&f, SESSION_RECONNECT_FOR_EVER);
    f.board->silent = 100;
    CU_ASSERT_EQUAL(source_stop(f.source, &f.error), 0);
    f.board->unplugged = true;
    CU_ASSERT_EQUAL(fixture_next(&f, 50), BT_CLOSED);
    end(&f);
}

/* A board that cannot be reopened gets a plain session. */
static void test_cannot_come_back(void)
{
    struct fixture f;
    struct session_settings settings = session_settings_default();
    plugged = fake_board_new();
    plugged->impatient = true;
    struct source *source = reconnect_source(open_fake, "fake", &settings, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(source);
    CU_ASSERT_EQUAL(source_start(source, NULL), 0);
    fixture_source(&f, source);
    f.board = plugged;
    f.board->unplugged = true;
    CU_ASSERT_EQUAL(fixture_next(&f, 50), BT_CLOSED);
    end(&f);
}

static void test_not_there(void)
{
    struct session_settings settings = session_settings_default();
    struct bt_error error;
    plugged = NULL;
    CU_ASSERT_PTR_NULL(reconnect_source(open_fake, "fake", &settings, &error));
    CU_ASSERT_STRING_EQUAL(error.message, "no fake board is plugged in");
}

/* Nothing is armed before the start; the start reports a board that was unplugged. */
static void test_gone_before_start(void)
{
    struct session_settings settings = session_settings_default();
    struct bt_error error;
    plugged = fake_board_new();
    plugged->impatient = true;
    plugged->specification = "fake";
    struct source *source = reconnect_source(open_fake, "fake", &settings, &error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(source);
    CU_ASSERT_FALSE(plugged->armed);
    plugged->unplugged = true;
    CU_ASSERT_EQUAL(source_start(source, &error), BT_CLOSED);
    source_close(source);
    stream_close(&plugged->stream);
    plugged = NULL;
}

static const struct test_case cases[] = {{"reconnects", test_comes_back},
                                         {"patience", test_patience},
                                         {"stopped while unplugged", test_stopped_while_away},
                                         {"unplugged while stopping", test_away_while_stopping},
                                         {"cannot reconnect", test_cannot_come_back},
                                         {"not plugged in", test_not_there},
                                         {"unplugged before the start", test_gone_before_start},
                                         {NULL, NULL}};
TEST_SUITE(reconnect, cases)
