/* Capture files made in memory, for tests of their readers. */
#ifndef TESTS_SUPPORT_MEMBERS_H
#define TESTS_SUPPORT_MEMBERS_H

#include "formats/capture/capture_file.h"

/* Members in a growing block of memory. All zero is empty, of version 1; free bytes with free(). */
struct members {
    unsigned version; /* of the members: CAPTURE_VERSION_CODED, else 1 */
    uint8_t *bytes;
    size_t size;
    size_t capacity;
};

/* Appends size bytes. */
void members_append(struct members *to, const void *from, size_t size);

/* Appends a data member; aborts the test program if that fails. */
void members_append_data(struct members *to, enum record_engine engine, const struct batch *batch);
void members_append_header(struct members *to, const struct capture_info *info);
void members_append_closing(struct members *to, const struct capture_totals *totals);

/*
 * Appends a whole capture file with count records in members of at most block records, numbered
 * from 0, the first at tick 100. Sets offsets (room for count / block + 1, may be NULL) to those
 * of the data members. In version 2 every other member has columns. Returns the number of data
 * members.
 */
size_t members_append_capture(struct members *to, const struct record *records, size_t count,
                              size_t block, size_t *offsets);

#endif
