/*
 * A board for benchmarks of the software after the link: it costs next to nothing. Its frames are
 * made before it is armed, and reading is a copy. It repeats them, with new headers, until it has
 * sent the requested number of records; then its bus ends.
 */
#ifndef TESTS_SUPPORT_MEMORY_BOARD_H
#define TESTS_SUPPORT_MEMORY_BOARD_H

#include "driver/stream.h"
#include "formats/record/source.h"
#include "formats/wire/wire.h"

#define MEMORY_BOARD_CLOCK_HZ 66000000u

/* Makes the frames of count records; total is the number of records to send, a multiple of count.
 * Ends the program if memory is short. Closed with stream_close. */
struct stream *memory_board_new(const struct record *records, size_t count, uint64_t total,
                                enum wire_packing packing);

/* A session with the board, which it owns, as a source that is ready to start. Ends the program if
 * that fails. */
struct source *memory_board_source(struct stream *board, enum wire_packing packing);

/* Bytes sent so far. */
uint64_t memory_board_bytes(const struct stream *stream);

#endif
