#include "firmware/board_queue.h"

void board_queue_init(struct board_queue *queue, struct board_frame *frames, uint32_t count)
{
    *queue = (struct board_queue){.frames = frames, .count = count};
}

uint32_t board_queue_free(const struct board_queue *queue)
{
    return queue->count - queue->waiting - (queue->building ? 1u : 0u);
}

struct board_frame *board_queue_build(struct board_queue *queue)
{
    /* Avoids a division, which small processors lack. */
    uint32_t slot = queue->head + queue->waiting;
    if (slot >= queue->count)
        slot -= queue->count;
    queue->building = true;
    return &queue->frames[slot];
}

void board_queue_commit(struct board_queue *queue, uint32_t size)
{
    board_queue_build(queue)->size = size;
    queue->building = false;
    queue->queued++;
    queue->waiting++;
    if (queue->waiting > queue->peak)
        queue->peak = queue->waiting;
}

bool board_queue_send(struct board_queue *queue, const struct board_link *link)
{
    bool any = false;
    while (queue->waiting > 0) {
        const struct board_frame *frame = &queue->frames[queue->head];
        size_t taken = link->send(link->context, frame->bytes + queue->sent_bytes,
                                  frame->size - queue->sent_bytes);
        if (taken == 0)
            break;
        any = true;
        queue->sent_bytes += (uint32_t)taken;
        if (queue->sent_bytes < frame->size)
            break;
        queue->sent_bytes = 0;
        queue->head = queue->head + 1 < queue->count ? queue->head + 1 : 0;
        queue->waiting--;
        queue->sent++;
    }
    return any;
}
