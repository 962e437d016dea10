/* Records as columns: whatever the records, they come back; damage is refused or gives other
 * records, and never more. */
#include "formats/columns/column_backend.h"
#include "formats/columns/column_codec.h"
#include "tests/suites.h"
#include "tests/support/random.h"
#include "tests/support/records.h"

#include <stdlib.h>
#include <string.h>

#define RECORDS_MAX 30000u
#define SHAPES      8u

/* Records of a certain shape. */
static void fill(struct record *records, size_t count, unsigned shape, uint64_t *random)
{
    if (shape < 2)
        records_fill_like_a_bus(records, count, random);
    else
        records_fill_random(records, count, random);
    for (size_t i = 0; i < count && shape >= 2; i++) {
        struct record *record = &records[i];
        switch (shape) {
        case 2: /* sequential fetches of many sizes */
            record->type = REQUEST_FETCH;
            record->size = (uint8_t)(1 + record->size % 15);
            record->address = i > 0 ? records[i - 1].address + records[i - 1].size : 0xfffffff0;
            break;
        case 3: /* equal records */
            *record = records[0];
            break;
        case 4: /* few pages, few kinds, saturated times */
            record->address &= 0x3fff;
            record->size = 8;
            record->attribute = record->processor = 0;
            record->time = random_one_in(random, 3) ? UINT32_MAX : record->time & 0x1ff;
            break;
        case 5: /* more kinds than have a number */
            record->processor = (uint8_t)i;
            record->type = (uint8_t)random_below(random, 4);
            record->address = (uint32_t)i * 64;
            break;
        case 6: /* steps at the edge of what a token holds */
            record->type = 0;
            record->processor = 0;
            record->size = 0;
            record->address =
                (i > 0 ? records[i - 1].address : 0) + (uint32_t)random_below(random, 520) - 260;
            record->time = 253 + (uint32_t)random_below(random, 4);
            break;
        default: /* nothing repeats */
            break;
        }
    }
}

/* Compresses into a room of exactly the bound, and checks what comes back. Returns the size. */
static size_t check(struct column_encoder *encoder, struct column_decoder *decoder,
                    const struct record *records, size_t count, bool store)
{
    const size_t bound = column_encode_bound(count);
    struct record *copy = malloc((count + 1) * sizeof *copy); /* separate, for the sanitizer */
    uint8_t *out = malloc(bound);
    size_t size = 0;
    memcpy(copy, records, count * sizeof *copy);
    CU_ASSERT_EQUAL(column_encode(encoder, copy, count, store, out, &size, NULL), 0);
    CU_ASSERT(size > 0 && size <= bound);
    uint8_t *exact = malloc(size);
    memcpy(exact, out, size);
    memset(copy, 0xa5, count * sizeof *copy);
    CU_ASSERT_EQUAL(column_decode(decoder, exact, size, copy, count, NULL), 0);
    CU_ASSERT_EQUAL(memcmp(copy, records, count * sizeof *copy), 0);
    CU_ASSERT_EQUAL(column_decode(decoder, exact, size, copy, count + 1, NULL), BT_DATA);
    free(exact);
    free(out);
    free(copy);
    return size;
}

static void test_every_shape_comes_back(void)
{
    struct record *records = malloc((RECORDS_MAX + 1) * sizeof *records);
    struct column_decoder *decoder = column_decoder_new(NULL);
    uint64_t random = random_seed(61);
    for (int level = -1; level <= COLUMN_LEVELS; level++) {
        struct column_encoder *encoder = column_encoder_new(level, NULL);
        for (unsigned i = 0; i < 40 * SHAPES; i++) {
            const size_t most = i % 40 == 0 ? RECORDS_MAX : 400;
            const size_t count = 1 + (size_t)random_below(&random, most);
            fill(records, count, i % SHAPES, &random);
            check(encoder, decoder, records, count, random_one_in(&random, 9));
        }
        column_encoder_free(encoder);
    }
    column_decoder_free(decoder);
    free(records);
}

/* The result does not depend on what the encoder has done before. */
static void test_no_memory_of_other_blocks(void)
{
    struct record *records = malloc(RECORDS_MAX * sizeof *records);
    const size_t bound = column_encode_bound(RECORDS_MAX);
    uint8_t *first = malloc(bound), *second = malloc(bound);
    uint64_t random = random_seed(62);
    struct column_encoder *used = column_encoder_new(-1, NULL);
    for (unsigned i = 0; i < 4 * SHAPES; i++) {
        struct column_encoder *fresh = column_encoder_new(-1, NULL);
        const size_t count = 1 + (size_t)random_below(&random, RECORDS_MAX);
        size_t first_size, second_size;
        fill(records, count, i % SHAPES, &random);
        CU_ASSERT_EQUAL(column_encode(used, records, count, false, first, &first_size, NULL), 0);
        CU_ASSERT_EQUAL(column_encode(fresh, records, count, false, second, &second_size, NULL), 0);
        CU_ASSERT_EQUAL_FATAL(first_size, second_size);
        CU_ASSERT_EQUAL(memcmp(first, second, first_size), 0);
        column_encoder_free(fresh);
    }
    column_encoder_free(used);
    free(first);
    free(second);
    free(records);
}

/* Flipped bits, cut and lengthened content: refused, or count records of something else. */
static void test_damage(void)
{
    enum { COUNT = 300 };
    struct record records[COUNT], *back = malloc(sizeof records);
    const size_t bound = column_encode_bound(COUNT);
    uint8_t *out = malloc(bound);
    struct column_encoder *encoder = column_encoder_new(-1, NULL);
    struct column_decoder *decoder = column_decoder_new(NULL);
    uint64_t random = random_seed(63);
    for (unsigned shape = 0; shape < SHAPES; shape++) {
        size_t size;
        fill(records, COUNT, shape, &random);
        CU_ASSERT_EQUAL(column_encode(encoder, records, COUNT, false, out, &size, NULL), 0);
        for (size_t bit = 0; bit < size * 8; bit += 1 + (size_t)random_below(&random, 9)) {
            uint8_t *damaged = malloc(size);
            memcpy(damaged, out, size);
            damaged[bit / 8] ^= (uint8_t)(1u << bit % 8);
            const int result = column_decode(decoder, damaged, size, back, COUNT, NULL);
            CU_ASSERT(result == 0 || result == BT_DATA || result == BT_NEWER);
            free(damaged);
        }
        for (size_t cut = 0; cut < size; cut++) {
            uint8_t *rest = malloc(cut + 1);
            memcpy(rest, out, cut);
            CU_ASSERT_EQUAL(column_decode(decoder, rest, cut, back, COUNT, NULL), BT_DATA);
            free(rest);
        }
    }
    column_encoder_free(encoder);
    column_decoder_free(decoder);
    free(out);
    free(back);
}

/* Columns find what each shape has in common; random records hardly grow. Percent of the records.
 */
static void test_sizes(void)
{
    struct record *records = malloc(RECORDS_MAX * sizeof *records);
    struct column_decoder *decoder = column_decoder_new(NULL);
    struct column_encoder *encoder = column_encoder_new(-1, NULL);
    static const size_t percent[SHAPES] = {15, 15, 65, 1, 40, 80, 30, 101};
    uint64_t random = random_seed(64);
    for (unsigned shape = 0; shape < SHAPES; shape++) {
        fill(records, RECORDS_MAX, shape, &random);
        const size_t size = check(encoder, decoder, records, RECORDS_MAX, false);
        CU_ASSERT(size * 100 < RECORDS_MAX * RECORD_BYTES * percent[shape]);
    }
    column_encoder_free(encoder);
    column_decoder_free(decoder);
    free(records);
}

/* An archive is never larger than a live capture, and its reader need not know which way it took.
 */
static void test_archives_are_smallest(void)
{
    struct record *records = malloc(RECORDS_MAX * sizeof *records);
    struct column_decoder *decoder = column_decoder_new(NULL);
    struct column_encoder *live = column_encoder_new(COLUMN_LEVELS, NULL);
    struct column_encoder *archive = column_encoder_new(COLUMN_LEVEL_NIBBLES, NULL);
    uint64_t random = random_seed(65);
    for (unsigned shape = 0; shape < SHAPES; shape++) {
        fill(records, RECORDS_MAX, shape, &random);
        /* a long part without a structure that repeats: the model forgets it, a search does not */
        if (shape == SHAPES - 1)
            for (size_t i = 8000; i < RECORDS_MAX; i++)
                records[i] = records[i - 8000];
        const size_t size = check(archive, decoder, records, RECORDS_MAX, false);
        CU_ASSERT(size <= check(live, decoder, records, RECORDS_MAX, false));
    }
    column_encoder_free(archive);
    column_encoder_free(live);
    column_decoder_free(decoder);
    free(records);
}

static void test_wrong_levels(void)
{
    struct bt_error error;
    CU_ASSERT_PTR_NULL(column_encoder_new(COLUMN_LEVEL_MOST + 1, &error));
    CU_ASSERT_EQUAL(error.code, BT_USAGE);
    CU_ASSERT_PTR_NULL(column_encoder_new(-2, &error));
    struct column_encoder *encoder = column_encoder_new(-1, &error);
    CU_ASSERT_EQUAL(column_encoder_level(encoder), COLUMN_LEVEL_DEFAULT);
    column_encoder_free(encoder);
}

/* Content of a later version asks for a newer bustap. */
static void test_version(void)
{
    const uint8_t in[] = {200, 1, 2};
    struct record record;
    struct bt_error error = {0};
    struct column_decoder *decoder = column_decoder_new(NULL);
    CU_ASSERT_EQUAL(column_decode(decoder, in, sizeof in, &record, 1, &error), BT_NEWER);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "version 200"));
    column_decoder_free(decoder);
}

static const struct test_case cases[] = {
    {"records of every shape come back", test_every_shape_comes_back},
    {"no memory of other blocks", test_no_memory_of_other_blocks},
    {"damage is refused", test_damage},
    {"sizes", test_sizes},
    {"archives are smallest", test_archives_are_smallest},
    {"levels that do not exist", test_wrong_levels},
    {"a version that is not known", test_version},
    {NULL, NULL}};
TEST_SUITE(column_codec, cases)
