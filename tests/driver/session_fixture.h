/* A session with a fake board; checks that each batch continues the previous ones. */
#ifndef TESTS_DRIVER_SESSION_FIXTURE_H
#define TESTS_DRIVER_SESSION_FIXTURE_H

#include "driver/session.h"
#include "tests/support/fake_board.h"

#define FIXTURE_CAPACITY 4096u

struct fixture {
    struct fake_board *board;
    struct session *session; /* NULL for another source */
    struct source *source;
    struct batch batch;
    struct bt_error error;
    uint64_t records;
    uint64_t end; /* index after the last record delivered or reported as lost */
    struct loss lost;
    struct gap gap;
    unsigned batches, damaged, gaps;

    /* After a restart of the board: the index of its first request in the capture, and the offset
     * of its clock to the capture's ticks. */
    uint64_t index_base, tick_base;
    bool tick_base_known;
};

/* Opens a session; and arms the board, with the default settings or others. */
void fixture_start(struct fixture *f, struct fake_board *board);
void fixture_arm(struct fixture *f, struct fake_board *board);
void fixture_arm_with(struct fixture *f, struct fake_board *board,
                      const struct session_settings *settings);

/* Uses an existing source. */
void fixture_source(struct fixture *f, struct source *source);

void fixture_end(struct fixture *f);

/* Reads the next batch, whose position and contents must continue the previous ones. */
int fixture_next(struct fixture *f, int timeout_ms);

/* Reads to the end; returns the last result of next. */
int fixture_drain(struct fixture *f);

/* The same without a time limit. */
int fixture_end_of(struct fixture *f);

/* The board restarts after the records delivered so far. */
void fixture_begin_anew(struct fixture *f);

#endif
