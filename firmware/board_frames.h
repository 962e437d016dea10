/* Builds the board's frames: of records, and of everything else. Freestanding. */
#ifndef FIRMWARE_BOARD_FRAMES_H
#define FIRMWARE_BOARD_FRAMES_H

#include "firmware/board_state.h"

/* The board's time: ticks since the last ARM. */
uint64_t board_frames_tick(const struct board *board);

/*
 * Opens a frame of records whose first, the next accepted request, is at tick; it carries the
 * pending loss. False, without a change, if the queue has no room for records.
 */
bool board_frames_open(struct board *board, uint64_t tick);

/* Appends a record to the open frame, and queues the frame if that filled it. */
void board_frames_append(struct board *board, const struct record *record);

/* Queues the open frame, if there is one. */
void board_frames_close(struct board *board);

/*
 * The payload of a frame that holds no records (room for BOARD_PAYLOAD_MAX); queues the open frame
 * first, so that the frame's contents are true at its position in the stream. The queue must have a
 * free slot.
 */
uint8_t *board_frames_begin(struct board *board);

/* Queues that frame; size is the bytes of its payload. */
void board_frames_end(struct board *board, enum wire_kind kind, uint32_t size);

/* Writes the counters, without the stalls if this board cannot stall its bus; returns their bytes.
 */
uint32_t board_frames_put_counters(const struct board *board, uint8_t *out);

/* Queues HEARTBEAT or END: a frame that carries the counters. There must be a free slot. */
void board_frames_counters(struct board *board, enum wire_kind kind);

#endif
