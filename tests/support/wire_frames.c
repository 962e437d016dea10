#include "tests/support/wire_frames.h"

#include "formats/base/crc32c.h"
#include "formats/wire/packing.h"

#include <string.h>

size_t wire_frames_put(uint8_t *out, const struct wire_frame *frame)
{
    wire_frame_put_header(out, frame);
    uint8_t *payload = out + WIRE_FRAME_HEADER;
    if (frame->payload_bytes > 0)
        memcpy(payload, frame->payload, frame->payload_bytes);
    bytes_put32(payload + frame->payload_bytes, crc32c(0, payload, frame->payload_bytes));
    return WIRE_FRAME_HEADER + (size_t)frame->payload_bytes + WIRE_FRAME_TRAILER;
}

void wire_frames_realistic(uint64_t *random, struct record *records, size_t count)
{
    static const uint8_t types[] = {REQUEST_FETCH,   REQUEST_FETCH,      REQUEST_FETCH,
                                    REQUEST_MEMREAD, REQUEST_MEMREADINV, REQUEST_MEMWRITE,
                                    REQUEST_MEMREAD, REQUEST_DEFERREPLY};
    uint32_t place[4][8];
    for (unsigned p = 0; p < 4; p++)
        for (unsigned t = 0; t < 8; t++)
            place[p][t] = random_next32(random);
    for (size_t i = 0; i < count; i++) {
        uint8_t processor = (uint8_t)random_below(random, 4);
        uint32_t t = random_below(random, 8);
        uint32_t *address = &place[processor][t];
        *address += random_one_in(random, 16) ? random_next32(random) : random_below(random, 9) * 8;
        records[i] =
            (struct record){.address = *address,
                            .type = types[t],
                            .size = random_one_in(random, 50) ? 4 : 8,
                            .attribute = 7,
                            .processor = processor,
                            .time = random_one_in(random, 100) ? random_next32(random) >> 12
                                                               : 60 + 6 * random_below(random, 20)};
    }
}

void wire_frames_arbitrary(uint64_t *random, struct record *records, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t kind = random_next32(random) >> random_below(random, 32);
        records[i] = (struct record){.address = random_next32(random) >> random_below(random, 32),
                                     .type = (uint8_t)kind,
                                     .size = (uint8_t)(kind >> 8),
                                     .attribute = (uint8_t)(kind >> 16),
                                     .processor = (uint8_t)(kind >> 24),
                                     .time = random_next32(random) >> random_below(random, 32)};
        if (i > 0 && random_one_in(random, 4))
            records[i].time = records[i - 1].time;
        if (random_one_in(random, 8))
            records[i].address = 0u - random_below(random, 3);
        if (random_one_in(random, 20))
            records[i].time = 0xffffffffu;
    }
}

size_t wire_frames_pack(uint8_t *out, const struct record *records, size_t count)
{
    struct packing packing;
    packing_reset(&packing);
    size_t size = 0;
    for (size_t i = 0; i < count; i++)
        size += packing_put(&packing, &records[i], out + size);
    return size;
}
