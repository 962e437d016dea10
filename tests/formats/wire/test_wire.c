#include "formats/wire/wire.h"

#include "formats/base/crc32c.h"
#include "tests/suites.h"
#include "tests/support/random.h"

#include <string.h>

/* The frame header of doc/wire-protocol.md, "Frame header", byte for byte. */
static void test_header_bytes(void)
{
    static const uint8_t expected[60] = {
        0xa5, 0x0d, 0xb7, 0x5a, 0x01, 0x03, 0x02, 0x01, 0xef, 0xbe, 0xad, 0xde, 0x07, 0x00, 0x00,
        0x00, 0x18, 0x17, 0x16, 0x15, 0x14, 0x13, 0x12, 0x11, 0x28, 0x27, 0x26, 0x25, 0x24, 0x23,
        0x22, 0x21, 0x38, 0x37, 0x36, 0x35, 0x34, 0x33, 0x32, 0x31, 0x48, 0x47, 0x46, 0x45, 0x44,
        0x43, 0x42, 0x41, 0x58, 0x57, 0x56, 0x55, 0x54, 0x53, 0x52, 0x51, 0x54, 0x01, 0xf0, 0x0f};
    const struct wire_frame frame = {.version = 1,
                                     .kind = WIRE_PACKED,
                                     .flags = 0x0102,
                                     .session = 0xdeadbeef,
                                     .sequence = 7,
                                     .first_tick = 0x1112131415161718u,
                                     .first_index = 0x2122232425262728u,
                                     .lost = 0x3132333435363738u,
                                     .lost_first_tick = 0x4142434445464748u,
                                     .lost_last_tick = 0x5152535455565758u,
                                     .count = 340,
                                     .payload_bytes = 4080};
    uint8_t header[WIRE_FRAME_HEADER];
    wire_frame_put_header(header, &frame);
    CU_ASSERT_EQUAL(memcmp(header, expected, sizeof expected), 0);
    CU_ASSERT_EQUAL(bytes_get32(header + 60), crc32c_portable(0, header, 60));
    struct wire_frame back;
    CU_ASSERT_EQUAL(wire_frame_get_header(&back, header), 0);
    CU_ASSERT_EQUAL(back.session, 0xdeadbeef);
    CU_ASSERT_EQUAL(back.lost_last_tick, 0x5152535455565758u);
    uint8_t again[WIRE_FRAME_HEADER];
    wire_frame_put_header(again, &back);
    CU_ASSERT_EQUAL(memcmp(header, again, sizeof header), 0);
}

static void test_header_damage(void)
{
    const struct wire_frame frame = {.version = 1, .kind = WIRE_RECORDS, .session = 5};
    uint8_t header[WIRE_FRAME_HEADER];
    wire_frame_put_header(header, &frame);
    struct wire_frame back;
    for (unsigned bit = 0; bit < 8 * WIRE_FRAME_HEADER; bit++) {
        header[bit / 8] ^= (uint8_t)(1u << bit % 8);
        CU_ASSERT_EQUAL(wire_frame_get_header(&back, header), -1);
        header[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    struct wire_frame limit = {.payload_bytes = WIRE_PAYLOAD_MAX, .count = WIRE_FRAME_RECORDS_MAX};
    wire_frame_put_header(header, &limit);
    CU_ASSERT_EQUAL(wire_frame_get_header(&back, header), 0);
    limit.payload_bytes++;
    wire_frame_put_header(header, &limit);
    CU_ASSERT_EQUAL(wire_frame_get_header(&back, header), -1);
    limit.payload_bytes--;
    limit.count++;
    wire_frame_put_header(header, &limit);
    CU_ASSERT_EQUAL(wire_frame_get_header(&back, header), -1);
}

/* The arm command of doc/wire-protocol.md, "Commands". */
static void test_command_bytes(void)
{
    static const uint8_t expected[] = {0xa5, 0x0d, 0xc7, 0x3c, 0x01, 0x03, 0x04, 0x00,
                                       0x78, 0x56, 0x34, 0x12, 0x2e, 0x5d, 0xe8, 0x35,
                                       0xef, 0xbe, 0xad, 0xde, 0xd3, 0x56, 0xfe, 0x41};
    static const uint8_t body[4] = {0xef, 0xbe, 0xad, 0xde};
    const struct wire_command command = {
        .version = 1, .code = WIRE_ARM, .tag = 0x12345678, .body = body, .body_bytes = 4};
    uint8_t out[WIRE_COMMAND_MAX];
    CU_ASSERT_EQUAL(wire_command_put(out, &command), sizeof expected);
    CU_ASSERT_EQUAL(memcmp(out, expected, sizeof expected), 0);
    struct wire_command back;
    for (size_t size = 0; size < sizeof expected; size++)
        CU_ASSERT_EQUAL(wire_command_get(&back, out, size), 0);
    CU_ASSERT_EQUAL(wire_command_get(&back, out, sizeof expected), sizeof expected);
    CU_ASSERT_EQUAL(back.tag, 0x12345678);
    CU_ASSERT_EQUAL(back.code, WIRE_ARM);
    CU_ASSERT_EQUAL(back.body_bytes, 4);
    CU_ASSERT_EQUAL(memcmp(back.body, body, 4), 0);
    for (unsigned bit = 0; bit < 8 * sizeof expected; bit++) {
        out[bit / 8] ^= (uint8_t)(1u << bit % 8);
        CU_ASSERT_EQUAL(wire_command_get(&back, out, sizeof expected), -1);
        out[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
}

static void test_commands_of_every_size(void)
{
    uint8_t body[WIRE_COMMAND_BODY_MAX];
    uint64_t random = random_seed(1);
    random_fill(&random, body, sizeof body);
    for (uint16_t size = 0; size <= WIRE_COMMAND_BODY_MAX; size++) {
        struct wire_command command = {.code = 9, .body = size ? body : NULL, .body_bytes = size};
        uint8_t out[WIRE_COMMAND_MAX];
        size_t whole = wire_command_put(out, &command);
        CU_ASSERT(whole <= WIRE_COMMAND_MAX);
        struct wire_command back;
        CU_ASSERT_EQUAL(wire_command_get(&back, out, whole - 1), 0);
        CU_ASSERT_EQUAL(wire_command_get(&back, out, whole), (int)whole);
        CU_ASSERT_EQUAL(memcmp(back.body, body, size), 0);
    }
    /* a body longer than allowed is invalid even with a correct CRC */
    uint8_t out[WIRE_COMMAND_HEADER] = {0};
    bytes_put32(out, WIRE_COMMAND_SYNC);
    bytes_put16(out + 6, WIRE_COMMAND_BODY_MAX + 1);
    bytes_put32(out + 12, crc32c(0, out, 12));
    struct wire_command back;
    CU_ASSERT_EQUAL(wire_command_get(&back, out, sizeof out), -1);
}

static void test_reply(void)
{
    uint8_t payload[WIRE_REPLY_HEADER + 3] = {0};
    const struct wire_reply reply = {
        .tag = 0xa1b2c3d4, .code = WIRE_STOP, .status = WIRE_BAD_STATE};
    wire_reply_put_header(payload, &reply);
    struct wire_reply back;
    CU_ASSERT_EQUAL(wire_reply_get(&back, payload, sizeof payload), 0);
    CU_ASSERT_EQUAL(back.tag, 0xa1b2c3d4);
    CU_ASSERT_EQUAL(back.code, WIRE_STOP);
    CU_ASSERT_EQUAL(back.status, WIRE_BAD_STATE);
    CU_ASSERT_EQUAL(back.body_bytes, 3);
    CU_ASSERT_EQUAL(wire_reply_get(&back, payload, WIRE_REPLY_HEADER - 1), -1);
}

static void test_identity(void)
{
    struct wire_identity identity = {.protocol = 1,
                                     .bus = 1,
                                     .queue_frames = 512,
                                     .payload_max = 4080,
                                     .features = WIRE_FEATURE_STALL,
                                     .firmware = 0x00010002,
                                     .clock_hz = 66666666,
                                     .name = "bustap board",
                                     .serial = "BT0001"};
    uint8_t bytes[WIRE_IDENTITY_BYTES];
    wire_identity_put(bytes, &identity);
    CU_ASSERT_EQUAL(bytes[2], 0x00);
    CU_ASSERT_EQUAL(bytes[3], 0x02);
    CU_ASSERT_EQUAL(bytes[6], 0x01);
    CU_ASSERT_EQUAL(bytes[7], 0x00);
    CU_ASSERT_EQUAL(memcmp(bytes + 24, "bustap board", 13), 0);
    CU_ASSERT_EQUAL(memcmp(bytes + 56, "BT0001", 7), 0);
    struct wire_identity back;
    CU_ASSERT_EQUAL(wire_identity_get(&back, bytes, sizeof bytes), 0);
    CU_ASSERT_EQUAL(back.clock_hz, 66666666);
    CU_ASSERT_EQUAL(back.payload_max, 4080);
    CU_ASSERT_EQUAL(back.features, WIRE_FEATURE_STALL);
    CU_ASSERT_EQUAL(back.firmware, 0x00010002);
    CU_ASSERT_STRING_EQUAL(back.name, "bustap board");
    CU_ASSERT_EQUAL(wire_identity_get(&back, bytes, sizeof bytes - 1), -1);
    /* a name may consist of any octets, without a terminator */
    memset(bytes + 24, 0x1b, 64);
    bytes[25] = 0xc3;
    CU_ASSERT_EQUAL(wire_identity_get(&back, bytes, sizeof bytes), 0);
    CU_ASSERT_STRING_EQUAL(back.name, "???????????????????????????????");
    CU_ASSERT_EQUAL(strlen(back.serial), 31);
    /* a name that fills its field without a terminator is truncated */
    memset(identity.name, 'n', sizeof identity.name);
    wire_identity_put(bytes, &identity);
    CU_ASSERT_EQUAL(bytes[24 + 31], 0);
    CU_ASSERT_EQUAL(bytes[56], 'B');
}

static void test_configuration(void)
{
    struct wire_configuration configuration = {
        .filter = filter_all(), .packing = WIRE_DELTA, .flush_us = 20000, .heartbeat_ms = 250};
    configuration.filter.processors = 0x0b;
    configuration.filter.outside = true;
    configuration.filter.range_count = 2;
    configuration.filter.ranges[0] = (struct filter_range){.low = 0x1000, .high = 0x1fff};
    configuration.filter.ranges[1] = (struct filter_range){.low = 0xfee00000, .high = 0xffffffff};
    uint8_t bytes[WIRE_CONFIGURATION_BYTES];
    wire_configuration_put(bytes, &configuration);
    CU_ASSERT_EQUAL(bytes_get32(bytes), 0x1ffff);
    CU_ASSERT_EQUAL(bytes[4], 0x0b);
    CU_ASSERT_EQUAL(bytes[5], 2);
    CU_ASSERT_EQUAL(bytes[6], 1);
    CU_ASSERT_EQUAL(bytes_get32(bytes + 12), 0x1fff);
    CU_ASSERT_EQUAL(bytes_get32(bytes + 16), 0xfee00000);
    CU_ASSERT_EQUAL(bytes[80], WIRE_DELTA);
    CU_ASSERT_EQUAL(bytes[81], 0);
    CU_ASSERT_EQUAL(bytes_get32(bytes + 84), 20000);
    CU_ASSERT_EQUAL(bytes_get32(bytes + 88), 250);
    struct wire_configuration back;
    CU_ASSERT_EQUAL(wire_configuration_get(&back, bytes, sizeof bytes), 0);
    CU_ASSERT_EQUAL(back.filter.ranges[1].high, 0xffffffff);
    CU_ASSERT_EQUAL(back.filter.types, configuration.filter.types);
    CU_ASSERT_TRUE(back.filter.outside);
    CU_ASSERT_EQUAL(back.flush_us, 20000);
    CU_ASSERT_FALSE(back.stall);
    configuration.stall = true;
    wire_configuration_put(bytes, &configuration);
    CU_ASSERT_EQUAL(bytes[81], 1);
    CU_ASSERT_EQUAL(wire_configuration_get(&back, bytes, sizeof bytes), 0);
    CU_ASSERT_TRUE(back.stall);
    CU_ASSERT_EQUAL(wire_configuration_get(&back, bytes, sizeof bytes - 1), -1);
    CU_ASSERT_EQUAL(wire_configuration_get(&back, bytes, sizeof bytes + 1), -1);
}

/* A value out of range, or a reserved byte other than 0, is refused: a board must not record
 * differently from its configuration. */
static void test_configuration_strict(void)
{
    static const uint8_t wrong[][2] = {{2, 0x02}, {3, 0x80}, {5, 9},  {6, 2},  {7, 1}, {72, 1},
                                       {79, 1},   {80, 2},   {81, 2}, {82, 1}, {95, 1}};
    struct wire_configuration configuration = {.filter = filter_all()};
    struct wire_configuration back;
    uint8_t bytes[WIRE_CONFIGURATION_BYTES];
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        wire_configuration_put(bytes, &configuration);
        CU_ASSERT_EQUAL(wire_configuration_get(&back, bytes, sizeof bytes), 0);
        bytes[wrong[i][0]] |= wrong[i][1];
        CU_ASSERT_EQUAL(wire_configuration_get(&back, bytes, sizeof bytes), -1);
    }
    configuration.filter.range_count = 1;
    configuration.filter.ranges[0] = (struct filter_range){.low = 2, .high = 1};
    wire_configuration_put(bytes, &configuration);
    CU_ASSERT_EQUAL(wire_configuration_get(&back, bytes, sizeof bytes), -1);
}

static void test_counters(void)
{
    uint8_t in[WIRE_COUNTERS_BYTES];
    uint8_t out[WIRE_COUNTERS_BYTES];
    uint64_t random = random_seed(3);
    random_fill(&random, in, sizeof in);
    struct wire_counters counters;
    CU_ASSERT_EQUAL(wire_counters_get(&counters, in, sizeof in), 0);
    CU_ASSERT_EQUAL(counters.tick, bytes_get64(in));
    CU_ASSERT_EQUAL(counters.lost, bytes_get64(in + 48));
    CU_ASSERT_EQUAL(counters.state, bytes_get32(in + 72));
    CU_ASSERT_EQUAL(counters.session, bytes_get32(in + 76));
    CU_ASSERT_EQUAL(counters.stalled, bytes_get64(in + 80));
    CU_ASSERT_EQUAL(counters.stalls, bytes_get64(in + 88));
    wire_counters_put(out, &counters);
    CU_ASSERT_EQUAL(memcmp(in, out, sizeof in), 0);
    /* a board that cannot stall its bus sends fewer */
    for (size_t size = WIRE_COUNTERS_BYTES_LEAST; size < sizeof in; size++) {
        CU_ASSERT_EQUAL(wire_counters_get(&counters, in, size), 0);
        CU_ASSERT_EQUAL(counters.session, bytes_get32(in + 76));
        CU_ASSERT(counters.stalled == 0 && counters.stalls == 0);
    }
    CU_ASSERT_EQUAL(wire_counters_get(&counters, in, WIRE_COUNTERS_BYTES_LEAST - 1), -1);
}

static void test_pattern(void)
{
    uint8_t whole[67];
    uint8_t part[67];
    wire_pattern_fill(whole, sizeof whole, 5);
    CU_ASSERT_EQUAL(bytes_get64(whole), 5 * 0x9e3779b97f4a7c15u);
    CU_ASSERT_EQUAL(bytes_get64(whole + 56), 12 * 0x9e3779b97f4a7c15u);
    for (size_t size = 0; size <= sizeof part; size++) {
        memset(part, 0xee, sizeof part);
        wire_pattern_fill(part, size, 5);
        CU_ASSERT_EQUAL(memcmp(part, whole, size), 0);
        CU_ASSERT(size == sizeof part || part[size] == 0xee);
    }
}

static const struct test_case cases[] = {{"frame header bytes", test_header_bytes},
                                         {"frame header damage", test_header_damage},
                                         {"command bytes", test_command_bytes},
                                         {"commands of every size", test_commands_of_every_size},
                                         {"reply", test_reply},
                                         {"identity", test_identity},
                                         {"configuration", test_configuration},
                                         {"configuration is strict", test_configuration_strict},
                                         {"counters", test_counters},
                                         {"pattern", test_pattern},
                                         {NULL, NULL}};
TEST_SUITE(wire, cases)
