/*
 * Finds frames in a byte stream that may begin anywhere and contain anything. Never waits for more
 * than WIRE_FRAME_MAX bytes, and is synchronized after one good frame. Damaged frames may overlap;
 * a byte is checked at most once for each header in the WIRE_FRAME_MAX bytes before it, which have
 * room for 255.
 */
#ifndef FORMATS_WIRE_WIRE_READER_H
#define FORMATS_WIRE_WIRE_READER_H

#include "formats/base/error.h"
#include "formats/wire/wire.h"

#include <stdbool.h>

struct wire_reader;

struct wire_reader_statistics {
    uint64_t frames;        /* good frames */
    uint64_t bytes;         /* bytes given to the reader */
    uint64_t skipped_bytes; /* bytes outside good frames */
    uint64_t bad_payloads;  /* frames with a good header and a bad payload CRC */
};

/* A new reader, or NULL (no memory). Free with wire_reader_free. */
struct wire_reader *wire_reader_new(void);
void wire_reader_free(struct wire_reader *reader);

/*
 * Buffer space for received bytes: *capacity bytes (at least WIRE_FRAME_MAX if no frame is pending)
 * at the returned address. Pass their number to wire_reader_added. Invalidates the last returned
 * frame.
 */
uint8_t *wire_reader_space(struct wire_reader *reader, size_t *capacity);
void wire_reader_added(struct wire_reader *reader, size_t size);

/*
 * The next frame. Returns 1 and fills *frame (payload valid until the next call of any function),
 * or 0 if more bytes are needed. Garbage and damaged frames are skipped and counted.
 */
int wire_reader_next(struct wire_reader *reader, struct wire_frame *frame);

/*
 * For use when no bytes arrive: searches for a good frame inside an incomplete one, which has lost
 * bytes if there is one. True: wire_reader_next returns the frame found and skips the bytes before
 * it. False: nothing has changed, and the incomplete frame may still be completed.
 */
bool wire_reader_look_inside(struct wire_reader *reader);

/* Discards the buffered bytes (counted as skipped). */
void wire_reader_reset(struct wire_reader *reader);

const struct wire_reader_statistics *wire_reader_statistics(const struct wire_reader *reader);

/*
 * The records of a WIRE_RECORDS or WIRE_PACKED frame; room for frame->count records.
 * 0, or -1 if the payload is not that many records.
 */
int wire_frame_records(const struct wire_frame *frame, struct record *records);

#endif
