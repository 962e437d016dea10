/*
 * The board: takes phases and commands, sends frames. No heap, no libc, no globals: the owner of
 * the memory (the board's main, or the host's virtual board) calls board_step in a loop.
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
    uint32_t size; /* bytes used */
    uint8_t bytes[WIRE_FRAME_HEADER + BOARD_PAYLOAD_MAX + WIRE_FRAME_TRAILER];
};

struct board; /* complete in firmware/board_state.h, so that it can be placed without a heap */

/*
 * Initializes a board at *board. frames (frame_count >= 4) is its queue; identity, bus and
 * link are copied, and the identity's protocol, queue_frames, payload_max and features filled in.
 * The board is idle until a host arms it.
 */
void board_init(struct board *board, const struct wire_identity *identity,
                const struct bus_front *bus, const struct board_link *link,
                struct board_frame *frames, uint32_t frame_count);

/*
 * One step: executes commands, takes phases from the bus, sends to the link. Never waits. Returns
 * whether it did anything.
 */
bool board_step(struct board *board);

/*
 * Number of phases for which the queue has room, if the last is less than 0xffffffff ticks after
 * the first (a saturated time starts a new frame). A bus that can be stopped checks this before it
 * continues. 0 while not armed.
 */
uint32_t board_room(const struct board *board);

/* Whether a host has armed the board. */
bool board_armed(const struct board *board);

/* A copy of the counters. */
void board_counters(const struct board *board, struct wire_counters *counters);

#endif
