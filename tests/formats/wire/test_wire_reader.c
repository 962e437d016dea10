#include "formats/wire/wire_reader.h"

#include "tests/suites.h"
#include "tests/support/records.h"
#include "tests/support/wire_frames.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STREAM_BYTES (256u * 1024u)

/* A stream under construction, and the frames that must be found in it. */
struct stream_made {
    uint8_t *bytes;
    size_t size;
    uint32_t expected[4096]; /* sequence numbers */
    size_t expected_count;
    size_t good_bytes;
};

static size_t put_random_frame(uint64_t *random, uint8_t *out, uint32_t sequence)
{
    static uint8_t payload[WIRE_PAYLOAD_MAX];
    uint16_t size =
        (uint16_t)random_below(random, random_one_in(random, 10) ? WIRE_PAYLOAD_MAX + 1 : 600);
    random_fill(random, payload, size);
    /* payloads full of bytes that look like frames */
    for (size_t i = 0; i + 4 <= size && random_one_in(random, 2); i += 1 + random_below(random, 64))
        bytes_put32(payload + i, WIRE_FRAME_SYNC);
    const struct wire_frame frame = {.version = (uint8_t)random_next32(random),
                                     .kind = (uint8_t)random_next32(random),
                                     .session = random_next32(random),
                                     .sequence = sequence,
                                     .payload_bytes = size,
                                     .payload = payload};
    return wire_frames_put(out, &frame);
}

/* Appends a good frame, a damaged one, part of one, or garbage. */
static void append(uint64_t *random, struct stream_made *stream, uint32_t sequence)
{
    uint8_t *at = stream->bytes + stream->size;
    switch (random_below(random, 6)) {
    case 0: { /* garbage, with pieces of sync words */
        size_t size = random_below(random, 300);
        random_fill(random, at, size);
        for (size_t i = 0; i < size; i++)
            if (at[i] < 16)
                at[i] = 0xa5;
        stream->size += size;
        break;
    }
    case 1: /* cut anywhere */
        stream->size += random_below(random, put_random_frame(random, at, sequence));
        break;
    case 2: { /* one bit flipped, anywhere */
        size_t size = put_random_frame(random, at, sequence);
        at[random_below(random, size)] ^= (uint8_t)(1u << random_below(random, 8));
        stream->size += size;
        break;
    }
    default: {
        size_t size = put_random_frame(random, at, sequence);
        stream->expected[stream->expected_count++] = sequence;
        stream->good_bytes += size;
        stream->size += size;
    }
    }
}

/* Feeds the stream in random pieces; every undamaged frame must come once and in order. */
static void feed(uint64_t *random, struct wire_reader *reader, const struct stream_made *stream)
{
    size_t fed = 0;
    size_t got = 0;
    while (fed < stream->size) {
        size_t capacity;
        uint8_t *space = wire_reader_space(reader, &capacity);
        CU_ASSERT_FATAL(capacity >= WIRE_FRAME_MAX);
        size_t size = random_below(random, random_one_in(random, 3) ? 60000 : 500) + 1;
        size = size > capacity ? capacity : size;
        size = size > stream->size - fed ? stream->size - fed : size;
        memcpy(space, stream->bytes + fed, size);
        wire_reader_added(reader, size);
        fed += size;
        struct wire_frame frame;
        while (wire_reader_next(reader, &frame)) {
            CU_ASSERT_FATAL(got < stream->expected_count);
            CU_ASSERT_EQUAL_FATAL(frame.sequence, stream->expected[got]);
            got++;
        }
    }
    CU_ASSERT_EQUAL(got, stream->expected_count);
}

static void test_every_good_frame(void)
{
    struct stream_made stream = {.bytes = malloc(STREAM_BYTES + 2 * WIRE_FRAME_MAX)};
    CU_ASSERT_PTR_NOT_NULL_FATAL(stream.bytes);
    for (unsigned seed = 0; seed < 1500; seed++) {
        uint64_t random = random_seed(seed);
        struct wire_reader *reader = wire_reader_new();
        stream.size = stream.expected_count = stream.good_bytes = 0;
        size_t wanted = seed % 50 ? 20000 : STREAM_BYTES;
        for (uint32_t sequence = 0; stream.size < wanted; sequence++)
            append(&random, &stream, sequence);
        /* a cut frame at the end is only detected when more bytes follow */
        memset(stream.bytes + stream.size, 0, WIRE_FRAME_MAX);
        stream.size += WIRE_FRAME_MAX;
        feed(&random, reader, &stream);
        const struct wire_reader_statistics *statistics = wire_reader_statistics(reader);
        CU_ASSERT_EQUAL(statistics->frames, stream.expected_count);
        CU_ASSERT_EQUAL(statistics->bytes, stream.size);
        CU_ASSERT_EQUAL(statistics->skipped_bytes, stream.size - stream.good_bytes);
        wire_reader_free(reader);
    }
    free(stream.bytes);
}

static void add(struct wire_reader *reader, const uint8_t *bytes, size_t size)
{
    size_t capacity;
    uint8_t *space = wire_reader_space(reader, &capacity);
    CU_ASSERT_FATAL(capacity >= size);
    memcpy(space, bytes, size);
    wire_reader_added(reader, size);
}

/* A good frame inside the length that a damaged one claims is found. */
static void test_frame_inside_a_bad_one(void)
{
    struct wire_reader *reader = wire_reader_new();
    uint8_t bytes[2 * WIRE_FRAME_MAX] = {0};
    const struct wire_frame outer = {.kind = WIRE_RECORDS, .sequence = 1, .payload_bytes = 1000};
    const struct wire_frame inner = {.kind = WIRE_RECORDS, .sequence = 2};
    wire_frame_put_header(bytes, &outer);
    size_t inner_size = wire_frames_put(bytes + WIRE_FRAME_HEADER, &inner);
    struct wire_frame frame;
    add(reader, bytes, WIRE_FRAME_HEADER + inner_size);
    CU_ASSERT_EQUAL(wire_reader_next(reader, &frame), 0);
    add(reader, bytes + WIRE_FRAME_HEADER + inner_size, 2000);
    CU_ASSERT_EQUAL(wire_reader_next(reader, &frame), 1);
    CU_ASSERT_EQUAL(frame.sequence, 2);
    CU_ASSERT_EQUAL(wire_reader_next(reader, &frame), 0);
    CU_ASSERT_EQUAL(wire_reader_statistics(reader)->bad_payloads, 1);
    wire_reader_free(reader);
}

/* The same if the rest of the damaged one never comes. */
static void test_frame_inside_an_unfinished_one(void)
{
    struct wire_reader *reader = wire_reader_new();
    uint8_t bytes[2 * WIRE_FRAME_MAX] = {0};
    const struct wire_frame outer = {.kind = WIRE_RECORDS, .sequence = 1, .payload_bytes = 1000};
    const struct wire_frame inner = {.kind = WIRE_END, .sequence = 2, .payload_bytes = 80};
    struct wire_frame frame;
    uint8_t whole[WIRE_FRAME_MAX];
    wire_frame_put_header(bytes, &outer);
    size_t before = WIRE_FRAME_HEADER + 500;
    struct wire_frame filled = inner;
    filled.payload = bytes + WIRE_FRAME_MAX; /* zeros */
    size_t size = wire_frames_put(whole, &filled);
    memcpy(bytes + before, whole, size);
    CU_ASSERT_FALSE(wire_reader_look_inside(reader));
    for (size_t part = 0; part < before + size; part++) {
        wire_reader_reset(reader);
        const struct wire_reader_statistics statistics = *wire_reader_statistics(reader);
        add(reader, bytes, part);
        CU_ASSERT_EQUAL(wire_reader_next(reader, &frame), 0);
        CU_ASSERT_FALSE(wire_reader_look_inside(reader));
        CU_ASSERT_EQUAL(wire_reader_statistics(reader)->skipped_bytes, statistics.skipped_bytes);
        /* the frames in it are not lost */
        add(reader, bytes + part, before + size - part);
        CU_ASSERT_EQUAL(wire_reader_next(reader, &frame), 0);
        CU_ASSERT_TRUE(wire_reader_look_inside(reader));
        CU_ASSERT_EQUAL(wire_reader_next(reader, &frame), 1);
        CU_ASSERT_EQUAL(frame.sequence, 2);
        CU_ASSERT_EQUAL(wire_reader_statistics(reader)->skipped_bytes,
                        statistics.skipped_bytes + before);
        CU_ASSERT_FALSE(wire_reader_look_inside(reader));
    }
    wire_reader_free(reader);
}

static void test_reset(void)
{
    struct wire_reader *reader = wire_reader_new();
    uint8_t bytes[WIRE_FRAME_MAX];
    const struct wire_frame made = {.kind = WIRE_HEARTBEAT, .sequence = 3};
    size_t size = wire_frames_put(bytes, &made);
    struct wire_frame frame;
    add(reader, bytes, 50);
    wire_reader_reset(reader);
    add(reader, bytes, size);
    CU_ASSERT_EQUAL(wire_reader_next(reader, &frame), 1);
    CU_ASSERT_EQUAL(frame.sequence, 3);
    CU_ASSERT_EQUAL(wire_reader_statistics(reader)->skipped_bytes, 50);
    wire_reader_free(reader);
    wire_reader_free(NULL);
}

/* A caller that never takes frames runs out of room, and loses nothing. */
static void test_full(void)
{
    struct wire_reader *reader = wire_reader_new();
    uint8_t bytes[WIRE_FRAME_MAX];
    const struct wire_frame made = {.kind = WIRE_HEARTBEAT, .sequence = 3};
    size_t size = wire_frames_put(bytes, &made);
    size_t added = 0;
    size_t capacity;
    while (wire_reader_space(reader, &capacity), capacity >= size) {
        add(reader, bytes, size);
        added++;
    }
    struct wire_frame frame;
    while (wire_reader_next(reader, &frame))
        added--;
    CU_ASSERT_EQUAL(added, 0);
    wire_reader_space(reader, &capacity);
    CU_ASSERT(capacity >= WIRE_FRAME_MAX);
    wire_reader_free(reader);
}

static void test_records(void)
{
    uint64_t random = random_seed(11);
    struct record made[300];
    struct record back[300];
    uint8_t payload[300 * 13];
    wire_frames_realistic(&random, made, 300);
    records_put(payload, made, 300);
    struct wire_frame frame = {
        .kind = WIRE_RECORDS, .count = 300, .payload = payload, .payload_bytes = 3600};
    CU_ASSERT_EQUAL(wire_frame_records(&frame, back), 0);
    CU_ASSERT_EQUAL(memcmp(made, back, sizeof made), 0);
    frame.payload_bytes = 3599;
    CU_ASSERT_EQUAL(wire_frame_records(&frame, back), -1);
    frame.payload_bytes = 3600;
    frame.count = 299;
    CU_ASSERT_EQUAL(wire_frame_records(&frame, back), -1);
    frame.count = 300;
    frame.kind = WIRE_PACKED;
    CU_ASSERT_EQUAL(wire_frame_records(&frame, back), -1);
    frame.payload_bytes = (uint16_t)wire_frames_pack(payload, made, 300);
    memset(back, 0, sizeof back);
    CU_ASSERT_EQUAL(wire_frame_records(&frame, back), 0);
    CU_ASSERT_EQUAL(memcmp(made, back, sizeof made), 0);
    frame.kind = WIRE_HEARTBEAT;
    CU_ASSERT_EQUAL(wire_frame_records(&frame, back), -1);
}

/* Reads the bytes of indented lines with nothing but hexadecimal bytes, from one heading to the
 * next. */
static size_t read_example(const char *path, const char *heading, uint8_t *bytes, size_t capacity)
{
    char line[300];
    size_t size = 0;
    int inside = 0;
    FILE *file = fopen(path, "r");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    while (fgets(line, sizeof line, file)) {
        if (line[0] == '#')
            inside = strncmp(line, heading, strlen(heading)) == 0;
        line[strcspn(line, "\n")] = '\0';
        if (!inside || strncmp(line, "    ", 4) != 0 || line[4] == ' ' ||
            line[strspn(line, "0123456789abcdef ")])
            continue;
        for (const char *at = line + 4; at[0] && at[1] && size < capacity; at += at[2] ? 3 : 2)
            bytes[size++] = (uint8_t)strtoul(at, NULL, 16);
    }
    fclose(file);
    return size;
}

/* Checks the bytes printed in doc/wire-protocol.md, "Worked example". */
static void test_worked_example(void)
{
    const struct record *expected = records_worked_example;
    uint8_t bytes[300];
    size_t size = read_example("doc/wire-protocol.md", "### Worked example", bytes, sizeof bytes);
    CU_ASSERT_EQUAL(size, 111);
    struct wire_reader *reader = wire_reader_new();
    struct wire_frame frame;
    struct record records[6];
    add(reader, bytes, size);
    CU_ASSERT_EQUAL_FATAL(wire_reader_next(reader, &frame), 1);
    CU_ASSERT_EQUAL(frame.session, 0x1b2c3d4e);
    CU_ASSERT_EQUAL(frame.sequence, 7);
    CU_ASSERT_EQUAL(frame.first_tick, 1000000);
    CU_ASSERT_EQUAL(frame.first_index, 5003);
    CU_ASSERT_EQUAL(frame.lost, 3);
    CU_ASSERT_EQUAL(frame.lost_first_tick, 999000);
    CU_ASSERT_EQUAL(frame.lost_last_tick, 999600);
    CU_ASSERT_EQUAL_FATAL(frame.count, 6);
    CU_ASSERT_EQUAL(wire_frame_records(&frame, records), 0);
    CU_ASSERT_EQUAL(memcmp(records, expected, sizeof records_worked_example), 0);
    wire_reader_free(reader);
    struct wire_command command;
    size = read_example("doc/wire-protocol.md", "## Commands", bytes, sizeof bytes);
    CU_ASSERT_EQUAL(size, 24);
    CU_ASSERT_EQUAL_FATAL(wire_command_get(&command, bytes, size), 24);
    CU_ASSERT_EQUAL(command.tag, 0x12345678);
    CU_ASSERT_EQUAL(bytes_get32(command.body), 0xdeadbeef);
}

static const struct test_case cases[] = {
    {"every good frame, once, in order", test_every_good_frame},
    {"a frame inside a bad one", test_frame_inside_a_bad_one},
    {"a frame inside an unfinished one", test_frame_inside_an_unfinished_one},
    {"reset", test_reset},
    {"full", test_full},
    {"records of a frame", test_records},
    {"the specification's examples", test_worked_example},
    {NULL, NULL}};
TEST_SUITE(wire_reader, cases)
