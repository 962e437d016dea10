/* Members of a capture file: every field round trips, and all damage is detected. */
#include "formats/capture/capture_file.h"
#include "formats/deflate/deflate.h"
#include "tests/suites.h"
#include "tests/support/members.h"
#include "tests/support/random.h"
#include "tests/support/records.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

static const struct capture_info sample_info = {
    .id = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16},
    .clock_hz = 133000000,
    .board = "bt-p6 serial 0007",
    .bus = "p6",
    .filter = "type=FETCH",
    .started_ns = 1795000000123456789,
    .file_number = 7,
    .keep = 3,
    .file_started_ns = 1795000100123456789,
    .first_index = 1ull << 40,
    .may_stall = true};

static const struct capture_totals sample_totals = {.end = CAPTURE_END_LIMIT,
                                                    .final = true,
                                                    .file_records = 10,
                                                    .file_lost = {1, 2, 3, 4},
                                                    .capture_records = 100,
                                                    .capture_lost = {11, 12, 13, 14},
                                                    .end_index = 1234567890123,
                                                    .last_tick = 999,
                                                    .after_stop = 55,
                                                    .source = {.known = true,
                                                               .seen = 1,
                                                               .accepted = 2,
                                                               .filtered = 3,
                                                               .above_4gib = 4,
                                                               .undecoded = 5,
                                                               .lost_bus = 6},
                                                    .ended_ns = 1795000200123456789,
                                                    .message = "the disk was full"};

/* A data member of count records; *batch describes it and owns its records. */
static struct members make_data_member(struct batch *batch, size_t count, unsigned version,
                                       uint64_t *random)
{
    struct members member = {.version = version};
    struct record *records = malloc((count + 1) * sizeof *records);
    records_fill_like_a_bus(records, count, random);
    *batch = (struct batch){.records = records,
                            .count = count,
                            .capacity = count,
                            .first_index = 77,
                            .first_tick = 1000,
                            .last_tick = 5000,
                            .lost = {.count = {5, 6, 7, 8}, .first_tick = 900, .last_tick = 950},
                            .gap = {.milliseconds = 3200, .uncounted = true, .chosen = true},
                            .host_time_ns = -1};
    enum record_engine engine;
    do
        engine = (enum record_engine)random_below(random, RECORD_ENGINES);
    while (!record_engine_exists(engine) || record_engine_version(engine) > version);
    members_append_data(&member, engine, batch);
    return member;
}

/* Unpacks one member with zlib, as any gzip program does; returns the number of bytes, or -1. */
static long plain_gunzip(const uint8_t *member, size_t size, void *out, size_t capacity)
{
    z_stream stream = {0};
    if (inflateInit2(&stream, 31) != Z_OK)
        return -1;
    stream.next_in = (Bytef *)(uintptr_t)member;
    stream.avail_in = (uInt)size;
    stream.next_out = out;
    stream.avail_out = (uInt)capacity;
    int result = inflate(&stream, Z_FINISH);
    long total = result == Z_STREAM_END && stream.avail_in == 0 ? (long)stream.total_out : -1;
    inflateEnd(&stream);
    return total;
}

/* What other programs make of a member of this version: its size bytes, or an error. */
static void check_gunzip(const uint8_t *member, size_t member_size, unsigned version,
                         const void *wanted, size_t size)
{
    uint8_t *room = malloc(size + 1);
    const long got = plain_gunzip(member, member_size, room, size + 1);
    CU_ASSERT_EQUAL(got, version == CAPTURE_VERSION_GZIP ? (long)size : -1);
    CU_ASSERT(got < 0 || memcmp(room, wanted, size) == 0);
    free(room);
}

static void check_header_round_trip(uint8_t version)
{
    uint8_t bytes[CAPTURE_MEMBER_HEADER_MAX];
    struct capture_member member;
    struct capture_info info = sample_info;
    info.version = version;
    size_t size = capture_put_header_member(bytes, &info);
    CU_ASSERT_EQUAL(capture_get_member(&member, bytes, size, NULL), 1);
    CU_ASSERT_EQUAL(member.version, version);
    CU_ASSERT_EQUAL(member.info.version, version);
    check_gunzip(bytes, size, version, "", 0);
}

static void test_header_round_trip(void)
{
    uint8_t bytes[CAPTURE_MEMBER_HEADER_MAX];
    struct capture_member member;
    check_header_round_trip(CAPTURE_VERSION_GZIP);
    check_header_round_trip(CAPTURE_VERSION_CODED);
    size_t size = capture_put_header_member(bytes, &sample_info);
    CU_ASSERT_EQUAL(capture_get_member(&member, bytes, size, NULL), 1);
    CU_ASSERT_EQUAL(member.kind, CAPTURE_MEMBER_HEADER);
    CU_ASSERT_EQUAL(member.member_bytes, size);
    CU_ASSERT_EQUAL(memcmp(member.info.id, sample_info.id, sizeof sample_info.id), 0);
    CU_ASSERT_EQUAL(member.info.clock_hz, sample_info.clock_hz);
    CU_ASSERT_STRING_EQUAL(member.info.board, sample_info.board);
    CU_ASSERT_STRING_EQUAL(member.info.bus, sample_info.bus);
    CU_ASSERT_STRING_EQUAL(member.info.filter, sample_info.filter);
    CU_ASSERT_EQUAL(member.info.started_ns, sample_info.started_ns);
    CU_ASSERT_EQUAL(member.info.file_number, sample_info.file_number);
    CU_ASSERT_EQUAL(member.info.keep, sample_info.keep);
    CU_ASSERT_TRUE(member.info.may_stall);
    CU_ASSERT_FALSE(member.info.derived);
    CU_ASSERT_EQUAL(member.info.file_started_ns, sample_info.file_started_ns);
    CU_ASSERT_EQUAL(member.info.first_index, sample_info.first_index);
}

static void check_closing_round_trip(unsigned version)
{
    uint8_t bytes[CAPTURE_MEMBER_HEADER_MAX];
    struct capture_member member;
    size_t size = capture_put_closing_member(bytes, &sample_totals, version);
    CU_ASSERT_EQUAL(capture_get_member(&member, bytes, size, NULL), 1);
    CU_ASSERT_EQUAL(member.kind, CAPTURE_MEMBER_CLOSING);
    const struct capture_totals *t = &member.totals;
    CU_ASSERT_EQUAL(t->end, CAPTURE_END_LIMIT);
    CU_ASSERT_TRUE(t->final);
    CU_ASSERT_EQUAL(t->file_records, 10);
    CU_ASSERT_EQUAL(t->capture_records, 100);
    for (int stage = 0; stage < LOSS_STAGES; stage++) {
        CU_ASSERT_EQUAL(t->file_lost[stage], sample_totals.file_lost[stage]);
        CU_ASSERT_EQUAL(t->capture_lost[stage], sample_totals.capture_lost[stage]);
    }
    CU_ASSERT_EQUAL(t->end_index, sample_totals.end_index);
    CU_ASSERT_EQUAL(t->last_tick, 999);
    CU_ASSERT_EQUAL(t->after_stop, 55);
    CU_ASSERT_EQUAL(t->ended_ns, sample_totals.ended_ns);
    CU_ASSERT_TRUE(t->source.known);
    CU_ASSERT_EQUAL(t->source.seen, 1);
    CU_ASSERT_EQUAL(t->source.accepted, 2);
    CU_ASSERT_EQUAL(t->source.filtered, 3);
    CU_ASSERT_EQUAL(t->source.above_4gib, 4);
    CU_ASSERT_EQUAL(t->source.undecoded, 5);
    CU_ASSERT_EQUAL(t->source.lost_bus, 6);
    CU_ASSERT_STRING_EQUAL(t->message, sample_totals.message);
    CU_ASSERT_EQUAL(member.version, version);
    check_gunzip(bytes, size, version, "", 0);
}

static void test_closing_round_trip(void)
{
    check_closing_round_trip(CAPTURE_VERSION_GZIP);
    check_closing_round_trip(CAPTURE_VERSION_CODED);
}

/* A window shortens the message. */
static void test_window_round_trip(void)
{
    uint8_t bytes[CAPTURE_MEMBER_HEADER_MAX];
    struct capture_member member;
    struct capture_totals totals = sample_totals;
    totals.window = (struct capture_window){.kind = CAPTURE_WINDOW_MATCHES,
                                            .omitted = 1ull << 40,
                                            .matches = 3,
                                            .first_index = UINT64_MAX - 1,
                                            .first_tick = 5,
                                            .last_index = UINT64_MAX,
                                            .last_tick = 7};
    memset(totals.message, 'm', sizeof totals.message - 1);
    size_t size = capture_put_closing_member(bytes, &totals, CAPTURE_VERSION_GZIP);
    CU_ASSERT_EQUAL(capture_get_member(&member, bytes, size, NULL), 1);
    CU_ASSERT_EQUAL(member.totals.window.kind, CAPTURE_WINDOW_MATCHES);
    CU_ASSERT_EQUAL(member.totals.window.omitted, totals.window.omitted);
    CU_ASSERT_EQUAL(member.totals.window.matches, 3);
    CU_ASSERT_EQUAL(member.totals.window.first_index, UINT64_MAX - 1);
    CU_ASSERT_EQUAL(member.totals.window.first_tick, 5);
    CU_ASSERT_EQUAL(member.totals.window.last_index, UINT64_MAX);
    CU_ASSERT_EQUAL(member.totals.window.last_tick, 7);
    CU_ASSERT_EQUAL(strspn(member.totals.message, "m"), 111);
    CU_ASSERT_EQUAL(strlen(member.totals.message), 111);
    totals.window.kind = CAPTURE_WINDOW_NONE;
    size = capture_put_closing_member(bytes, &totals, CAPTURE_VERSION_GZIP);
    CU_ASSERT_EQUAL(capture_get_member(&member, bytes, size, NULL), 1);
    CU_ASSERT_EQUAL(member.totals.window.kind, CAPTURE_WINDOW_NONE);
    CU_ASSERT_EQUAL(member.totals.window.omitted, 0);
    CU_ASSERT_EQUAL(strlen(member.totals.message), 159);
}

static void check_data_round_trip(size_t count, unsigned version, uint64_t *random)
{
    struct record_decoder *decoder = record_decoder_new(NULL);
    struct batch batch;
    struct capture_member member;
    size_t raw = count * RECORD_BYTES;
    struct members bytes = make_data_member(&batch, count, version, random);
    struct record *records = malloc(raw + 1);
    CU_ASSERT_EQUAL_FATAL(capture_get_member(&member, bytes.bytes, bytes.size, NULL), 1);
    CU_ASSERT_EQUAL(member.kind, CAPTURE_MEMBER_DATA);
    CU_ASSERT_EQUAL(member.version, version);
    CU_ASSERT_EQUAL(member.member_bytes, bytes.size);
    CU_ASSERT_EQUAL_FATAL(member.batch.count, count);
    CU_ASSERT_EQUAL(member.batch.first_index, 77);
    CU_ASSERT_EQUAL(member.batch.first_tick, 1000);
    CU_ASSERT_EQUAL(member.batch.last_tick, 5000);
    CU_ASSERT_EQUAL(memcmp(&member.batch.lost, &batch.lost, sizeof batch.lost), 0);
    CU_ASSERT_EQUAL(memcmp(&member.batch.gap, &batch.gap, sizeof batch.gap), 0);
    CU_ASSERT_EQUAL(member.batch.host_time_ns, -1);
    CU_ASSERT_EQUAL(capture_get_records(decoder, &member, bytes.bytes, records, NULL), 0);
    CU_ASSERT_EQUAL(memcmp(records, batch.records, raw), 0);
    check_gunzip(bytes.bytes, bytes.size, version, batch.records, raw);
    free(records);
    free(bytes.bytes);
    free(batch.records);
    record_decoder_free(decoder);
}

static void test_data_round_trip(void)
{
    uint64_t random = 1;
    static const size_t counts[] = {0, 1, 2, 3, 100, 4096, CAPTURE_BLOCK_RECORDS};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        for (unsigned version = 1; version <= CAPTURE_VERSION_CODED; version++)
            check_data_round_trip(counts[i], version, &random);
}

/* Position and loss of a member can be written again in both versions. */
static void test_restate(void)
{
    uint64_t random = 2;
    for (unsigned version = 1; version <= CAPTURE_VERSION_CODED; version++) {
        struct batch batch;
        struct capture_member member;
        struct record records[100];
        struct record_decoder *decoder = record_decoder_new(NULL);
        struct members bytes = make_data_member(&batch, 100, version, &random);
        CU_ASSERT_EQUAL_FATAL(capture_get_member(&member, bytes.bytes, bytes.size, NULL), 1);
        const uint8_t codec = member.codec;
        batch.first_index = 4711;
        batch.gap.milliseconds = 5;
        capture_restate_data_member(bytes.bytes, &batch);
        CU_ASSERT_EQUAL_FATAL(capture_get_member(&member, bytes.bytes, bytes.size, NULL), 1);
        CU_ASSERT_EQUAL(member.batch.first_index, 4711);
        CU_ASSERT_EQUAL(member.batch.gap.milliseconds, 5);
        CU_ASSERT_EQUAL(member.codec, codec);
        CU_ASSERT_EQUAL(capture_get_records(decoder, &member, bytes.bytes, records, NULL), 0);
        CU_ASSERT_EQUAL(memcmp(records, batch.records, sizeof records), 0);
        record_decoder_free(decoder);
        free(bytes.bytes);
        free(batch.records);
    }
}

/* A member whose codec is from the future is whole, but its records are not decoded. */
static void test_unknown_codec(void)
{
    uint64_t random = 3;
    struct batch batch;
    struct capture_member member;
    struct record records[10];
    struct bt_error error = {0};
    struct record_decoder *decoder = record_decoder_new(NULL);
    struct members bytes = make_data_member(&batch, 10, CAPTURE_VERSION_CODED, &random);
    bytes.bytes[16 + 96] = 200;
    capture_restate_data_member(bytes.bytes, &batch);
    CU_ASSERT_EQUAL_FATAL(capture_get_member(&member, bytes.bytes, bytes.size, NULL), 1);
    CU_ASSERT_EQUAL(member.codec, 200);
    CU_ASSERT_EQUAL(capture_get_records(decoder, &member, bytes.bytes, records, &error), BT_NEWER);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "method 200"));
    record_decoder_free(decoder);
    free(bytes.bytes);
    free(batch.records);
}

/* Method and version belong together, even if all CRCs are right. */
static void test_method_and_version(void)
{
    uint64_t random = 4;
    for (unsigned version = 1; version <= CAPTURE_VERSION_CODED; version++) {
        struct batch batch;
        struct capture_member member;
        struct members bytes = make_data_member(&batch, 10, version, &random);
        bytes.bytes[2] = version == CAPTURE_VERSION_CODED ? 8 : 0x42;
        capture_restate_data_member(bytes.bytes, &batch);
        CU_ASSERT_EQUAL(capture_get_member(&member, bytes.bytes, bytes.size, NULL), BT_DATA);
        free(bytes.bytes);
        free(batch.records);
    }
}

/* An uncounted gap of length 0, which no writer should produce, is still reported. */
static void test_uncounted_gap_without_length(void)
{
    const struct batch batch = {.first_index = 7, .gap = {.milliseconds = 0, .uncounted = true}};
    struct capture_member member;
    struct members bytes = {0};
    members_append_data(&bytes, RECORD_ENGINE_ZLIB, &batch);
    CU_ASSERT_EQUAL_FATAL(capture_get_member(&member, bytes.bytes, bytes.size, NULL), 1);
    CU_ASSERT(member.batch.gap.uncounted);
    CU_ASSERT_EQUAL(member.batch.gap.milliseconds, 1);
    CU_ASSERT(batch_has_loss_or_gap(&member.batch));
    free(bytes.bytes);
}

/* Whether a member is accepted, including its records. */
static bool accepted(struct record_decoder *decoder, const uint8_t *bytes, size_t size,
                     struct record *records, size_t capacity)
{
    struct capture_member member;
    if (capture_get_member(&member, bytes, size, NULL) != 1 || member.member_bytes > size)
        return false;
    if (member.kind == CAPTURE_MEMBER_DATA && member.batch.count > capacity)
        return false;
    return capture_get_records(decoder, &member, bytes, records, NULL) == 0;
}

static void check_every_flip(uint8_t *bytes, size_t size, size_t count)
{
    struct record_decoder *decoder = record_decoder_new(NULL);
    struct record *records = malloc((count + 1) * sizeof *records);
    unsigned unseen = 0;
    CU_ASSERT_TRUE(accepted(decoder, bytes, size, records, count));
    for (size_t bit = 0; bit < size * 8; bit++) {
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        unseen += accepted(decoder, bytes, size, records, count);
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    CU_ASSERT_EQUAL(unseen, 0);
    free(records);
    record_decoder_free(decoder);
}

static void test_every_flipped_bit_is_seen(void)
{
    uint64_t random = 9;
    uint8_t bytes[CAPTURE_MEMBER_HEADER_MAX];
    for (unsigned version = 1; version <= CAPTURE_VERSION_CODED; version++) {
        struct capture_info info = sample_info;
        info.version = (uint8_t)version;
        check_every_flip(bytes, capture_put_header_member(bytes, &info), 0);
        check_every_flip(bytes, capture_put_closing_member(bytes, &sample_totals, version), 0);
    }
    for (size_t count = 0; count < 60; count += 29) {
        struct batch batch;
        const unsigned version = 1 + (unsigned)random_below(&random, CAPTURE_VERSION_CODED);
        struct members member = make_data_member(&batch, count, version, &random);
        check_every_flip(member.bytes, member.size, count);
        free(member.bytes);
        free(batch.records);
    }
}

static void test_every_cut_asks_for_more(void)
{
    uint8_t bytes[CAPTURE_MEMBER_HEADER_MAX];
    struct capture_member member;
    size_t size = capture_put_header_member(bytes, &sample_info);
    for (size_t cut = 0; cut < size; cut++) {
        int result = capture_get_member(&member, bytes, cut, NULL);
        CU_ASSERT(result == 0 || (result == 1 && member.member_bytes == size));
    }
}

static void test_text_from_files_is_harmless(void)
{
    uint8_t bytes[CAPTURE_MEMBER_HEADER_MAX];
    struct capture_member member;
    struct capture_info info = sample_info;
    memset(info.board, 'x', sizeof info.board); /* not terminated */
    memcpy(info.filter, "a\x1b[31m", 7);
    size_t size = capture_put_header_member(bytes, &info);
    CU_ASSERT_EQUAL(capture_get_member(&member, bytes, size, NULL), 1);
    CU_ASSERT_EQUAL(strlen(member.info.board), sizeof info.board - 1);
    CU_ASSERT_STRING_EQUAL(member.info.filter, "a?[31m");
}

static void test_levels_and_engines(void)
{
    struct bt_error error;
    for (int level = -1; level <= 9; level++) {
        struct deflate_encoder *zlib = deflate_encoder_new(DEFLATE_ZLIB, level, &error);
        CU_ASSERT_EQUAL(zlib != NULL, level != 0);
        deflate_encoder_free(zlib);
        struct deflate_encoder *isal = deflate_encoder_new(DEFLATE_ISAL, level, &error);
        CU_ASSERT_EQUAL(isal != NULL, level <= 3 && deflate_has(DEFLATE_ISAL));
        if (!isal)
            CU_ASSERT_EQUAL(error.code, BT_USAGE);
        deflate_encoder_free(isal);
        struct deflate_encoder *libdeflate = deflate_encoder_new(DEFLATE_LIBDEFLATE, level, &error);
        CU_ASSERT_EQUAL(libdeflate != NULL, level != 0);
        deflate_encoder_free(libdeflate);
        struct deflate_encoder *records = deflate_encoder_new(DEFLATE_RECORDS, level, &error);
        CU_ASSERT_EQUAL(records != NULL, level <= 0);
        deflate_encoder_free(records);
        struct deflate_encoder *programs = deflate_encoder_new(DEFLATE_PROGRAMS, level, &error);
        CU_ASSERT_EQUAL(programs != NULL, level <= 0);
        deflate_encoder_free(programs);
    }
}

/* Stored blocks, by level or in a hurry, form a valid stream. */
static void test_stored(void)
{
    struct bt_error error;
    uint8_t in[200000], out[202000], back[sizeof in];
    uint64_t random = random_seed(5);
    random_fill(&random, in, sizeof in);
    for (int way = 0; way < 3; way++) {
        struct deflate_encoder *encoder =
            deflate_encoder_new(way == 2 ? DEFLATE_ZLIB : DEFLATE_BEST, way == 0 ? 0 : -1, &error);
        deflate_encoder_hurry(encoder, way > 0);
        for (size_t size = 0; size <= sizeof in; size += 65535 / 2) {
            size_t out_size;
            uint32_t crc, crc_back;
            struct deflate_decoder *decoder = deflate_decoder_new(&error);
            CU_ASSERT_EQUAL(
                deflate_encode(encoder, in, size, out, sizeof out, &out_size, &crc, &error), 0);
            CU_ASSERT(out_size > size && out_size <= size + 30);
            CU_ASSERT_EQUAL(deflate_decode(decoder, out, out_size, back, size, &crc_back, &error),
                            0);
            CU_ASSERT_EQUAL(crc, crc_back);
            CU_ASSERT(memcmp(in, back, size) == 0);
            deflate_decoder_free(decoder);
        }
        deflate_encoder_free(encoder);
    }
}

static const struct test_case cases[] = {
    {"header member round trip", test_header_round_trip},
    {"closing member round trip", test_closing_round_trip},
    {"closing member with a window", test_window_round_trip},
    {"data member round trip, by our reader and by zlib", test_data_round_trip},
    {"a member is restated", test_restate},
    {"a codec from the future", test_unknown_codec},
    {"method and version belong together", test_method_and_version},
    {"uncounted gap without length", test_uncounted_gap_without_length},
    {"every flipped bit is detected", test_every_flipped_bit_is_seen},
    {"every cut asks for more", test_every_cut_asks_for_more},
    {"text from files is harmless", test_text_from_files_is_harmless},
    {"compression levels and engines", test_levels_and_engines},
    {"stored blocks", test_stored},
    {NULL, NULL}};
TEST_SUITE(capture_file, cases)
