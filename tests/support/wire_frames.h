/* Frames and records made for tests: those of a well-behaved board. */
#ifndef TESTS_SUPPORT_WIRE_FRAMES_H
#define TESTS_SUPPORT_WIRE_FRAMES_H

#include "formats/wire/wire.h"
#include "tests/support/random.h"

/* Writes header, payload and CRC (room for WIRE_FRAME_MAX), with exactly the fields of *frame.
 * Returns the number of bytes. */
size_t wire_frames_put(uint8_t *out, const struct wire_frame *frame);

/* Fills in count records that look like those of a bus with loops, stacks and several
 * processors. */
void wire_frames_realistic(uint64_t *random, struct record *records, size_t count);

/* Fills count records with random octets. */
void wire_frames_arbitrary(uint64_t *random, struct record *records, size_t count);

/* Packs count records to out (room for PACKING_RECORD_MAX_BYTES each); returns the number of
 * bytes. */
size_t wire_frames_pack(uint8_t *out, const struct record *records, size_t count);

#endif
