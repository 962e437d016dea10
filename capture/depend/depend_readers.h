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

#include "capture/depend/shadow.h"

#define DEPEND_READS 8u /* maximum of reads of a byte that are kept: older ones are forgotten */

struct depend;
struct depend_thread;

/* Reads of one thread, the latest last. */
struct reads_list {
    shadow_entry reads[DEPEND_READS];
    uint32_t count;
    uint32_t next_free;
};

/* Must be zeroed before first use. */
struct depend_readers {
    struct shadow shadow; /* the read; of several ones, the list (SHADOW_LIST) */
    struct reads_list *lists;
    size_t list_count, list_capacity;
    uint32_t free_list; /* first of a list; 0: none; lists[0] is not used */
};

void depend_readers_clear(struct depend_readers *readers);

/* Notes a read of `size` bytes by the thread. 0; BT_MEMORY: it is noted in part. */
int depend_readers_note(struct depend *depend, const struct depend_thread *thread, uint64_t address,
                        uint64_t size, shadow_entry entry);

/* The reads of an entry of the shadow, latest first, that a write depends on, and their number. */
unsigned depend_readers_list(const struct depend *depend, shadow_entry entry,
                             shadow_entry reads[DEPEND_READS]);

/* Forgets the reads of `size` bytes. */
void depend_readers_forget(struct depend *depend, uint64_t address, uint64_t size);

/* Memory in bytes. */
size_t depend_readers_bytes(const struct depend_readers *readers);

#endif
