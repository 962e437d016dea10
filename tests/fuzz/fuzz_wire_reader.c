/* Finds the frames in a stream from a board, and decodes their contents. The first byte selects the
 * size of the pieces in which the stream arrives. */
#include "formats/wire/wire_reader.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The buffer has exactly the frame's size, so that a sanitizer sees a write past its end. */
static void take_records(const struct wire_frame *frame)
{
    struct record *records = malloc(frame->count * sizeof *records + !frame->count);
    if (records)
        (void)wire_frame_records(frame, records);
    free(records);
}

static void take_frame(const struct wire_frame *frame)
{
    struct wire_identity identity;
    struct wire_counters counters;
    struct wire_reply reply;
    if (wire_identity_get(&identity, frame->payload, frame->payload_bytes) == 0 &&
        (memchr(identity.name, 0, sizeof identity.name) == NULL ||
         memchr(identity.serial, 0, sizeof identity.serial) == NULL))
        abort();
    (void)wire_counters_get(&counters, frame->payload, frame->payload_bytes);
    if (wire_reply_get(&reply, frame->payload, frame->payload_bytes) == 0 &&
        reply.body_bytes + WIRE_REPLY_HEADER != frame->payload_bytes)
        abort();
    take_records(frame);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct wire_reader *reader = wire_reader_new();
    if (!reader || size == 0) {
        wire_reader_free(reader);
        return 0;
    }
    size_t piece = (size_t)data[0] * 8 + 1;
    uint64_t good_bytes = 0;
    for (size_t at = 1; at < size;) {
        size_t capacity;
        uint8_t *space = wire_reader_space(reader, &capacity);
        size_t step = size - at < piece ? size - at : piece;
        if (step > capacity)
            abort(); /* without a waiting frame there is room for one */
        memcpy(space, data + at, step);
        wire_reader_added(reader, step);
        at += step;
        struct wire_frame frame;
        while (wire_reader_next(reader, &frame)) {
            good_bytes += WIRE_FRAME_HEADER + frame.payload_bytes + WIRE_FRAME_TRAILER;
            take_frame(&frame);
        }
    }
    wire_reader_reset(reader);
    const struct wire_reader_statistics *statistics = wire_reader_statistics(reader);
    if (statistics->bytes != size - 1 || statistics->skipped_bytes + good_bytes != size - 1)
        abort();
    wire_reader_free(reader);
    return 0;
}
