/*
 * The board: phases in, frames out, commands obeyed. No heap, no libc, no globals: whoever owns the
 * memory (the board's main, or the host's virtual board) calls board_step for ever.
 */
#ifndef FIRMWARE_BOARD_H
#define FIRMWARE_BOARD_H

#include "firmware/bus.h"
#include "firmware/link.h"
#include "formats/wire/packing.h"
#include "formats/wire/wire.h"

#ifndef BOARD_PAYLOAD_MAX
#define BOARD_PAYLOAD_MAX 4080u /* 340 plain records */
#endif

/* One frame of the queue, as it goes over the wire. */
struct board_frame {
    uint32_t size; /* bytes that are there */
    uint8_t bytes[WIRE_FRAME_HEADER + BOARD_PAYLOAD_MAX + WIRE_FRAME_TRAILER];
};

struct board; /* complete in firmware/board_state.h, so that it can be placed without a heap */

/*
 * Makes a board of the memory at *board. frames (frame_count >= 4) is its queue; identity, bus and
 * link are copied, and the identity's protocol, queue_frames and payload_max filled in. The board
 * is idle until a host arms it.
 */
void board_init(struct board *board, const struct wire_identity *identity,
                const struct bus_front *bus, const struct board_link *link,
                struct board_frame *frames, uint32_t frame_count);

/*
 * One turn: obey commands, take what the bus has, send what the link takes. Never waits. Returns
 * true if it did anything.
 */
bool board_step(struct board *board);

/*
 * Phases that are sure to find room if they come now, provided that the last of them is less than
 * 0xffffffff ticks after the first (a time that saturates starts a frame of its own): what a bus
 * that can be stopped asks before it goes on. 0 while not armed.
 */
uint32_t board_room(const struct board *board);

/* Whether a host has armed the board. */
bool board_armed(const struct board *board);

/* A copy of the counters. */
void board_counters(const struct board *board, struct wire_counters *counters);

#endif
