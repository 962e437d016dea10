#include "firmware/board_records.h"

#include "firmware/board_frames.h"
#include "firmware/p6.h"

void board_records_reset(struct board *board)
{
    board->base_tick = board->bus.now(board->bus.context);
    board->seen_tick = board->kept_tick = 0;
    if (board->bus.stalls)
        board->base_stalls = board->bus.stalls(board->bus.context);
    board->counters = (struct wire_counters){0};
    board->lost = board->lost_first_tick = board->lost_last_tick = 0;
    board->flags = board->end_flags = 0;
    board->queue.peak = board->queue.waiting;
}

/* Counts accepted requests as dropped somewhere between two ticks, both included. */
static void lose(struct board *board, uint64_t count, uint64_t first_tick, uint64_t last_tick)
{
    if (board->lost == 0)
        board->lost_first_tick = first_tick;
    board->lost_last_tick = last_tick;
    board->lost += count;
    board->counters.lost += count;
    board->counters.accepted += count;
}

/*
 * A loss in the front end. The requests are unknown and count as accepted, so that accepted is
 * never less than recorded plus lost.
 */
static void lose_missed(struct board *board, uint32_t missed, uint64_t tick)
{
    board_frames_close(board);
    board->counters.seen += missed;
    lose(board, missed, board->seen_tick, tick);
}

static void keep(struct board *board, struct record *record, uint64_t tick)
{
    uint64_t time = tick - board->kept_tick;
    record->time = time < UINT32_MAX ? (uint32_t)time : UINT32_MAX;
    /* A saturated time hides the interval; the tick of a new frame shows it. */
    if (record->time == UINT32_MAX)
        board_frames_close(board);
    if (!board->open && !board_frames_open(board, tick)) {
        lose(board, 1, tick, tick);
        return;
    }
    board->counters.accepted++;
    board->kept_tick = tick;
    board_frames_append(board, record);
}

static void process(struct board *board, const struct bus_phase *phase)
{
    struct record record;
    if (phase->tick < board->base_tick)
        return; /* it was in transit when the board was armed */
    uint64_t tick = phase->tick - board->base_tick;
    if (tick < board->seen_tick)
        tick = board->seen_tick;
    if (phase->missed)
        lose_missed(board, phase->missed, tick);
    board->seen_tick = tick;
    if (phase->request_a == BUS_NO_REQUEST)
        return;

    board->counters.seen++;
    enum p6_result result = p6_decode(phase, &record);
    if (result == P6_ABOVE_4GIB) {
        board->counters.above_4gib++;
        board->flags |= WIRE_FLAG_ABOVE_4GIB;
    } else if (result == P6_UNDECODED) {
        board->counters.undecoded++;
        board->flags |= WIRE_FLAG_UNDECODED;
    } else if (board->filtering && !filter_match(&board->configuration.filter, &record)) {
        board->counters.filtered++;
    } else {
        keep(board, &record, tick);
    }
}

/* Whether the next phase must wait, since its record could be lost: if the queue has no room for
 * another frame, the record has to fit into the open one. */
static bool must_wait(const struct board *board)
{
    const struct bus_phase *next = &board->phases[board->phases_done];
    if (!board->configuration.stall || board_queue_free(&board->queue) > BOARD_QUEUE_RESERVE)
        return false;
    if (!board->open || board->phases_done == board->phase_count)
        return !board->open;
    return next->missed > 0 || next->tick - board->base_tick - board->kept_tick >= UINT32_MAX;
}

void board_records_stall(struct board *board)
{
    enum bus_stall stall = BUS_STALL_NEVER;
    if (board->state == BOARD_ARMED && board->configuration.stall)
        stall = must_wait(board) ? BUS_STALL_NOW : BUS_STALL_WHEN_FULL;
    if (stall == board->stall)
        return;
    board->stall = stall;
    board->bus.stall(board->bus.context, stall);
}

size_t board_records_take(struct board *board)
{
    const bool armed = board->state == BOARD_ARMED;
    board_records_stall(board);
    if (!armed || board->phases_done == board->phase_count) {
        board->phase_count = board->bus.take(board->bus.context, board->phases, BOARD_PHASES);
        board->phases_done = 0;
    }
    size_t before = board->phases_done;
    if (!armed) /* discards them */
        board->phases_done = board->phase_count;
    while (board->phases_done < board->phase_count && !must_wait(board))
        process(board, &board->phases[board->phases_done++]);
    board_records_stall(board);
    return board->phases_done - before;
}
