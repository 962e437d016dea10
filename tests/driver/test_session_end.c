/* The last frames of a session lose bytes: the board is asked before it is said to have stopped
 * answering, and everything that it accepted is delivered or counted. */
#include "driver/session.h"

#include "tests/driver/session_fixture.h"
#include "tests/suites.h"
#include "tests/support/fake_board.h"

#include <stdio.h>
#include <string.h>

#define RECORDS 12u /* in each frame */

/* Where the last frames are on the line. */
struct line {
    size_t records, end, size; /* their first bytes, and behind the last */
};

/* Two frames of records, the first of which has been delivered, and END. */
static struct line start(struct fixture *f, struct fake_board *board)
{
    struct session_settings settings = session_settings_default();
    struct line line;
    settings.silence_ms = 12;
    fixture_start(f, board);
    board->impatient = true;
    CU_ASSERT_EQUAL_FATAL(session_arm(f->session, &settings, &f->error), 0);
    fake_board_records(board, RECORDS, 0);
    CU_ASSERT_EQUAL_FATAL(fixture_next(f, 0), 1);
    line.records = board->out_size;
    fake_board_records(board, RECORDS, 0);
    line.end = board->out_size;
    fake_board_end(board, WIRE_FLAG_BUS_ENDED, 0);
    line.size = board->out_size;
    return line;
}

/* The bytes from one place to another are lost. */
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

/* One case: what is lost reaches from one byte of the last frames to another. */
static void lose(size_t from, size_t to)
{
    struct fixture f;
    struct fake_board *board = fake_board_new();
    struct line line = start(&f, board);
    cut(board, line.records + from, line.records + to);
    expect_end(&f, from, to);
    fixture_end(&f);
}

static void measure(struct line *line)
{
    struct fixture f;
    *line = start(&f, fake_board_new());
    line->end -= line->records;
    line->size -= line->records;
    fixture_end(&f);
}

/* The frame in front of END is cut short: END is within what its header claims. */
static void test_swallowed(void)
{
    struct line line;
    measure(&line);
    for (size_t from = 0; from < line.end; from++)
        lose(from, line.end);
}

/* Bytes are missing from the middle of the last frame, one to all. */
static void test_hole(void)
{
    struct line line;
    measure(&line);
    for (size_t at = 0; at < line.end; at++)
        lose(at, at + 1);
}

/* The line ends at any byte of the last two frames. */
static void test_cut_off(void)
{
    struct line line;
    measure(&line);
    for (size_t from = 0; from < line.size; from++)
        lose(from, line.size);
}

/* The same with a STOP, whose answer and END are behind the frame that is cut short. The repeated
 * answers are much less than a large frame claims. */
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

static const struct test_case cases[] = {{"END behind a frame cut short", test_swallowed},
                                         {"a byte missing from the last frame", test_hole},
                                         {"a line that ends anywhere", test_cut_off},
                                         {"stopped behind a frame cut short", test_stopped},
                                         {NULL, NULL}};
TEST_SUITE(session_end, cases)
