#include "tests/formats/deflate/deflate_fixture.h"

#include "tests/suites.h"
#include "tests/support/random.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

static size_t encode(struct deflate_encoder *encoder, const uint8_t *in, size_t size, uint8_t *out)
{
    size_t packed = 0;
    uint32_t crc;
    CU_ASSERT_EQUAL(
        deflate_encode(encoder, in, size, out, deflate_bound(size), &packed, &crc, NULL), 0);
    return packed;
}

size_t deflate_check(const struct deflate_fixture *fixture, struct deflate_encoder *encoder,
                     const uint8_t *in, size_t size)
{
    uint8_t *copy =
        malloc(size + 1); /* three separate blocks, so that the sanitizer watches their ends */
    uint8_t *out = malloc(deflate_bound(size));
    uint8_t *back = malloc(size + 1);
    memcpy(copy, in, size);
    size_t packed = encode(encoder, copy, size, out);
    CU_ASSERT(packed > 0 && packed <= deflate_bound(size));
    if (fixture->look)
        fixture->look(copy, size, out, packed);
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
    free(copy);
    free(out);
    free(back);
    return packed;
}

void deflate_check_records(const struct deflate_fixture *fixture)
{
    struct deflate_encoder *encoder = deflate_encoder_new(fixture->engine, -1, NULL);
    struct record *records = malloc(DEFLATE_RECORDS_MAX * sizeof *records);
    uint64_t random = fixture->seed;
    for (unsigned i = 0; i < 4000; i++) {
        size_t most = i % 100 < fixture->kinds ? DEFLATE_RECORDS_MAX : i % 10 == 0 ? 5000 : 200;
        size_t count = 1 + (size_t)random_below(&random, most);
        fixture->fill(records, count, i % fixture->kinds, &random);
        size_t size = count * sizeof *records - (size_t)random_below(&random, 12);
        deflate_check(fixture, encoder, (const uint8_t *)records, size);
    }
    free(records);
    deflate_encoder_free(encoder);
}

void deflate_check_any_bytes(const struct deflate_fixture *fixture)
{
    struct deflate_encoder *encoder = deflate_encoder_new(fixture->engine, -1, NULL);
    uint64_t random = fixture->seed;
    static uint8_t bytes[20000];
    for (unsigned i = 0; i < 2000; i++) {
        size_t size = (size_t)random_below(&random, i % 50 == 0 ? sizeof bytes : 1200);
        uint64_t alphabet = 1 + random_below(&random, i % 2 ? 3 : 256);
        for (size_t k = 0; k < size; k++)
            bytes[k] = (uint8_t)random_below(&random, alphabet);
        deflate_check(fixture, encoder, bytes, size);
    }
    deflate_encoder_free(encoder);
}

void deflate_check_noise_hardly_grows(const struct deflate_fixture *fixture)
{
    struct deflate_encoder *encoder = deflate_encoder_new(fixture->engine, -1, NULL);
    const size_t size = DEFLATE_RECORDS_MAX * RECORD_BYTES;
    uint8_t *bytes = malloc(size);
    uint64_t random = fixture->seed;
    for (size_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)(random_next(&random) >> 40);
    CU_ASSERT(deflate_check(fixture, encoder, bytes, size) <= size + size / 10000 + 16);
    free(bytes);
    deflate_encoder_free(encoder);
}

void deflate_check_input_alone(const struct deflate_fixture *fixture)
{
    struct deflate_encoder *used = deflate_encoder_new(fixture->engine, -1, NULL);
    struct record *records = malloc(DEFLATE_RECORDS_MAX * sizeof *records);
    uint8_t *first = malloc(deflate_bound(DEFLATE_RECORDS_MAX * RECORD_BYTES));
    uint8_t *second = malloc(deflate_bound(DEFLATE_RECORDS_MAX * RECORD_BYTES));
    uint64_t random = fixture->seed;
    for (unsigned i = 0; i < 500; i++) {
        struct deflate_encoder *fresh = deflate_encoder_new(fixture->engine, -1, NULL);
        size_t most = i % 100 < fixture->kinds ? DEFLATE_RECORDS_MAX : 5000;
        size_t count = 1 + (size_t)random_below(&random, most);
        fixture->fill(records, count, i % fixture->kinds, &random);
        encode(used, (const uint8_t *)records, count * RECORD_BYTES, first);
        /* stale entries for the same positions, reached in another way, would seem valid */
        for (size_t k = 0; k < count; k += 1 + (size_t)random_below(&random, 200))
            records[k].address ^= 0x100;
        size_t a = encode(used, (const uint8_t *)records, count * RECORD_BYTES, first);
        size_t b = encode(fresh, (const uint8_t *)records, count * RECORD_BYTES, second);
        CU_ASSERT(a == b && memcmp(first, second, a) == 0);
        deflate_encoder_free(fresh);
    }
    free(first);
    free(second);
    free(records);
    deflate_encoder_free(used);
}

void deflate_check_smaller(const struct deflate_fixture *fixture, unsigned kind,
                           enum deflate_engine other, unsigned percent)
{
    struct deflate_encoder *encoder = deflate_encoder_new(fixture->engine, -1, NULL);
    struct deflate_encoder *others = deflate_encoder_new(other, -1, NULL);
    struct record *records = malloc(DEFLATE_RECORDS_MAX * sizeof *records);
    const size_t size = DEFLATE_RECORDS_MAX * sizeof *records;
    uint8_t *out = malloc(deflate_bound(size));
    uint64_t random = fixture->seed;
    fixture->fill(records, DEFLATE_RECORDS_MAX, kind, &random);
    size_t own_size = deflate_check(fixture, encoder, (const uint8_t *)records, size);
    size_t other_size = encode(others, (const uint8_t *)records, size, out);
    CU_ASSERT(own_size < other_size * percent / 100);
    free(out);
    free(records);
    deflate_encoder_free(encoder);
    deflate_encoder_free(others);
}
