#include "tests/firmware/gateware/cosimulation.h"

#include "firmware/p6.h"
#include "formats/base/bytes.h"
#include "formats/base/crc32c.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct wire_frame frame_at(const struct bytes *bytes, size_t at)
{
    struct wire_frame frame;
    if (bytes->size - at < WIRE_FRAME_HEADER + WIRE_FRAME_TRAILER ||
        wire_frame_get_header(&frame, bytes->data + at) < 0 ||
        bytes->size - at < WIRE_FRAME_HEADER + frame.payload_bytes + WIRE_FRAME_TRAILER)
        fail("no frame where one should start");
    frame.payload = bytes->data + at + WIRE_FRAME_HEADER;
    if (bytes_get32(frame.payload + frame.payload_bytes) !=
        crc32c(0, frame.payload, frame.payload_bytes))
        fail("a payload's checksum is wrong");
    return frame;
}

size_t frame_size(const struct wire_frame *frame)
{
    return WIRE_FRAME_HEADER + frame->payload_bytes + WIRE_FRAME_TRAILER;
}

bool is_records(const struct wire_frame *frame)
{
    return frame->kind == WIRE_RECORDS || frame->kind == WIRE_PACKED;
}

struct wire_identity first_identity(const struct test *test)
{
    struct wire_identity identity;
    struct wire_frame frame = frame_at(&test->gateware, 0);
    if (wire_identity_get(&identity, frame.payload + WIRE_REPLY_HEADER,
                          frame.payload_bytes - WIRE_REPLY_HEADER) < 0)
        fail("no identity");
    return identity;
}

/* The tick of a phase in the session: the gateware's time begins with the entry before ARM. */
void set_ticks(struct test *test)
{
    struct record record;
    size_t at = 0, first = 0;
    struct wire_frame frame = {.kind = 0};
    while (at < test->gateware.size && !is_records(&frame)) {
        frame = frame_at(&test->gateware, at);
        at += frame_size(&frame);
    }
    while (is_records(&frame) && first < test->options.requests &&
           !(p6_decode(&test->phases[first], &record) == P6_RECORD &&
             filter_match(&test->configuration.filter, &record)))
        first++;
    if (!is_records(&frame) || first == test->options.requests)
        return;
    uint64_t base = test->phases[first].tick - frame.first_tick;
    for (uint64_t i = 0; i < test->options.requests; i++)
        test->phases[i].tick -= base;
}

static bool has_counters(const struct wire_frame *frame)
{
    if (frame->kind == WIRE_HEARTBEAT || frame->kind == WIRE_END)
        return true;
    return frame->kind == WIRE_REPLY && frame->payload[4] == WIRE_STATUS &&
           frame->payload_bytes > WIRE_REPLY_HEADER;
}

/* Copies the gateware's time and queue into the twin's frame, and how long it stalled the bus. */
static void adopt(uint8_t *twin, const uint8_t *gateware, const struct wire_frame *frame,
                  bool stall)
{
    size_t counters = frame->kind == WIRE_REPLY ? WIRE_REPLY_HEADER : 0;
    uint8_t *payload = twin + WIRE_FRAME_HEADER + counters;
    const uint8_t *other = gateware + WIRE_FRAME_HEADER + counters;
    memcpy(twin + 16, gateware + 16, 8);
    if (has_counters(frame)) {
        if (bytes_get32(other + 64) > FRAMES || bytes_get32(other + 68) > FRAMES)
            fail("the queue holds more frames than it can");
        memcpy(payload, other, 8);
        memcpy(payload + 64, other + 64, 8);
        if (stall)
            memcpy(payload + 80, other + 80, 16);
    }
    bytes_put32(twin + 60, crc32c(0, twin, 60));
    bytes_put32(twin + WIRE_FRAME_HEADER + frame->payload_bytes,
                crc32c(0, twin + WIRE_FRAME_HEADER, frame->payload_bytes));
}

/* Prints the first bytes that differ. */
static void show(const struct bytes *twin, const struct bytes *gateware, size_t at, size_t size)
{
    size_t first = 0;
    while (first < size && twin->data[at + first] == gateware->data[at + first])
        first++;
    printf("from byte %zu, the C code and the gateware:", first);
    for (size_t i = first; i < size && i < first + 16; i++)
        printf(" %02x:%02x", twin->data[at + i], gateware->data[at + i]);
    printf("\n");
}

size_t compare(struct test *test)
{
    size_t at = 0, frames = 0;
    uint64_t tick = 0, stalled = 0;
    while (at < test->twin.size) {
        struct wire_frame twin = frame_at(&test->twin, at), frame = frame_at(&test->gateware, at);
        if (!is_records(&twin) && frame_size(&twin) == frame_size(&frame))
            adopt(test->twin.data + at, test->gateware.data + at, &twin, test->options.stall);
        if (memcmp(test->twin.data + at, test->gateware.data + at, frame_size(&twin)) != 0) {
            show(&test->twin, &test->gateware, at, frame_size(&twin));
            printf("cosimulate: frame %zu, of kind %u, is not that of the C code\n", frames,
                   twin.kind);
            exit(1);
        }
        if (frame.session && frame.first_tick < tick)
            fail("time goes backwards");
        tick = frame.session ? frame.first_tick : 0;
        stalled += frame.kind == WIRE_END ? bytes_get64(frame.payload + 80) : 0;
        at += frame_size(&twin);
        frames++;
    }
    if (at != test->gateware.size)
        fail("the gateware sent more than the C code");
    if (test->options.stall && stalled == 0)
        fail("the bus was never stalled: the test does not test");
    return frames;
}
