/*
 * Carries messages from the process that executes a program (the producer) to the process that
 * writes its records (the consumer): a bounded ring of bytes in shared memory. The faster side
 * waits, so no message is lost. There are no locks: either side may be killed at any point, and the
 * other detects it. A message is taken whole or not at all.
 */
#ifndef CAPTURE_PROGRAM_MESSAGE_RING_H
#define CAPTURE_PROGRAM_MESSAGE_RING_H

#include "capture/program/alive.h"
#include "formats/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct message_ring;

#define MESSAGE_RING_BYTES_MAX ((size_t)384 << 10) /* maximum of a message */
#define MESSAGE_RING_BEYOND    ((size_t)24 << 10)  /* bytes that may be read after any message */

/* Makes a ring in zeroed shared memory of message_ring_bytes() bytes, aligned to 64 and owned by
 * the caller. `taker` is the consumer. */
struct message_ring *message_ring_at(void *memory, const struct alive *taker);
size_t message_ring_bytes(void);

/* --- producer --- */

/* Whether the consumer is alive: for a producer that cannot find it by its process ID, in another
 * PID namespace. */
typedef bool message_ring_taken_function(const void *context);

/* Waits for room, and returns the place of the next message, of `bytes` bytes at most
 * MESSAGE_RING_BYTES_MAX, aligned to 64. `taken` may be NULL. NULL: the consumer has closed the
 * ring or is gone. */
void *message_ring_reserve(struct message_ring *ring, size_t bytes,
                           message_ring_taken_function *taken, const void *context);

/* Puts the message that was written to the reserved place. */
void message_ring_put(struct message_ring *ring);

/* Waits until the consumer has taken all messages. False: it has closed the ring or is gone. */
bool message_ring_settle(struct message_ring *ring, message_ring_taken_function *taken,
                         const void *context);

/* The consumer's last message_ring_set_counted(). */
uint64_t message_ring_counted(const struct message_ring *ring);

/* Adds to the number of records that a filter has removed. */
void message_ring_add_filtered(struct message_ring *ring, uint64_t count);

/* No more messages follow. Others may call it, too, after the producer has ended. */
void message_ring_end(struct message_ring *ring);
bool message_ring_has_ended(const struct message_ring *ring);

/* --- consumer --- */

/* One ring's consumer: what it must know although the producer's program may write to the shared
 * memory. */
struct message_taker {
    struct message_ring *ring;
    uint64_t taken, next; /* end of the messages taken, and of the one at the front */
    bool overwritten; /* what precedes the next message cannot be the producer's: no more follow */
};

/* The consumer from here on. */
struct message_taker message_taker_of(struct message_ring *ring);

/* Waits until there are many messages, the producer waits for them to be taken, or the ring has
 * ended; at most timeout_ms (< 0: for ever, but only for one message). False: the ring has ended
 * and is empty. */
bool message_ring_wait(struct message_taker *taker, int timeout_ms);

/* The next message, valid until it is dropped; NULL: none is there, or taker->overwritten. */
const void *message_ring_front(struct message_taker *taker, size_t *bytes);
void message_ring_drop(struct message_taker *taker);

/* Publishes a number for the producer, before the message that it includes is dropped. */
void message_ring_set_counted(struct message_ring *ring, uint64_t count);

/* Number of records that a filter has removed so far. */
uint64_t message_ring_filtered(const struct message_ring *ring);

/* Rejects messages that have not been put yet. */
void message_ring_close(struct message_ring *ring);

#endif
