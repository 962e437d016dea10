/* Capture files made in memory, for tests of everything that reads them. */
#ifndef TESTS_SUPPORT_MEMBERS_H
#define TESTS_SUPPORT_MEMBERS_H

#include "formats/capture/capture_file.h"

/* A growing piece of memory. All zero is empty; free bytes with free(). */
struct bytes {
    uint8_t *bytes;
    size_t size;
    size_t capacity;
};

/* Appends size bytes. */
void bytes_append(struct bytes *to, const void *from, size_t size);

/* Appends a data member; aborts the test program if that fails. */
void bytes_append_data(struct bytes *to, enum deflate_engine engine, const struct batch *batch);
void bytes_append_header(struct bytes *to, const struct capture_info *info);
void bytes_append_closing(struct bytes *to, const struct capture_totals *totals);

/*
 * Appends a whole capture file with count records in members of at most block records, numbered
 * from 0, the first at tick 100; tells where the data members start in offsets (room for count /
 * block + 1, may be NULL). Returns the number of data members.
 */
size_t bytes_append_capture(struct bytes *to, const struct record *records, size_t count,
                            size_t block, size_t *offsets);

#endif
