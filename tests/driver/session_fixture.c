#include "tests/driver/session_fixture.h"

#include <CUnit/CUnit.h>
#include <stdlib.h>
#include <string.h>

void fixture_source(struct fixture *f, struct source *source)
{
    *f = (struct fixture){.source = source, .tick_base_known = true};
    f->batch.records = malloc(FIXTURE_CAPACITY * sizeof *f->batch.records);
    f->batch.capacity = FIXTURE_CAPACITY;
}

void fixture_start(struct fixture *f, struct fake_board *board)
{
    struct bt_error error;
    struct session *session = session_new(&board->stream, &error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(session);
    fixture_source(f, session_source(session));
    f->session = session;
    f->board = board;
}

void fixture_arm_with(struct fixture *f, struct fake_board *board,
                      const struct session_settings *settings)
{
    fixture_start(f, board);
    CU_ASSERT_EQUAL_FATAL(session_arm(f->session, settings, &f->error), 0);
}

void fixture_arm(struct fixture *f, struct fake_board *board)
{
    struct session_settings settings = session_settings_default();
    fixture_arm_with(f, board, &settings);
}

void fixture_end(struct fixture *f)
{
    source_close(f->source);
    free(f->batch.records);
}

void fixture_begin_anew(struct fixture *f)
{
    f->index_base = f->end;
    f->tick_base_known = false;
}

static void check_records(struct fixture *f)
{
    const struct batch *batch = &f->batch;
    uint64_t own = batch->first_index - f->index_base;
    for (size_t i = 0; i < batch->count; i++) {
        struct record expected = fake_record(own + i);
        CU_ASSERT_EQUAL(memcmp(&batch->records[i], &expected, sizeof expected), 0);
    }
    if (!f->tick_base_known)
        f->tick_base = batch->first_tick - FAKE_TICK(own);
    f->tick_base_known = true;
    CU_ASSERT_EQUAL(batch->first_tick, f->tick_base + FAKE_TICK(own));
    CU_ASSERT_EQUAL(batch->last_tick, f->tick_base + FAKE_TICK(own + batch->count - 1));
    CU_ASSERT(batch->host_time_ns > 0);
}

int fixture_next(struct fixture *f, int timeout_ms)
{
    const struct batch *batch = &f->batch;
    int result = source_next(f->source, &f->batch, timeout_ms, &f->error);
    if (result == BT_DATA)
        f->damaged++;
    if (result != 1)
        return result;
    f->batches++;
    CU_ASSERT(batch->count > 0 || batch_has_loss_or_gap(batch));
    CU_ASSERT_EQUAL(batch->first_index, f->end + loss_total(&batch->lost));
    if (batch->count > 0)
        check_records(f);
    f->records += batch->count;
    f->end = batch->first_index + batch->count;
    f->gaps += batch->gap.milliseconds > 0;
    gap_add(&f->gap, &batch->gap);
    loss_add(&f->lost, &batch->lost);
    return result;
}

int fixture_drain(struct fixture *f)
{
    int result;
    do
        result = fixture_next(f, 20000); /* available data is returned immediately */
    while (result == 1 || result == BT_DATA || result == BT_NOTE);
    return result;
}

int fixture_end_of(struct fixture *f)
{
    int result;
    do
        result = fixture_drain(f);
    while (result == BT_TIMEOUT);
    return result;
}
