/* A session with a fake board, and what it delivered: each batch must fit what came before. */
#ifndef TESTS_DRIVER_SESSION_FIXTURE_H
#define TESTS_DRIVER_SESSION_FIXTURE_H

#include "driver/session.h"
#include "tests/support/fake_board.h"

#define FIXTURE_CAPACITY 4096u

struct fixture {
    struct fake_board *board;
    struct session *session; /* NULL where the source is another */
    struct source *source;
    struct batch batch;
    struct bt_error error;
    uint64_t records;
    uint64_t end; /* index behind what was delivered or told as lost */
    struct loss lost;
    struct gap gap;
    unsigned batches, damaged, gaps;

    /* Where the board began anew: its first request's index in the capture, and by how many ticks
     * its clock is behind the capture's. */
    uint64_t index_base, tick_base;
    bool tick_base_known;
};

/* A session is opened; and armed. */
void fixture_start(struct fixture *f, struct fake_board *board);
void fixture_arm(struct fixture *f, struct fake_board *board);

/* A source that is there already. */
void fixture_source(struct fixture *f, struct source *source);

void fixture_end(struct fixture *f);

/* The next batch, whose place and contents must fit what came before. */
int fixture_next(struct fixture *f, int timeout_ms);

/* Everything up to the end; returns what next returned last. */
int fixture_drain(struct fixture *f);

/* The same, however long the end takes. */
int fixture_end_of(struct fixture *f);

/* The board begins anew behind what was delivered so far. */
void fixture_begin_anew(struct fixture *f);

#endif
