/* Our deflate: whatever goes in, zlib takes out. */
#include "formats/deflate.h"
#include "formats/deflate_records.h"
#include "formats/huffman.h"
#include "tests/suites.h"
#include "tests/support/random.h"
#include "tests/support/records.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define RECORDS_MAX 90000u /* more than a default block: the sample is a sample then */

/* Compresses, has zlib decompress, compares. Returns the compressed size. */
static size_t round_trip(struct deflate_records *deflater, const uint8_t *in, size_t size)
{
    size_t capacity = deflate_bound(size);
    uint8_t *out = malloc(capacity);
    uint8_t *back = malloc(size + 1);
    size_t packed = deflate_records_encode(deflater, in, size, out, capacity);
    CU_ASSERT(packed > 0 && packed <= capacity);
    z_stream stream = {0};
    CU_ASSERT_EQUAL_FATAL(inflateInit2(&stream, -15), Z_OK);
    stream.next_in = out;
    stream.avail_in = (uInt)packed;
    stream.next_out = back;
    stream.avail_out = (uInt)size + 1;
    CU_ASSERT_EQUAL(inflate(&stream, Z_FINISH), Z_STREAM_END);
    CU_ASSERT_EQUAL(stream.total_out, size);
    CU_ASSERT_EQUAL(stream.avail_in, 0);
    CU_ASSERT_EQUAL(memcmp(back, in, size), 0);
    inflateEnd(&stream);
    free(out);
    free(back);
    return packed;
}

/* Overwrites the tail of what is there with the like of what is before it, as loops in programs do.
 */
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
    switch (kind % 5) {
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
    default: /* quiet at first, then noise: the sample is wrong about the second half */
        records_fill_like_a_bus(records, count, random);
        records_fill_random(records + count / 2, count - count / 2, random);
        break;
    }
}

static void test_round_trips(void)
{
    struct deflate_records *deflater = deflate_records_new();
    struct record *records = malloc(RECORDS_MAX * sizeof *records);
    uint64_t random = 11;
    for (unsigned i = 0; i < 3000; i++) {
        size_t most = i % 100 == 0 ? RECORDS_MAX : i % 10 == 0 ? 5000 : 200;
        size_t count = 1 + (size_t)random_below(&random, most);
        fill(records, count, i, &random);
        size_t size = count * sizeof *records - (size_t)random_below(&random, 12);
        round_trip(deflater, (const uint8_t *)records, size);
    }
    free(records);
    deflate_records_free(deflater);
}

static void test_any_bytes(void)
{
    struct deflate_records *deflater = deflate_records_new();
    uint64_t random = 12;
    static uint8_t bytes[20000];
    for (unsigned i = 0; i < 2000; i++) {
        size_t size = (size_t)random_below(&random, i % 50 == 0 ? sizeof bytes : 400);
        uint64_t alphabet = 1 + random_below(&random, 256);
        for (size_t k = 0; k < size; k++)
            bytes[k] = (uint8_t)random_below(&random, alphabet);
        round_trip(deflater, bytes, size);
    }
    deflate_records_free(deflater);
}

static void test_noise_hardly_grows(void)
{
    struct deflate_records *deflater = deflate_records_new();
    struct record *records = malloc(RECORDS_MAX * sizeof *records);
    uint64_t random = 13;
    uint8_t *bytes = (uint8_t *)records;
    const size_t size = RECORDS_MAX * sizeof *records;
    for (size_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)(random_next(&random) >> 40);
    CU_ASSERT(round_trip(deflater, bytes, size) <= size + size / 10000 + 16);
    free(records);
    deflate_records_free(deflater);
}

static void test_smaller_than_zlib_1(void)
{
    struct deflate_records *deflater = deflate_records_new();
    struct deflate_encoder *zlib = deflate_encoder_new(DEFLATE_ZLIB, 1, NULL);
    struct record *records = malloc(RECORDS_MAX * sizeof *records);
    const size_t size = RECORDS_MAX * sizeof *records;
    uint8_t *out = malloc(deflate_bound(size));
    uint64_t random = 14;
    for (unsigned kind = 0; kind < 4; kind += 2) {
        size_t zlib_size;
        uint32_t crc;
        fill(records, RECORDS_MAX, kind, &random);
        size_t own = round_trip(deflater, (const uint8_t *)records, size);
        CU_ASSERT_EQUAL(deflate_encode(zlib, (const uint8_t *)records, size, out,
                                       deflate_bound(size), &zlib_size, &crc, NULL),
                        0);
        CU_ASSERT(own < zlib_size);
    }
    free(out);
    free(records);
    deflate_encoder_free(zlib);
    deflate_records_free(deflater);
}

static void test_result_depends_on_input_alone(void)
{
    struct deflate_records *used = deflate_records_new();
    struct record *records = malloc(2 * RECORDS_MAX * sizeof *records);
    const size_t size = RECORDS_MAX * sizeof *records;
    uint8_t *first = malloc(deflate_bound(size));
    uint8_t *second = malloc(deflate_bound(size));
    uint64_t random = 15;
    fill(records, 2 * RECORDS_MAX, 2, &random);
    deflate_records_encode(used, (uint8_t *)(records + RECORDS_MAX), size, first,
                           deflate_bound(size));
    size_t a = deflate_records_encode(used, (uint8_t *)records, size, first, deflate_bound(size));
    struct deflate_records *fresh = deflate_records_new();
    size_t b = deflate_records_encode(fresh, (uint8_t *)records, size, second, deflate_bound(size));
    CU_ASSERT(a == b && memcmp(first, second, a) == 0);
    free(first);
    free(second);
    free(records);
    deflate_records_free(used);
    deflate_records_free(fresh);
}

/* A code is whole (Kraft's sum is 1), within its limit, and gives rarer symbols no shorter codes.
 */
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
    /* Fibonacci's numbers make the deepest tree there is */
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
    {"Huffman codes are whole and within their limit", test_huffman_codes},
    {NULL, NULL}};
TEST_SUITE(deflate_records, cases)
