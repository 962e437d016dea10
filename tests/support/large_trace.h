/*
 * A large trace for benchmarks, without a pattern that repeats within a compressor's window:
 * copies of a small one. Each copy starts elsewhere, has its page numbers XORed with a random
 * value, and one in eight of its times changed by a tick or three.
 */
#ifndef TESTS_SUPPORT_LARGE_TRACE_H
#define TESTS_SUPPORT_LARGE_TRACE_H

#include "formats/record/record.h"

#include <stdbool.h>

/*
 * Fills count records from the trace in the file path (raw BYU records), or, if path is NULL or
 * cannot be read, from records that look like those of a bus. Returns whether it was the file.
 */
bool large_trace_fill(struct record *records, size_t count, const char *path);

/*
 * Makes count records of the Pentium II trace in the folder that $SHARED names, or, without it,
 * such as large_trace_fill() makes. Counts those that refer to memory, and tells in *real whether
 * it was the trace. NULL: count is 0, or no memory. The caller frees them.
 */
struct record *large_trace_new(size_t count, size_t *references, bool *real);

#endif
