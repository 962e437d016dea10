#include "firmware/board.h"

#include "firmware/board_commands.h"
#include "firmware/board_frames.h"
#include "firmware/board_records.h"

#include <string.h>

void board_init(struct board *board, const struct wire_identity *identity,
                const struct bus_front *bus, const struct board_link *link,
                struct board_frame *frames, uint32_t frame_count)
{
    memset(board, 0, sizeof *board);
    board->identity = *identity;
    board->bus = *bus;
    board->link = *link;
    board->identity.protocol = WIRE_VERSION;
    board->identity.payload_max = BOARD_PAYLOAD_MAX;
    board->identity.features = bus->stall ? WIRE_FEATURE_STALL : 0;
    board->identity.queue_frames = (uint16_t)(frame_count < UINT16_MAX ? frame_count : UINT16_MAX);
    board_queue_init(&board->queue, frames, frame_count);

    struct wire_configuration configuration = board_commands_default();
    board_commands_configure(board, &configuration);
}

static void flush_when_old(struct board *board)
{
    uint32_t limit = board->configuration.flush_us;
    if (board->open && limit && board->microseconds - board->opened_us >= limit)
        board_frames_close(board);
}

/* One heartbeat in the queue suffices for a host that does not read. */
static void heartbeat_when_due(struct board *board)
{
    uint64_t limit = board->configuration.heartbeat_ms * UINT64_C(1000);
    if (limit && board->microseconds - board->heartbeat_us >= limit &&
        board->queue.sent >= board->heartbeats_queued && board_queue_free(&board->queue) > 0) {
        board_frames_counters(board, WIRE_HEARTBEAT);
        board->heartbeat_us = board->microseconds;
        board->heartbeats_queued = board->queue.queued;
    }
}

/* Queues END, as soon as the queue has space for it. */
static bool end_session(struct board *board)
{
    if (board->state != BOARD_DRAINING || board_queue_free(&board->queue) == 0)
        return false;
    board_records_stall(board); /* END has the last counts */
    board_frames_counters(board, WIRE_END);
    board->session = 0;
    board->state = BOARD_IDLE;
    return true;
}

static bool send_pattern(struct board *board)
{
    if (board->pattern_left == 0 || board_queue_free(&board->queue) <= BOARD_QUEUE_RESERVE)
        return false;
    wire_pattern_fill(board_frames_begin(board), BOARD_PAYLOAD_MAX, board->pattern_index);
    board_frames_end(board, WIRE_PATTERN, BOARD_PAYLOAD_MAX);
    board->pattern_index += BOARD_PAYLOAD_MAX / 8;
    board->pattern_left--;
    return true;
}

bool board_step(struct board *board)
{
    board->microseconds = board->bus.microseconds(board->bus.context);
    bool busy = board_commands_step(board);
    busy |= end_session(board);
    if (board->state == BOARD_ARMED) {
        flush_when_old(board);
        heartbeat_when_due(board);
    }
    size_t taken = board_records_take(board);
    if (taken == 0 && board->state == BOARD_ARMED && board->phases_done == board->phase_count &&
        board->bus.ended(board->bus.context)) {
        board->end_flags = WIRE_FLAG_BUS_ENDED;
        board->state = BOARD_DRAINING;
    }
    busy |= end_session(board);
    busy |= send_pattern(board);
    busy |= board_queue_send(&board->queue, &board->link);
    return busy || taken > 0;
}

uint32_t board_room(const struct board *board)
{
    uint32_t slots = board_queue_free(&board->queue);
    if (board->state != BOARD_ARMED || slots <= BOARD_QUEUE_RESERVE)
        return 0;
    slots -= BOARD_QUEUE_RESERVE;
    uint32_t each = BOARD_PAYLOAD_MAX / PACKING_RECORD_MAX_BYTES;
    return slots < UINT32_MAX / each ? slots * each : UINT32_MAX;
}

bool board_armed(const struct board *board)
{
    return board->state == BOARD_ARMED;
}

void board_counters(const struct board *board, struct wire_counters *counters)
{
    *counters = board->counters;
    counters->tick = board_frames_tick(board);
    counters->queue_fill = board->queue.waiting;
    counters->queue_peak = board->queue.peak;
    counters->state = board->state;
    if (board->bus.stalls) {
        struct bus_stalls stalls = board->bus.stalls(board->bus.context);
        counters->stalled = stalls.ticks - board->base_stalls.ticks;
        counters->stalls = stalls.count - board->base_stalls.count;
    }
}
