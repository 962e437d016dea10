/*
 * The board's frame queue: a ring of whole frames to be sent to the host, followed by the frame
 * under construction. Freestanding.
 */
#ifndef FIRMWARE_BOARD_QUEUE_H
#define FIRMWARE_BOARD_QUEUE_H

#include "firmware/board.h"

/* Slots reserved for replies, heartbeats and END. */
#define BOARD_QUEUE_RESERVE 2u

struct board_queue {
    struct board_frame *frames;
    uint32_t count;      /* slots */
    uint32_t head;       /* slot of the oldest waiting frame */
    uint32_t waiting;    /* number of whole frames, including a partly sent one */
    uint32_t sent_bytes; /* of the oldest */
    uint32_t peak;       /* largest `waiting` so far */
    bool building;       /* the slot after the last waiting frame is in use */
    uint64_t queued;     /* number of frames queued so far */
    uint64_t sent;       /* number of frames sent so far */
};

void board_queue_init(struct board_queue *queue, struct board_frame *frames, uint32_t count);

/* Number of free slots. */
uint32_t board_queue_free(const struct board_queue *queue);

/* The frame under construction: allocated by the first call, the same until board_queue_commit.
 * There must be a free slot or a frame under construction. */
struct board_frame *board_queue_build(struct board_queue *queue);

/* Queues the frame under construction, size bytes long. */
void board_queue_commit(struct board_queue *queue, uint32_t size);

/* Sends as much as the link accepts. Returns whether it sent anything. */
bool board_queue_send(struct board_queue *queue, const struct board_link *link);

#endif
