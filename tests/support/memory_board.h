/*
 * A board that costs next to nothing: its frames are in memory before it is armed, and reading from
 * it is a copy. It goes through them again and again, with new headers, until it has sent as many
 * records as it was told to; then its bus has ended. For benchmarks of what lies behind the link.
 */
#ifndef TESTS_SUPPORT_MEMORY_BOARD_H
#define TESTS_SUPPORT_MEMORY_BOARD_H

#include "driver/stream.h"
#include "formats/wire/wire.h"

#define MEMORY_BOARD_CLOCK_HZ 66000000u

/* Makes the frames of count records; total is what is sent of them, a multiple of count. Ends the
 * program without memory. Closed with stream_close. */
struct stream *memory_board_new(const struct record *records, size_t count, uint64_t total,
                                enum wire_packing packing);

/* Bytes sent so far. */
uint64_t memory_board_bytes(const struct stream *stream);

#endif
