/*
 * Carries records from the process that executes a program (the producer) to the process that
 * writes them (the consumer): a bounded ring in shared memory. The faster side waits, so no record
 * is lost. There are no locks: either side may be killed at any point, and the other detects it.
 */
#ifndef CAPTURE_PROGRAM_RECORD_RING_H
#define CAPTURE_PROGRAM_RECORD_RING_H

#include "capture/program/alive.h"
#include "formats/base/error.h"
#include "formats/record/record.h"

#include <stdbool.h>
#include <stdint.h>

struct record_ring;

/* Makes a ring in zeroed shared memory of record_ring_bytes() bytes, owned by the caller. `taker`
 * is the consumer. */
struct record_ring *record_ring_at(void *memory, const struct alive *taker);
size_t record_ring_bytes(void);

/* --- producer --- */

/* Whether the consumer is alive: for a producer that cannot find it by its process ID, in another
 * PID namespace. */
typedef bool record_ring_taken_function(const void *context);

/* Puts all records, and waits for room; taken may be NULL. 0, or BT_CLOSED: the consumer is gone;
 * the first of these records may have been taken. */
int record_ring_put(struct record_ring *ring, const struct record *records, size_t count,
                    record_ring_taken_function *taken, const void *context);

/* Marks *first, the next record to be put, as the first one after a gap. */
void record_ring_begin_part(struct record_ring *ring, struct record *first);

/* Gives *fetch, one of the next records to be put, an event. */
void record_ring_set_event(struct record_ring *ring, struct record *fetch, enum record_event event);

/* Adds to the number of records that a filter has removed. */
void record_ring_add_filtered(struct record_ring *ring, uint64_t count);

/* No more records follow. Others may call it, too, after the producer has ended. */
void record_ring_end(struct record_ring *ring);
bool record_ring_has_ended(const struct record_ring *ring);

/* --- consumer --- */

/*
 * Takes *count records, at most capacity: as soon as there are many or the ring has ended,
 * otherwise those present after timeout_ms (< 0: waits for at least one). Only the first of them
 * may have a saturated time. False: the ring has ended and is empty.
 */
bool record_ring_take(struct record_ring *ring, struct record *records, size_t capacity,
                      int timeout_ms, size_t *count);

/* Whether records that were taken may have marks. */
bool record_ring_has_parts(const struct record_ring *ring);
bool record_ring_has_events(const struct record_ring *ring);

/* Number of records that a filter has removed so far. */
uint64_t record_ring_filtered(const struct record_ring *ring);

/* Rejects records that have not been put yet. */
void record_ring_close(struct record_ring *ring);

#endif
