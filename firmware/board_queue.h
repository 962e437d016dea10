/*
 * The board's frame queue: a ring of whole frames on their way to the host, and behind them the one
 * that is being built. Freestanding.
 */
#ifndef FIRMWARE_BOARD_QUEUE_H
#define FIRMWARE_BOARD_QUEUE_H

#include "firmware/board.h"

/* Slots that frames of records leave free, so that replies, heartbeats and END never starve. */
#define BOARD_QUEUE_RESERVE 2u

struct board_queue {
    struct board_frame *frames;
    uint32_t count;      /* slots */
    uint32_t head;       /* slot of the oldest frame that waits */
    uint32_t waiting;    /* whole frames, the one that is partly sent included */
    uint32_t sent_bytes; /* of the oldest */
    uint32_t peak;       /* most that ever waited */
    bool building;       /* the slot behind the last waiting frame is in use */
    uint64_t queued;     /* frames that ever entered */
    uint64_t sent;       /* frames that ever left */
};

void board_queue_init(struct board_queue *queue, struct board_frame *frames, uint32_t count);

/* Slots in which no frame waits or is being built. */
uint32_t board_queue_free(const struct board_queue *queue);

/* The frame to build in: taken by the first call, the same until board_queue_commit. There must be
 * a free slot, or one that is being built. */
struct board_frame *board_queue_build(struct board_queue *queue);

/* The frame that was built, now size bytes long, waits to be sent. */
void board_queue_commit(struct board_queue *queue, uint32_t size);

/* Sends what the link takes. Returns whether it took anything. */
bool board_queue_send(struct board_queue *queue, const struct board_link *link);

#endif
