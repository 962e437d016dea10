/*
 * Lines for a descriptor whose reader may stall: a stopped terminal, a pipe that is not read. A
 * thread writes them, so that the other threads never block. The queue is bounded: a line that
 * does not fit is dropped and counted; once the reader resumes, a line reports this at its place.
 */
#ifndef CAPTURE_LINE_QUEUE_H
#define CAPTURE_LINE_QUEUE_H

#include "formats/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LINE_QUEUE_LINES 256u /* that may wait */

struct line_queue;

/*
 * descriptor stays the caller's and keeps its flags, which other processes share. notice begins the
 * line about dropped ones and must outlive the queue. NULL and *error on failure.
 */
struct line_queue *line_queue_new(int descriptor, const char *notice, struct bt_error *error);

/* Queues size octets to be written in one piece. False: dropped. Any thread; never blocks on the
 * reader. */
bool line_queue_put(struct line_queue *queue, const char *text, size_t size);

/* Lines that were dropped, or that the descriptor refused. */
uint64_t line_queue_dropped(struct line_queue *queue);

/* The errno of the first write that the descriptor refused; 0: it refused none. */
int line_queue_errno(struct line_queue *queue);

/* Waits up to timeout_ms until all is written. False: the reader stalls. Any thread. */
bool line_queue_wait(struct line_queue *queue, int timeout_ms);

/* Waits up to timeout_ms until all is written, and frees; no other thread may use the queue any
 * more. If the reader stalls, the queue's thread frees once its write returns. NULL is allowed. */
void line_queue_free(struct line_queue *queue, int timeout_ms);

#endif
