/* The last frames of a session lose bytes: the session asks the board for its status before it
 * reports that the board does not answer, and delivers or counts every accepted request. */
#include "driver/session.h"

#include "tests/driver/session_fixture.h"
#include "tests/suites.h"
#include "tests/support/fake_board.h"

#include <stdio.h>
#include <string.h>

#define RECORDS 12u /* in each frame */

/* Where the last frames are on the at. */
struct frame_offsets {
    size_t records, end, size; /* of the last records frame, of END, and after it */
};

/* Makes two frames of records and END, and delivers the first. */
static struct frame_offsets start(struct fixture *f, struct fake_board *board)
{
    struct session_settings settings = session_settings_default();
    struct frame_offsets at;
    settings.silence_ms = 12;
    fixture_start(f, board);
    board->impatient = true;
    CU_ASSERT_EQUAL_FATAL(session_arm(f->session, &settings, &f->error), 0);
    fake_board_records(board, RECORDS, 0);
    CU_ASSERT_EQUAL_FATAL(fixture_next(f, 0), 1);
    at.records = board->out_size;
    fake_board_records(board, RECORDS, 0);
    at.end = board->out_size;
    fake_board_end(board, WIRE_FLAG_BUS_ENDED, 0);
    at.size = board->out_size;
    return at;
}

/* Removes the bytes from one offset to another. */
static void cut(struct fake_board *board, size_t from, size_t to)
{
    memmove(board->out + from, board->out + to, board->out_size - to);
    board->out_size -= to - from;
}

static void expect_end(struct fixture *f, size_t from, size_t to)
{
    struct source_totals totals;
    int result = fixture_end_of(f);
    if (result != 0)
        printf("bytes %zu to %zu lost: %s\n", from, to, f->error.message);
    CU_ASSERT_EQUAL(result, 0);
    CU_ASSERT_EQUAL(f->records + f->lost.count[LOSS_LINK], 2 * RECORDS);
    source_totals(f->source, &totals);
    CU_ASSERT_TRUE(totals.known);
    CU_ASSERT_EQUAL(totals.accepted, 2 * RECORDS);
}

/* One case: bytes `from` to `to` of the last frames are lost. */
static void lose(size_t from, size_t to)
{
    struct fixture f;
    struct fake_board *board = fake_board_new();
    struct frame_offsets at = start(&f, board);
    cut(board, at.records + from, at.records + to);
    expect_end(&f, from, to);
    fixture_end(&f);
}

static void measure(struct frame_offsets *at)
{
    struct fixture f;
    *at = start(&f, fake_board_new());
    at->end -= at->records;
    at->size -= at->records;
    fixture_end(&f);
}

/* The frame before END is truncated: END is within the length that its header claims. */
static void test_swallowed(void)
{
    struct frame_offsets at;
    measure(&at);
    for (size_t from = 0; from < at.end; from++)
        lose(from, at.end);
}

/* One byte of the last records frame is missing. */
static void test_hole(void)
{
    struct frame_offsets at;
    measure(&at);
    for (size_t from = 0; from < at.end; from++)
        lose(from, from + 1);
}

/* The stream ends at any byte of the last two frames. */
static void test_cut_off(void)
{
    struct frame_offsets at;
    measure(&at);
    for (size_t from = 0; from < at.size; from++)
        lose(from, at.size);
}

/* A STOP's answer and END follow a truncated frame. All repeated answers together are much shorter
 * than a large frame claims to be. */
static void test_stopped(void)
{
    struct fixture f;
    struct fake_board *board = fake_board_new();
    struct session_settings settings = session_settings_default();
    fixture_start(&f, board);
    CU_ASSERT_EQUAL_FATAL(session_arm(f.session, &settings, &f.error), 0);
    fake_board_records(board, RECORDS, 0);
    CU_ASSERT_EQUAL_FATAL(fixture_next(&f, 0), 1);
    fake_board_records(board, 1000, 0);
    CU_ASSERT_EQUAL(source_stop(f.source, &f.error), 0);
    cut(board, board->out_at + 100, board->out_at + 4000);
    CU_ASSERT_EQUAL(fixture_end_of(&f), 0);
    CU_ASSERT_EQUAL(f.records, RECORDS);
    CU_ASSERT_EQUAL(f.lost.count[LOSS_LINK], 1000);
    fixture_end(&f);
}

static const struct test_case cases[] = {{"END after a truncated frame", test_swallowed},
                                         {"a byte missing from the last frame", test_hole},
                                         {"a stream that ends anywhere", test_cut_off},
                                         {"stopped after a truncated frame", test_stopped},
                                         {NULL, NULL}};
TEST_SUITE(session_end, cases)
