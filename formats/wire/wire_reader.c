#include "formats/wire/wire_reader.h"

#include "formats/base/crc32c.h"
#include "formats/wire/packing.h"

#include <stdlib.h>
#include <string.h>

/* Small enough for a processor's second-level cache, large enough that moving the rest (less than a
 * frame) to the front is rare. */
#define BUFFER_BYTES (256u * 1024u)
#define MOVE_BELOW   (64u * 1024u) /* space after the data; below it, the data moves to the front */
_Static_assert(MOVE_BELOW > WIRE_FRAME_MAX && BUFFER_BYTES > 2 * WIRE_FRAME_MAX,
               "there is always room for a frame");

struct wire_reader {
    struct wire_reader_statistics statistics;
    size_t start; /* of the bytes not yet examined */
    size_t end;
    uint8_t bytes[BUFFER_BYTES];
};

struct wire_reader *wire_reader_new(void)
{
    struct wire_reader *reader = malloc(sizeof *reader);
    if (reader) {
        reader->statistics = (struct wire_reader_statistics){0};
        reader->start = 0;
        reader->end = 0;
    }
    return reader;
}

void wire_reader_free(struct wire_reader *reader)
{
    free(reader);
}

uint8_t *wire_reader_space(struct wire_reader *reader, size_t *capacity)
{
    if (BUFFER_BYTES - reader->end < MOVE_BELOW && reader->start > 0) {
        memmove(reader->bytes, reader->bytes + reader->start, reader->end - reader->start);
        reader->end -= reader->start;
        reader->start = 0;
    }
    *capacity = BUFFER_BYTES - reader->end;
    return reader->bytes + reader->end;
}

void wire_reader_added(struct wire_reader *reader, size_t size)
{
    reader->end += size;
    reader->statistics.bytes += size;
}

static void skip(struct wire_reader *reader, size_t size)
{
    reader->start += size;
    reader->statistics.skipped_bytes += size;
}

/* Advances to the next sync word, or to an incomplete one at the end of the data. */
static void find_sync(struct wire_reader *reader)
{
    static const uint8_t sync[4] = {WIRE_FRAME_SYNC & 0xff, WIRE_FRAME_SYNC >> 8 & 0xff,
                                    WIRE_FRAME_SYNC >> 16 & 0xff, WIRE_FRAME_SYNC >> 24};
    const uint8_t *begin = reader->bytes + reader->start;
    const uint8_t *end = reader->bytes + reader->end;
    const uint8_t *at = begin;
    while (at < end && (at = memchr(at, sync[0], (size_t)(end - at)))) {
        size_t left = (size_t)(end - at);
        if (memcmp(at, sync, left < sizeof sync ? left : sizeof sync) == 0)
            break;
        at++;
    }
    skip(reader, (size_t)((at ? at : end) - begin));
}

/*
 * Checks the frame at start, which is a sync word or the beginning of one. Returns the bytes of a
 * good frame, 0 if more bytes are needed, -1 if it is not a frame.
 */
static int judge(struct wire_reader *reader, struct wire_frame *frame)
{
    const uint8_t *bytes = reader->bytes + reader->start;
    size_t size = reader->end - reader->start;
    if (size < WIRE_FRAME_HEADER)
        return 0;
    if (wire_frame_get_header(frame, bytes) < 0)
        return -1;
    size_t whole = WIRE_FRAME_HEADER + frame->payload_bytes + WIRE_FRAME_TRAILER;
    if (size < whole)
        return 0;
    frame->payload = bytes + WIRE_FRAME_HEADER;
    if (crc32c(0, frame->payload, frame->payload_bytes) !=
        bytes_get32(frame->payload + frame->payload_bytes)) {
        reader->statistics.bad_payloads++;
        return -1;
    }
    return (int)whole;
}

int wire_reader_next(struct wire_reader *reader, struct wire_frame *frame)
{
    for (;;) {
        find_sync(reader);
        int size = judge(reader, frame);
        if (size > 0) {
            reader->start += (size_t)size;
            reader->statistics.frames++;
            return 1;
        }
        if (size == 0)
            break;
        /* skip only the sync word: a good frame may lie within the bytes that the bad one
         * claimed */
        skip(reader, 4);
    }
    if (reader->start == reader->end) {
        reader->start = 0;
        reader->end = 0;
    }
    return 0;
}

bool wire_reader_look_inside(struct wire_reader *reader)
{
    const struct wire_reader_statistics statistics = reader->statistics;
    const size_t start = reader->start;
    struct wire_frame frame;
    while (reader->start < reader->end) {
        size_t left = reader->end - reader->start;
        skip(reader, left < 4 ? left : 4);
        find_sync(reader);
        if (judge(reader, &frame) > 0)
            return true;
    }
    reader->statistics = statistics;
    reader->start = start;
    return false;
}

void wire_reader_reset(struct wire_reader *reader)
{
    reader->statistics.skipped_bytes += reader->end - reader->start;
    reader->start = 0;
    reader->end = 0;
}

const struct wire_reader_statistics *wire_reader_statistics(const struct wire_reader *reader)
{
    return &reader->statistics;
}

int wire_frame_records(const struct wire_frame *frame, struct record *records)
{
    if (frame->kind == WIRE_PACKED)
        return packing_get_all(records, frame->count, frame->payload, frame->payload_bytes);
    if (frame->kind != WIRE_RECORDS || frame->payload_bytes != frame->count * RECORD_BYTES)
        return -1;
    records_get(records, frame->payload, frame->count);
    return 0;
}
