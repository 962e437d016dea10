#include "formats/wire/wire.h"

#include "formats/base/crc32c.h"

#include <string.h>

#define ALL_TYPES ((1u << REQUEST_TYPES) - 1u)

void wire_frame_put_header(uint8_t header[WIRE_FRAME_HEADER], const struct wire_frame *frame)
{
    bytes_put32(header, WIRE_FRAME_SYNC);
    header[4] = frame->version;
    header[5] = frame->kind;
    bytes_put16(header + 6, frame->flags);
    bytes_put32(header + 8, frame->session);
    bytes_put32(header + 12, frame->sequence);
    bytes_put64(header + 16, frame->first_tick);
    bytes_put64(header + 24, frame->first_index);
    bytes_put64(header + 32, frame->lost);
    bytes_put64(header + 40, frame->lost_first_tick);
    bytes_put64(header + 48, frame->lost_last_tick);
    bytes_put16(header + 56, frame->count);
    bytes_put16(header + 58, frame->payload_bytes);
    bytes_put32(header + 60, crc32c(0, header, 60));
}

int wire_frame_get_header(struct wire_frame *frame, const uint8_t header[WIRE_FRAME_HEADER])
{
    if (bytes_get32(header) != WIRE_FRAME_SYNC || bytes_get32(header + 60) != crc32c(0, header, 60))
        return -1;
    *frame = (struct wire_frame){.version = header[4],
                                 .kind = header[5],
                                 .flags = bytes_get16(header + 6),
                                 .session = bytes_get32(header + 8),
                                 .sequence = bytes_get32(header + 12),
                                 .first_tick = bytes_get64(header + 16),
                                 .first_index = bytes_get64(header + 24),
                                 .lost = bytes_get64(header + 32),
                                 .lost_first_tick = bytes_get64(header + 40),
                                 .lost_last_tick = bytes_get64(header + 48),
                                 .count = bytes_get16(header + 56),
                                 .payload_bytes = bytes_get16(header + 58)};
    return frame->payload_bytes <= WIRE_PAYLOAD_MAX && frame->count <= WIRE_FRAME_RECORDS_MAX ? 0
                                                                                              : -1;
}

size_t wire_command_put(uint8_t *out, const struct wire_command *command)
{
    bytes_put32(out, WIRE_COMMAND_SYNC);
    out[4] = command->version;
    out[5] = command->code;
    bytes_put16(out + 6, command->body_bytes);
    bytes_put32(out + 8, command->tag);
    bytes_put32(out + 12, crc32c(0, out, 12));
    uint8_t *body = out + WIRE_COMMAND_HEADER;
    if (command->body_bytes > 0)
        memcpy(body, command->body, command->body_bytes);
    bytes_put32(body + command->body_bytes, crc32c(0, body, command->body_bytes));
    return WIRE_COMMAND_HEADER + command->body_bytes + 4u;
}

int wire_command_get(struct wire_command *command, const uint8_t *bytes, size_t size)
{
    uint8_t sync[4];
    bytes_put32(sync, WIRE_COMMAND_SYNC);
    if (memcmp(bytes, sync, size < sizeof sync ? size : sizeof sync) != 0)
        return -1;
    if (size < WIRE_COMMAND_HEADER)
        return 0;
    if (bytes_get32(bytes + 12) != crc32c(0, bytes, 12))
        return -1;
    uint16_t body_bytes = bytes_get16(bytes + 6);
    if (body_bytes > WIRE_COMMAND_BODY_MAX)
        return -1;
    size_t whole = WIRE_COMMAND_HEADER + body_bytes + 4u;
    if (size < whole)
        return 0;
    const uint8_t *body = bytes + WIRE_COMMAND_HEADER;
    if (bytes_get32(body + body_bytes) != crc32c(0, body, body_bytes))
        return -1;
    *command = (struct wire_command){.version = bytes[4],
                                     .code = bytes[5],
                                     .body_bytes = body_bytes,
                                     .tag = bytes_get32(bytes + 8),
                                     .body = body};
    return (int)whole;
}

void wire_reply_put_header(uint8_t out[WIRE_REPLY_HEADER], const struct wire_reply *reply)
{
    bytes_put32(out, reply->tag);
    out[4] = reply->code;
    out[5] = reply->status;
    bytes_put16(out + 6, 0);
}

int wire_reply_get(struct wire_reply *reply, const uint8_t *payload, size_t size)
{
    if (size < WIRE_REPLY_HEADER)
        return -1;
    *reply = (struct wire_reply){.tag = bytes_get32(payload),
                                 .code = payload[4],
                                 .status = payload[5],
                                 .body = payload + WIRE_REPLY_HEADER,
                                 .body_bytes = size - WIRE_REPLY_HEADER};
    return 0;
}

/* A fixed field of text: removes control characters, which must not reach a terminal or a file. */
static void get_text(char *text, const uint8_t *bytes, size_t size)
{
    memset(text, 0, size);
    for (size_t i = 0; i + 1 < size && bytes[i]; i++)
        text[i] = (char)(bytes[i] < 0x20 || bytes[i] > 0x7e ? '?' : bytes[i]);
}

static void put_text(uint8_t *bytes, const char *text, size_t size)
{
    memset(bytes, 0, size);
    for (size_t i = 0; i + 1 < size && text[i]; i++)
        bytes[i] = (uint8_t)text[i];
}

void wire_identity_put(uint8_t out[WIRE_IDENTITY_BYTES], const struct wire_identity *identity)
{
    memset(out, 0, WIRE_IDENTITY_BYTES);
    out[0] = identity->protocol;
    out[1] = identity->bus;
    bytes_put16(out + 2, identity->queue_frames);
    bytes_put16(out + 4, identity->payload_max);
    bytes_put16(out + 6, identity->features);
    bytes_put32(out + 8, identity->firmware);
    bytes_put64(out + 16, identity->clock_hz);
    put_text(out + 24, identity->name, sizeof identity->name);
    put_text(out + 56, identity->serial, sizeof identity->serial);
}

int wire_identity_get(struct wire_identity *identity, const uint8_t *bytes, size_t size)
{
    if (size < WIRE_IDENTITY_BYTES)
        return -1;
    identity->protocol = bytes[0];
    identity->bus = bytes[1];
    identity->queue_frames = bytes_get16(bytes + 2);
    identity->payload_max = bytes_get16(bytes + 4);
    identity->features = bytes_get16(bytes + 6);
    identity->firmware = bytes_get32(bytes + 8);
    identity->clock_hz = bytes_get64(bytes + 16);
    get_text(identity->name, bytes + 24, sizeof identity->name);
    get_text(identity->serial, bytes + 56, sizeof identity->serial);
    return 0;
}

#define FILTER_FLAG_OUTSIDE 0x01u

static void put_filter(uint8_t out[FILTER_BYTES], const struct filter *filter)
{
    memset(out, 0, FILTER_BYTES);
    bytes_put32(out, filter->types);
    out[4] = filter->processors;
    out[5] = filter->range_count;
    out[6] = filter->outside ? FILTER_FLAG_OUTSIDE : 0;
    for (unsigned i = 0; i < FILTER_RANGES && i < filter->range_count; i++) {
        bytes_put32(out + 8 + 8 * i, filter->ranges[i].low);
        bytes_put32(out + 12 + 8 * i, filter->ranges[i].high);
    }
}

/* Strict, also about reserved bytes: a board that ignored an unknown setting would record other
 * requests than configured. */
static int get_filter(struct filter *filter, const uint8_t *bytes)
{
    *filter = (struct filter){.types = bytes_get32(bytes),
                              .processors = bytes[4],
                              .range_count = bytes[5],
                              .outside = bytes[6] & FILTER_FLAG_OUTSIDE};
    if (filter->types > ALL_TYPES || filter->range_count > FILTER_RANGES ||
        (bytes[6] & ~FILTER_FLAG_OUTSIDE) || bytes[7] || bytes_get64(bytes + 72))
        return -1;
    for (unsigned i = 0; i < filter->range_count; i++) {
        filter->ranges[i].low = bytes_get32(bytes + 8 + 8 * i);
        filter->ranges[i].high = bytes_get32(bytes + 12 + 8 * i);
        if (filter->ranges[i].low > filter->ranges[i].high)
            return -1;
    }
    return 0;
}

void wire_configuration_put(uint8_t out[WIRE_CONFIGURATION_BYTES],
                            const struct wire_configuration *configuration)
{
    memset(out, 0, WIRE_CONFIGURATION_BYTES);
    put_filter(out, &configuration->filter);
    out[80] = configuration->packing;
    out[81] = configuration->stall;
    bytes_put32(out + 84, configuration->flush_us);
    bytes_put32(out + 88, configuration->heartbeat_ms);
}

int wire_configuration_get(struct wire_configuration *configuration, const uint8_t *bytes,
                           size_t size)
{
    if (size != WIRE_CONFIGURATION_BYTES || get_filter(&configuration->filter, bytes) < 0)
        return -1;
    configuration->packing = bytes[80];
    configuration->stall = bytes[81];
    configuration->flush_us = bytes_get32(bytes + 84);
    configuration->heartbeat_ms = bytes_get32(bytes + 88);
    bool reserved = bytes[82] || bytes[83] || bytes_get32(bytes + 92);
    return configuration->packing <= WIRE_DELTA && bytes[81] <= 1 && !reserved ? 0 : -1;
}

void wire_counters_put(uint8_t out[WIRE_COUNTERS_BYTES], const struct wire_counters *counters)
{
    bytes_put64(out, counters->tick);
    bytes_put64(out + 8, counters->seen);
    bytes_put64(out + 16, counters->accepted);
    bytes_put64(out + 24, counters->filtered);
    bytes_put64(out + 32, counters->above_4gib);
    bytes_put64(out + 40, counters->undecoded);
    bytes_put64(out + 48, counters->lost);
    bytes_put64(out + 56, counters->frames);
    bytes_put32(out + 64, counters->queue_fill);
    bytes_put32(out + 68, counters->queue_peak);
    bytes_put32(out + 72, counters->state);
    bytes_put32(out + 76, counters->session);
    bytes_put64(out + 80, counters->stalled);
    bytes_put64(out + 88, counters->stalls);
}

int wire_counters_get(struct wire_counters *counters, const uint8_t *bytes, size_t size)
{
    if (size < WIRE_COUNTERS_BYTES_LEAST)
        return -1;
    *counters = (struct wire_counters){.tick = bytes_get64(bytes),
                                       .seen = bytes_get64(bytes + 8),
                                       .accepted = bytes_get64(bytes + 16),
                                       .filtered = bytes_get64(bytes + 24),
                                       .above_4gib = bytes_get64(bytes + 32),
                                       .undecoded = bytes_get64(bytes + 40),
                                       .lost = bytes_get64(bytes + 48),
                                       .frames = bytes_get64(bytes + 56),
                                       .queue_fill = bytes_get32(bytes + 64),
                                       .queue_peak = bytes_get32(bytes + 68),
                                       .state = bytes_get32(bytes + 72),
                                       .session = bytes_get32(bytes + 76)};
    if (size >= WIRE_COUNTERS_BYTES) {
        counters->stalled = bytes_get64(bytes + 80);
        counters->stalls = bytes_get64(bytes + 88);
    }
    return 0;
}

/* "Self-test": each 8 bytes are the previous word plus an odd constant, for which hardware needs
 * one adder. */
#define PATTERN_STEP 0x9e3779b97f4a7c15u

void wire_pattern_fill(uint8_t *payload, size_t size, uint64_t first_index)
{
    uint64_t word = first_index * PATTERN_STEP;
    size_t i = 0;
    for (; size - i >= 8; i += 8, word += PATTERN_STEP)
        bytes_put64(payload + i, word);
    for (; i < size; i++, word >>= 8)
        payload[i] = (uint8_t)word;
}
