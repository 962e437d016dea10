/* Our deflate: zlib decompresses every stream to its input. */
#include "formats/deflate/huffman.h"
#include "tests/formats/deflate/deflate_fixture.h"
#include "tests/suites.h"
#include "tests/support/random.h"
#include "tests/support/records.h"

#include <string.h>

/* Overwrites the tail with variations of earlier records, as loops in programs make them. */
static void add_loops(struct record *records, size_t count, uint64_t *random)
{
    for (size_t i = 1; i < count;) {
        size_t distance = 1 + (size_t)random_below(random, i < 3000 ? i : 3000);
        size_t length = (size_t)random_below(random, 100);
        for (size_t k = 0; k < length && i < count; k++, i++) {
            records[i] = records[i - distance];
            if (random_below(random, 20) == 0)
                records[i].time++;
            if (random_below(random, 20) == 0)
                records[i].address ^= 0x18;
        }
        i += 1 + (size_t)random_below(random, 200);
    }
}

static void fill(struct record *records, size_t count, unsigned kind, uint64_t *random)
{
    switch (kind) {
    case 0:
        records_fill_like_a_bus(records, count, random);
        break;
    case 1:
        records_fill_random(records, count, random);
        break;
    case 2:
        records_fill_like_a_bus(records, count, random);
        add_loops(records, count, random);
        break;
    case 3:
        memset(records, (int)random_below(random, 256), count * sizeof *records);
        break;
    default: /* quiet at first, then noise: the sample does not represent the second half */
        records_fill_like_a_bus(records, count, random);
        records_fill_random(records + count / 2, count - count / 2, random);
        break;
    }
}

static const struct deflate_fixture fixture = {
    .engine = DEFLATE_RECORDS, .kinds = 5, .fill = fill, .seed = 11};

static void test_round_trips(void)
{
    deflate_check_records(&fixture);
}

static void test_any_bytes(void)
{
    deflate_check_any_bytes(&fixture);
}

static void test_noise_hardly_grows(void)
{
    deflate_check_noise_hardly_grows(&fixture);
}

static void test_smaller_than_zlib_1(void)
{
    deflate_check_smaller(&fixture, 0, DEFLATE_ZLIB, 100);
    deflate_check_smaller(&fixture, 2, DEFLATE_ZLIB, 100);
}

static void test_result_depends_on_input_alone(void)
{
    deflate_check_input_alone(&fixture);
}

/* A code is complete (Kraft's sum is 1), within its limit, and gives rarer symbols no shorter
 * codes. */
static void check_code(const uint32_t *frequencies, size_t count, unsigned limit)
{
    struct huffman_code codes[HUFFMAN_SYMBOLS_MAX];
    huffman_build(frequencies, count, limit, codes);
    uint32_t sum = 0;
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        CU_ASSERT_EQUAL(codes[i].length > 0, frequencies[i] > 0);
        CU_ASSERT(codes[i].length <= limit);
        used += codes[i].length > 0;
        sum += codes[i].length ? 1u << (limit - codes[i].length) : 0;
        for (size_t k = 0; k < count; k++)
            if (frequencies[k] > frequencies[i] && frequencies[i] > 0)
                CU_ASSERT(codes[k].length <= codes[i].length);
    }
    if (used > 1)
        CU_ASSERT_EQUAL(sum, 1u << limit);
}

static void test_huffman_codes(void)
{
    uint64_t random = 16;
    uint32_t frequencies[HUFFMAN_SYMBOLS_MAX];
    for (unsigned i = 0; i < 400; i++) {
        size_t count = 1 + (size_t)random_below(&random, i % 8 ? 30 : HUFFMAN_SYMBOLS_MAX);
        unsigned limit = 9 + (unsigned)random_below(&random, 7);
        for (size_t k = 0; k < count; k++)
            frequencies[k] = (uint32_t)(random_next(&random) >> 40 >> random_below(&random, 30));
        check_code(frequencies, count, limit);
    }
    /* Fibonacci numbers make the deepest tree */
    uint32_t a = 1;
    uint32_t b = 1;
    for (size_t k = 0; k < 30; k++) {
        frequencies[k] = a;
        b += a;
        a = b - a;
    }
    check_code(frequencies, 30, 7);
    check_code(frequencies, 30, 15);
}

static const struct test_case cases[] = {
    {"round trips of records of every kind", test_round_trips},
    {"any bytes", test_any_bytes},
    {"noise hardly grows", test_noise_hardly_grows},
    {"smaller than zlib's level 1", test_smaller_than_zlib_1},
    {"the result depends on the input alone", test_result_depends_on_input_alone},
    {"Huffman codes are complete and within their limit", test_huffman_codes},
    {NULL, NULL}};
TEST_SUITE(deflate_records, cases)
