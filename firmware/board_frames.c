#include "firmware/board_frames.h"

#include "formats/base/crc32c.h"

#include <string.h>

uint64_t board_frames_tick(const struct board *board)
{
    uint64_t now = board->bus.now(board->bus.context) - board->base_tick;
    return now > board->seen_tick ? now : board->seen_tick;
}

/* Writes header and checksums around the payload in the slot, and queues the frame. */
static void queue_frame(struct board *board, struct wire_frame *frame)
{
    struct board_frame *slot = board_queue_build(&board->queue);
    uint8_t *payload = slot->bytes + WIRE_FRAME_HEADER;

    frame->version = WIRE_VERSION;
    frame->session = board->session;
    if (board->session) {
        frame->sequence = board->sequence++;
        frame->flags |= board->flags;
        board->flags = 0;
        board->counters.frames++;
    }
    wire_frame_put_header(slot->bytes, frame);
    bytes_put32(payload + frame->payload_bytes, crc32c(0, payload, frame->payload_bytes));
    board_queue_commit(&board->queue,
                       WIRE_FRAME_HEADER + frame->payload_bytes + WIRE_FRAME_TRAILER);
}

/* Moves the pending loss into a frame. */
static void put_loss(struct board *board, struct wire_frame *frame)
{
    frame->lost = board->lost;
    frame->lost_first_tick = board->lost_first_tick;
    frame->lost_last_tick = board->lost_last_tick;
    board->lost = board->lost_first_tick = board->lost_last_tick = 0;
}

bool board_frames_open(struct board *board, uint64_t tick)
{
    if (board_queue_free(&board->queue) <= BOARD_QUEUE_RESERVE)
        return false;
    board_queue_build(&board->queue);
    bool packed = board->configuration.packing == WIRE_DELTA;
    board->frame = (struct wire_frame){.kind = packed ? WIRE_PACKED : WIRE_RECORDS,
                                       .first_tick = tick,
                                       .first_index = board->counters.accepted};
    put_loss(board, &board->frame);
    packing_reset(&board->packing);
    board->opened_us = board->microseconds;
    board->open = true;
    return true;
}

void board_frames_append(struct board *board, const struct record *record)
{
    struct wire_frame *frame = &board->frame;
    uint8_t *out = board_queue_build(&board->queue)->bytes + WIRE_FRAME_HEADER;
    out += frame->payload_bytes;

    size_t size = RECORD_BYTES;
    if (frame->kind == WIRE_PACKED)
        size = packing_put(&board->packing, record, out);
    else
        record_put(out, record);
    frame->payload_bytes = (uint16_t)(frame->payload_bytes + size);
    frame->count++;
    if (frame->payload_bytes + board->record_longest > BOARD_PAYLOAD_MAX ||
        frame->count == WIRE_FRAME_RECORDS_MAX)
        board_frames_close(board);
}

void board_frames_close(struct board *board)
{
    if (!board->open)
        return;
    board->open = false;
    queue_frame(board, &board->frame);
}

uint8_t *board_frames_begin(struct board *board)
{
    board_frames_close(board);
    return board_queue_build(&board->queue)->bytes + WIRE_FRAME_HEADER;
}

void board_frames_end(struct board *board, enum wire_kind kind, uint32_t size)
{
    struct wire_frame frame = {.kind = (uint8_t)kind,
                               .first_tick = board_frames_tick(board),
                               .payload_bytes = (uint16_t)size};
    if (kind == WIRE_PATTERN) {
        frame.sequence = board->pattern_frame++;
        frame.first_index = board->pattern_index;
    } else if (board->session) {
        /* A loss is reported before the next records, or by END: until then the stream's position
         * is the start of the loss. */
        frame.first_index = board->counters.accepted - board->lost;
    }
    if (kind == WIRE_END) {
        frame.first_index = board->counters.accepted;
        frame.flags = board->end_flags;
        put_loss(board, &frame);
    }
    queue_frame(board, &frame);
}

uint32_t board_frames_put_counters(const struct board *board, uint8_t *out)
{
    struct wire_counters counters;
    board_counters(board, &counters);
    wire_counters_put(out, &counters);
    return board->bus.stall ? WIRE_COUNTERS_BYTES : WIRE_COUNTERS_BYTES_LEAST;
}

void board_frames_counters(struct board *board, enum wire_kind kind)
{
    uint32_t size = board_frames_put_counters(board, board_frames_begin(board));
    board_frames_end(board, kind, size);
}
