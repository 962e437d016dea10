#include "formats/columns/record_model.h"

#include "formats/base/crc32c.h"
#include "tests/suites.h"
#include "tests/support/random.h"
#include "tests/support/records.h"

#include <stdlib.h>
#include <string.h>

#define MOST 30000u

static const enum record_model_method methods[] = {RECORD_MODEL_NIBBLES, RECORD_MODEL_FEW,
                                                   RECORD_MODEL_MANY, RECORD_MODEL_STORED};

/* Encodes and decodes in memory of exactly the sizes needed, so that a sanitizer sees each access
 * beyond. Returns the size. */
static size_t check_round_trip(struct record_model *model, struct record_model *other,
                               enum record_model_method method, const struct record *records,
                               size_t count)
{
    const size_t bound = record_model_bound(count);
    uint8_t *out = malloc(bound);
    size_t size = 0;
    CU_ASSERT_EQUAL_FATAL(record_model_encode(model, method, records, count, out, &size, NULL), 0);
    CU_ASSERT_FATAL(size > 0 && size <= 1 + count * RECORD_BYTES);
    uint8_t *bytes = malloc(size);
    struct record *back = malloc(count * sizeof *back + 1);
    memcpy(bytes, out, size);
    memset(back, 0xa5, count * sizeof *back + 1);
    CU_ASSERT_EQUAL(record_model_decode(other, bytes, size, back, count, NULL), 0);
    CU_ASSERT_EQUAL(memcmp(back, records, count * sizeof *back), 0);
    free(back);
    free(bytes);
    free(out);
    return size;
}

/* A program: fetches in loops, data in sequences and at random places, kinds by the hundred. */
static void fill_like_a_program(struct record *records, size_t count, uint64_t *random)
{
    uint32_t code = random_next32(random);
    uint32_t data = random_next32(random);
    for (size_t i = 0; i < count; i++) {
        const bool fetch = !random_one_in(random, 3);
        const uint8_t size = (uint8_t)(1 + random_below(random, 15));
        const uint8_t processor = (uint8_t)random_below(random, 40);
        records[i] = (struct record){.type = fetch ? REQUEST_FETCH : REQUEST_MEMREAD,
                                     .size = size,
                                     .attribute = 3,
                                     .processor = processor,
                                     .time = fetch};
        if (random_one_in(random, 9))
            code = (code & 0xfffff000u) | (uint32_t)random_below(random, 64) * 16;
        records[i].address = fetch ? code += 4 : (data += 8);
        if (random_one_in(random, 50))
            records[i].address = random_next32(random);
        if (random_one_in(random, 30))
            records[i].time = random_next32(random);
        records[i].time >>= random_below(random, 32) * !fetch;
    }
}

static void fill(struct record *records, size_t count, unsigned shape, uint64_t *random)
{
    switch (shape) {
    case 0:
        records_fill_like_a_bus(records, count, random);
        break;
    case 1:
        records_fill_random(records, count, random);
        break;
    case 2:
        fill_like_a_program(records, count, random);
        break;
    case 3:
        memset(records, (int)random_below(random, 256), count * sizeof *records);
        break;
    default: /* any octets, in runs */
        for (size_t i = 0; i < count; i++)
            for (size_t octet = 0; octet < sizeof *records; octet++)
                ((uint8_t *)&records[i])[octet] = i > 0 && !random_one_in(random, 5)
                                                      ? ((uint8_t *)&records[i - 1])[octet]
                                                      : (uint8_t)random_next32(random);
    }
}
#define SHAPES 5u

/* One model decodes what another encodes, whatever both did before. */
static void test_round_trip(void)
{
    struct record_model *model = record_model_new(MOST);
    struct record_model *other = record_model_new(MOST);
    struct record *records = malloc(MOST * sizeof *records);
    CU_ASSERT_FATAL(model && other && records);
    uint64_t random = random_seed(19);
    for (unsigned i = 0; i < 60; i++) {
        const size_t most = i < SHAPES ? MOST : i % 4 == 0 ? 20 : 2000;
        const size_t count = i < SHAPES ? MOST : 1 + (size_t)random_below(&random, most);
        fill(records, count, i % SHAPES, &random);
        for (size_t method = 0; method < sizeof methods / sizeof *methods; method++)
            check_round_trip(model, other, methods[method], records, count);
    }
    free(records);
    record_model_free(other);
    record_model_free(model);
}

/* The result depends on the records alone. */
static void test_result_is_reproducible(void)
{
    struct record_model *model = record_model_new(MOST);
    uint64_t random = random_seed(20);
    struct record *records = malloc(2000 * sizeof *records);
    struct record *others = malloc(2000 * sizeof *others);
    const size_t bound = record_model_bound(2000);
    uint8_t *first = malloc(bound);
    uint8_t *second = malloc(bound);
    fill(records, 2000, 0, &random);
    fill(others, 2000, 2, &random);
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        size_t size, again;
        record_model_encode(model, methods[i], records, 2000, first, &size, NULL);
        record_model_encode(model, methods[i], others, 2000, second, &again, NULL);
        record_model_encode(model, methods[i], records, 2000, second, &again, NULL);
        CU_ASSERT_EQUAL_FATAL(size, again);
        CU_ASSERT_EQUAL(memcmp(first, second, size), 0);
    }
    free(second);
    free(first);
    free(others);
    free(records);
    record_model_free(model);
}

/* The coding is a file format: these bytes stay, on every processor. */
static void test_format_stays(void)
{
    enum { COUNT = 5000 };
    static const uint32_t wanted[] = {0x00ab8314, 0x586a9edb, 0xca29b293, 0x898080e2};
    struct record_model *model = record_model_new(COUNT);
    struct record *records = malloc(COUNT * sizeof *records);
    uint8_t *out = malloc(record_model_bound(COUNT));
    uint64_t random = random_seed(23);
    fill_like_a_program(records, COUNT, &random);
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        size_t size;
        record_model_encode(model, methods[i], records, COUNT, out, &size, NULL);
        CU_ASSERT_EQUAL(crc32c(0, out, size), wanted[i]);
    }
    free(out);
    free(records);
    record_model_free(model);
}

/* What repeats costs little, and mixing never much more than one context. */
static void test_sizes(void)
{
    struct record_model *model = record_model_new(MOST);
    struct record *records = malloc(MOST * sizeof *records);
    uint64_t random = random_seed(21);
    for (size_t i = 0; i < MOST; i++) /* a loop of 50 records over a growing array */
        records[i] = (struct record){.address = i % 5 ? (uint32_t)(0x400000 + i % 50 * 4)
                                                      : (uint32_t)(0x900000 + i * 8),
                                     .type = i % 5 ? REQUEST_FETCH : REQUEST_MEMREAD,
                                     .size = 4,
                                     .time = 1 + i % 3};
    size_t nibbles = check_round_trip(model, model, RECORD_MODEL_NIBBLES, records, MOST);
    size_t few = check_round_trip(model, model, RECORD_MODEL_FEW, records, MOST);
    size_t many = check_round_trip(model, model, RECORD_MODEL_MANY, records, MOST);
    CU_ASSERT(nibbles < MOST * RECORD_BYTES / 100);
    CU_ASSERT(few < MOST * RECORD_BYTES / 200);
    CU_ASSERT(many < MOST * RECORD_BYTES / 200);
    fill(records, MOST, 0, &random);
    nibbles = check_round_trip(model, model, RECORD_MODEL_NIBBLES, records, MOST);
    few = check_round_trip(model, model, RECORD_MODEL_FEW, records, MOST);
    many = check_round_trip(model, model, RECORD_MODEL_MANY, records, MOST);
    CU_ASSERT(nibbles < MOST * RECORD_BYTES / 2);
    CU_ASSERT(few < nibbles);
    CU_ASSERT(many < nibbles);
    fill(records, MOST, 1, &random); /* noise is stored, or nearly as large */
    CU_ASSERT(check_round_trip(model, model, RECORD_MODEL_NIBBLES, records, MOST) >
              MOST * RECORD_BYTES / 2);
    free(records);
    record_model_free(model);
}

/* Damaged bytes give BT_DATA or other records, in bounded time and within memory. */
static void test_damage(void)
{
    enum { COUNT = 300 };
    struct record_model *model = record_model_new(COUNT);
    struct record *records = malloc(COUNT * sizeof *records);
    struct record *back = malloc(COUNT * sizeof *back);
    uint8_t *out = malloc(record_model_bound(COUNT));
    uint64_t random = random_seed(22);
    unsigned seen = 0;
    for (unsigned i = 0; i < 600; i++) {
        size_t size;
        fill(records, COUNT, i % SHAPES, &random);
        record_model_encode(model, methods[i % 3], records, COUNT, out, &size, NULL);
        const size_t cut = i % 3 ? size : (size_t)random_below(&random, size);
        uint8_t *bytes = malloc(cut + 1);
        memcpy(bytes, out, cut);
        if (i % 3)
            bytes[random_below(&random, size)] ^= (uint8_t)(1u << random_below(&random, 8));
        struct bt_error error;
        const int status = record_model_decode(model, bytes, cut, back, COUNT, &error);
        CU_ASSERT(status == 0 || status == BT_DATA);
        CU_ASSERT(cut == size || status == BT_DATA);
        seen += status == BT_DATA;
        free(bytes);
    }
    CU_ASSERT(seen > 200);
    free(out);
    free(back);
    free(records);
    record_model_free(model);
}

/* The code of a few records does not become that of many: nothing is decoded after its end. */
static void test_work_ends_with_the_code(void)
{
    enum { COUNT = 100 };
    struct record_model *model = record_model_new(MOST);
    struct record *records = malloc(COUNT * sizeof *records);
    struct record *back = malloc(MOST * sizeof *back);
    uint8_t *out = malloc(record_model_bound(COUNT));
    uint64_t random = random_seed(24);
    for (unsigned i = 0; i < 60; i++) {
        size_t size, decoded = 0;
        fill(records, COUNT, i % 5 == 3 ? 2 : i % SHAPES, &random); /* no equal records */
        record_model_encode(model, methods[i % 3], records, COUNT, out, &size, NULL);
        if (out[0] == RECORD_MODEL_STORED)
            continue;
        size -= i % 2 ? random_below(&random, size / 2) : 0;
        memset(back, 0xa5, MOST * sizeof *back);
        CU_ASSERT_EQUAL(record_model_decode(model, out, size, back, MOST, NULL), BT_DATA);
        for (size_t k = 0; k < MOST; k++)
            decoded += back[k].type != 0xa5 || back[k].processor != 0xa5 || back[k].size != 0xa5;
        /* a record of the surest kind and time takes some bits at least, once models have learned
         */
        CU_ASSERT(decoded <= 20 * size);
    }
    free(out);
    free(back);
    free(records);
    record_model_free(model);
}

/* Words of kinds and times, and a few bytes of code, which would have to hold a million records. */
static void test_counts_beyond_the_code(void)
{
    struct record_model *model = record_model_new(RECORD_MODEL_MOST);
    struct record *back = calloc(RECORD_MODEL_MOST, sizeof *back);
    const struct record record = {.type = REQUEST_MEMREAD, .size = 8, .time = 1};
    CU_ASSERT_FATAL(model && back);
    for (size_t i = 0; i < 3; i++) {
        uint8_t out[1 + RECORD_BYTES + 64];
        size_t size;
        CU_ASSERT_EQUAL(record_model_encode(model, methods[i], &record, 1, out, &size, NULL), 0);
        out[0] = (uint8_t)methods[i];
        CU_ASSERT_EQUAL(record_model_decode(model, out, size, back, RECORD_MODEL_MOST, NULL),
                        BT_DATA);
        CU_ASSERT_EQUAL(back[100].size, 0);
    }
    free(back);
    record_model_free(model);
}

static const struct test_case cases[] = {
    {"a decoder restores what an encoder has coded", test_round_trip},
    {"the result depends on the records alone", test_result_is_reproducible},
    {"the coding stays", test_format_stays},
    {"what repeats costs little", test_sizes},
    {"damage is an error or other records", test_damage},
    {"work ends with the code", test_work_ends_with_the_code},
    {"counts beyond the code", test_counts_beyond_the_code},
    {NULL, NULL},
};
TEST_SUITE(record_model, cases)
