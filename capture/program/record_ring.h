/*
 * Records on their way from the process that executes a program to the one that writes them: a
 * bounded ring in memory that both share. One puts, one takes; who is faster waits, so nothing is
 * ever lost. No locks: either side may be killed at any point, and the other finds out.
 */
#ifndef CAPTURE_PROGRAM_RECORD_RING_H
#define CAPTURE_PROGRAM_RECORD_RING_H

#include "capture/program/alive.h"
#include "formats/base/error.h"
#include "formats/record/record.h"

#include <stdbool.h>
#include <stdint.h>

struct record_ring;

/* Shared with all children made from now on. The calling process takes. NULL and *error: no memory.
 */
struct record_ring *record_ring_new(struct bt_error *error);

/* The same in memory of zeros, so many bytes, that is shared already: nobody frees it. */
struct record_ring *record_ring_at(void *memory, const struct alive *taker);
size_t record_ring_bytes(void);

/* The calling process lets go of it; others may go on. NULL is fine. */
void record_ring_free(struct record_ring *ring);

/* --- who puts --- */

/* Whether somebody still takes: for who cannot find that process by its number, in another
 * namespace. */
typedef bool record_ring_taken_function(const void *context);

/* Puts all of them, waiting for room; taken may be NULL. 0; or BT_CLOSED: nobody takes any more, of
 * these the first ones may have been taken. */
int record_ring_put(struct record_ring *ring, const struct record *records, size_t count,
                    record_ring_taken_function *taken, const void *context);

/* What is put next, from *first on, does not follow on what was put before: marks it. */
void record_ring_begin_part(struct record_ring *ring, struct record *first);

/* Records that were left out because a filter does not want them, more than before. */
void record_ring_add_filtered(struct record_ring *ring, uint64_t count);

/* There will be no more. Also for others, once whoever puts is gone. */
void record_ring_end(struct record_ring *ring);
bool record_ring_has_ended(const struct record_ring *ring);

/* --- who takes --- */

/*
 * Takes at most capacity records, *count of them: as soon as there are many or an end, else what is
 * there when timeout_ms have passed (< 0: waits for one at least). Only the first of them may have
 * a time that saturated. False: there are none, and there will be none.
 */
bool record_ring_take(struct record_ring *ring, struct record *records, size_t capacity,
                      int timeout_ms, size_t *count);

/* Whether records that were taken may have marks. */
bool record_ring_has_parts(const struct record_ring *ring);

/* How many records were left out so far. */
uint64_t record_ring_filtered(const struct record_ring *ring);

/* Nothing is wanted any more but what has been put. */
void record_ring_close(struct record_ring *ring);

#endif
