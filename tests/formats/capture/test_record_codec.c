/* Every engine, in a hurry and not: its records come back, within the bound, with their check. */
#include "formats/capture/record_codec.h"
#include "tests/suites.h"
#include "tests/support/random.h"
#include "tests/support/records.h"

#include <stdlib.h>
#include <string.h>

#define RECORDS_MAX 5000u

static void check(struct record_encoder *encoder, struct record_decoder *decoder,
                  const struct record *records, size_t count)
{
    const size_t bound = record_encode_bound(count);
    uint8_t *out = malloc(bound);
    struct record *back = malloc(count * sizeof *back);
    struct record_content content;
    uint32_t found = 0;
    CU_ASSERT_EQUAL(record_encode(encoder, records, count, out, bound, &content, NULL), 0);
    CU_ASSERT(content.size > 2 && content.size <= bound);
    CU_ASSERT_EQUAL(
        record_decode(decoder, content.codec, out, content.size, back, count, &found, NULL), 0);
    CU_ASSERT_EQUAL(found, content.check);
    CU_ASSERT_EQUAL(memcmp(back, records, count * sizeof *back), 0);
    CU_ASSERT_EQUAL(record_encode(encoder, records, count, out, bound - 1, &content, NULL),
                    BT_USAGE);
    free(out);
    free(back);
}

static void test_engines(void)
{
    static struct record records[RECORDS_MAX];
    struct record_decoder *decoder = record_decoder_new(NULL);
    uint64_t random = random_seed(71);
    for (int i = 0; i < RECORD_ENGINES; i++) {
        const enum record_engine engine = (enum record_engine)i;
        if (!record_engine_exists(engine))
            continue;
        struct record_encoder *encoder = record_encoder_new(engine, -1, NULL);
        CU_ASSERT_PTR_NOT_NULL_FATAL(encoder);
        CU_ASSERT_EQUAL(record_encoder_version(encoder), record_engine_version(engine));
        for (unsigned round = 0; round < 60; round++) {
            const size_t count = 1 + (size_t)random_below(&random, round % 6 ? 50 : RECORDS_MAX);
            if (round % 2)
                records_fill_like_a_bus(records, count, &random);
            else
                records_fill_random(records, count, &random);
            record_encoder_hurry(encoder, round % 3 == 0);
            check(encoder, decoder, records, count);
        }
        record_encoder_free(encoder);
    }
    record_decoder_free(decoder);
}

/* A level that an engine has makes an encoder, any other one the same message without one. */
static void test_levels(void)
{
    for (int i = 0; i < RECORD_ENGINES; i++) {
        const enum record_engine engine = (enum record_engine)i;
        if (!record_engine_exists(engine))
            continue;
        for (int level = -2; level <= 14; level++) {
            struct bt_error checked = {0}, made = {0};
            const int result = record_engine_check_level(engine, level, &checked);
            struct record_encoder *encoder = record_encoder_new(engine, level, &made);
            CU_ASSERT_EQUAL(result, encoder ? 0 : BT_USAGE);
            CU_ASSERT_EQUAL(checked.code, made.code);
            CU_ASSERT_STRING_EQUAL(checked.message, made.message);
            CU_ASSERT(encoder || level != -1);
            record_encoder_free(encoder);
        }
    }
    struct bt_error error;
    CU_ASSERT_EQUAL(record_engine_check_level(RECORD_ENGINE_COLUMNS, 8, &error), BT_USAGE);
    CU_ASSERT_STRING_EQUAL(error.message, "columns have levels 0 (store) to 7, not 8");
    CU_ASSERT_EQUAL(record_engine_check_level(RECORD_ENGINE_BLOCKS, 1, &error), BT_USAGE);
    CU_ASSERT_STRING_EQUAL(error.message, "engine blocks has no levels: leave --level out");
    CU_ASSERT_EQUAL(record_engine_check_level(RECORD_ENGINE_ZLIB, 10, &error), BT_USAGE);
    CU_ASSERT_STRING_EQUAL(error.message, "zlib has levels 1 to 9, not 10");
    CU_ASSERT_EQUAL(record_engine_check_level(RECORD_ENGINE_LIBDEFLATE, 13, &error), BT_USAGE);
    CU_ASSERT_STRING_EQUAL(error.message, "libdeflate has levels 1 to 12, not 13");
    CU_ASSERT_EQUAL(record_engine_check_level(RECORD_ENGINE_PROGRAMS, 1, &error), BT_USAGE);
    CU_ASSERT_STRING_EQUAL(error.message, "this engine has only level 0 (store)");
}

/* Engines that gzip programs read, and the others. */
static void test_versions(void)
{
    for (int i = 0; i < RECORD_ENGINES; i++) {
        const enum record_engine engine = (enum record_engine)i;
        const char *name = record_engine_name(engine);
        const bool coded = strcmp(name, "columns") == 0 || strcmp(name, "blocks") == 0;
        CU_ASSERT_EQUAL(record_engine_version(engine),
                        coded ? CAPTURE_VERSION_CODED : CAPTURE_VERSION_GZIP);
        CU_ASSERT(record_encoder_memory(engine, -1, 1000) >= 1u << 20);
    }
    CU_ASSERT(record_encoder_memory(RECORD_ENGINE_COLUMNS, 1, 1u << 20) > 18u << 20);
}

static const struct test_case cases[] = {{"records of every engine come back", test_engines},
                                         {"levels, with and without an encoder", test_levels},
                                         {"versions", test_versions},
                                         {NULL, NULL}};
TEST_SUITE(record_codec, cases)
