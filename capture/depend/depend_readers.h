/*
 * Who has read each byte of memory since its last write, for writes after reads.
 *
 * A later write may depend on more than the latest read: if a loop's iteration reads and then
 * writes what an earlier iteration has read, too, the loop carries a write after read. Therefore
 * the latest read of a byte is kept, and for each loop that the thread is in, the latest one before
 * the current iteration and the latest one before the loop began, as far as another thread has not
 * read the byte since.
 */
#ifndef CAPTURE_DEPEND_DEPEND_READERS_H
#define CAPTURE_DEPEND_DEPEND_READERS_H

#include "capture/depend/depend_state.h"

/* Notes a read of `size` bytes by the thread. 0; BT_MEMORY: it is noted in part. */
int depend_readers_set(struct depend *depend, const struct depend_thread *thread, uint64_t address,
                       uint64_t size, shadow_entry entry);

/* The reads of a byte that a write depends on, latest first, and their number. */
unsigned depend_readers_list(const struct depend *depend, uint64_t address,
                             shadow_entry reads[DEPEND_READS]);

/* Whether the bytes of the granule with an address have different reads. */
bool depend_readers_are_split(const struct depend *depend, uint64_t address);

#endif
