/* Our deflate for executed programs: whatever goes in, zlib takes out. */
#include "formats/deflate.h"
#include "formats/deflate_program.h"
#include "tests/suites.h"
#include "tests/support/random.h"
#include "tests/support/records.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define RECORDS_MAX  90000u /* more than a default block: the sample is a sample then */
#define PATHS        64u
#define PATH_RECORDS 300u

/* The stream is the same on every processor. */
static void check_narrow(const uint8_t *in, size_t size, const uint8_t *out, size_t packed)
{
    struct deflate_program *narrow = deflate_program_new();
    uint8_t *other = malloc(deflate_bound(size));
    deflate_program_narrow(narrow);
    CU_ASSERT_EQUAL(deflate_program_encode(narrow, in, size, other, deflate_bound(size)), packed);
    CU_ASSERT_EQUAL(memcmp(other, out, packed), 0);
    free(other);
    deflate_program_free(narrow);
}

/* Compresses, has zlib decompress, compares. Returns the compressed size. */
static size_t round_trip(struct deflate_program *deflater, const uint8_t *in, size_t size)
{
    size_t capacity = deflate_bound(size);
    uint8_t *copy = malloc(size + 1); /* of that size, for the sanitizer to watch */
    uint8_t *out = malloc(capacity);
    uint8_t *back = malloc(size + 1);
    memcpy(copy, in, size);
    size_t packed = deflate_program_encode(deflater, copy, size, out, capacity);
    CU_ASSERT(packed > 0 && packed <= capacity);
    check_narrow(copy, size, out, packed);
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

/* Instructions one behind the other, some with data. */
static size_t make_path(struct record *path, uint64_t *random)
{
    size_t count = 1 + (size_t)random_below(random, PATH_RECORDS);
    uint32_t address = (uint32_t)random_below(random, 1 << 20);
    for (size_t i = 0; i < count; i++) {
        bool data = i > 0 && random_below(random, 3) == 0;
        uint8_t size = (uint8_t)(1 + random_below(random, data ? 8 : 15));
        path[i] = (struct record){.address = data ? (uint32_t)random_next(random) : address,
                                  .type = data ? REQUEST_MEMREAD + 2 * (i & 1) : REQUEST_FETCH,
                                  .size = size,
                                  .attribute = ATTRIBUTE_WRITE_BACK,
                                  .time = !data};
        address += data ? 0 : size;
    }
    return count;
}

/* As a program: some ways, gone again and again, to their end or one of a few exits, with other
 * addresses of data; now and then something happens that never happens in a program. `ways`: how
 * many, at most PATHS; `wild`: one in how many records. */
static void fill_like_program(struct record *records, size_t count, size_t ways, uint64_t wild,
                              uint64_t *random)
{
    static struct record paths[PATHS][PATH_RECORDS];
    size_t lengths[PATHS];
    for (size_t i = 0; i < ways; i++)
        lengths[i] = make_path(paths[i], random);
    for (size_t at = 0, way = 0, step = 0; at < count; at++, step++) {
        if (step == lengths[way] || (step % 40 == 39 && random_below(random, 3) == 0)) {
            way = (size_t)random_below(random, ways);
            step = 0;
        }
        records[at] = paths[way][step];
        if (records[at].type != REQUEST_FETCH && random_below(random, 2) == 0)
            records[at].address += (uint32_t)(random_next(random) >> random_below(random, 56) >> 8);
        if (random_below(random, wild) == 0)
            ((uint8_t *)&records[at])[random_below(random, 12)] ^=
                (uint8_t)(1 + random_below(random, 255));
    }
}

static void fill(struct record *records, size_t count, unsigned kind, uint64_t *random)
{
    size_t ways = 1 + (size_t)random_below(random, PATHS);
    switch (kind % 6) {
    case 0:
        fill_like_program(records, count, ways, 100000, random);
        break;
    case 1:
        fill_like_program(records, count, ways, 20, random);
        break;
    case 2:
        records_fill_like_a_bus(records, count, random);
        break;
    case 3:
        records_fill_random(records, count, random);
        break;
    case 4:
        memset(records, (int)random_below(random, 256), count * sizeof *records);
        break;
    default: /* quiet, noise, then one record: the codes are wrong, and a match is very long */
        fill_like_program(records, count, ways, 1000, random);
        records_fill_random(records + count / 4, count - count / 4, random);
        for (size_t i = count / 4 + count / 2; i < count; i++)
            records[i] = records[count / 4];
        break;
    }
}

static void test_round_trips(void)
{
    struct deflate_program *deflater = deflate_program_new();
    struct record *records = malloc(RECORDS_MAX * sizeof *records);
    uint64_t random = 21;
    for (unsigned i = 0; i < 4000; i++) {
        size_t most = i % 100 < 6 ? RECORDS_MAX : i % 10 == 0 ? 5000 : 200;
        size_t count = 1 + (size_t)random_below(&random, most);
        fill(records, count, i, &random);
        size_t size = count * sizeof *records - (size_t)random_below(&random, 12);
        round_trip(deflater, (const uint8_t *)records, size);
    }
    free(records);
    deflate_program_free(deflater);
}

/* One byte differs, anywhere in what was there twice. */
static void test_one_byte_differs(void)
{
    enum { COUNT = 200 };
    struct deflate_program *deflater = deflate_program_new();
    struct record records[COUNT];
    uint64_t random = 22;
    for (size_t byte = 0; byte < COUNT * RECORD_BYTES; byte++) {
        fill_like_program(records, COUNT / 2, 3, 100000, &random);
        memcpy(records + COUNT / 2, records, sizeof records / 2);
        ((uint8_t *)records)[byte] ^= (uint8_t)(1 + random_below(&random, 255));
        round_trip(deflater, (const uint8_t *)records, sizeof records);
    }
    deflate_program_free(deflater);
}

static void test_any_bytes(void)
{
    struct deflate_program *deflater = deflate_program_new();
    uint64_t random = 23;
    static uint8_t bytes[20000];
    for (unsigned i = 0; i < 2000; i++) {
        size_t size = (size_t)random_below(&random, i % 50 == 0 ? sizeof bytes : 1200);
        uint64_t alphabet = 1 + random_below(&random, i % 2 ? 3 : 256);
        for (size_t k = 0; k < size; k++)
            bytes[k] = (uint8_t)random_below(&random, alphabet);
        round_trip(deflater, bytes, size);
    }
    deflate_program_free(deflater);
}

static void test_noise_hardly_grows(void)
{
    struct deflate_program *deflater = deflate_program_new();
    struct record *records = malloc(RECORDS_MAX * sizeof *records);
    uint64_t random = 24;
    uint8_t *bytes = (uint8_t *)records;
    const size_t size = RECORDS_MAX * sizeof *records;
    for (size_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)(random_next(&random) >> 40);
    CU_ASSERT(round_trip(deflater, bytes, size) <= size + size / 10000 + 16);
    free(records);
    deflate_program_free(deflater);
}

/* What a program makes gets about as small as by the others, which are slower. */
static void test_as_small_as_others(void)
{
    static const enum deflate_engine others[] = {DEFLATE_ZLIB, DEFLATE_RECORDS};
    struct deflate_program *deflater = deflate_program_new();
    struct record *records = malloc(RECORDS_MAX * sizeof *records);
    const size_t size = RECORDS_MAX * sizeof *records;
    uint8_t *out = malloc(deflate_bound(size));
    uint64_t random = 25;
    fill_like_program(records, RECORDS_MAX, 8, 100000, &random);
    size_t own = round_trip(deflater, (const uint8_t *)records, size);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        struct deflate_encoder *other = deflate_encoder_new(others[i], -1, NULL);
        size_t other_size;
        uint32_t crc;
        CU_ASSERT_EQUAL(deflate_encode(other, (const uint8_t *)records, size, out,
                                       deflate_bound(size), &other_size, &crc, NULL),
                        0);
        CU_ASSERT(own < other_size + other_size / 20);
        deflate_encoder_free(other);
    }
    free(out);
    free(records);
    deflate_program_free(deflater);
}

static void test_result_depends_on_input_alone(void)
{
    struct deflate_program *used = deflate_program_new();
    struct deflate_program *fresh = deflate_program_new();
    struct record *records = malloc(2 * RECORDS_MAX * sizeof *records);
    const size_t size = RECORDS_MAX * sizeof *records;
    uint8_t *first = malloc(deflate_bound(size));
    uint8_t *second = malloc(deflate_bound(size));
    uint64_t random = 26;
    fill_like_program(records, 2 * RECORDS_MAX, PATHS, 1000, &random);
    deflate_program_encode(used, (uint8_t *)(records + RECORDS_MAX), size, first,
                           deflate_bound(size));
    size_t a = deflate_program_encode(used, (uint8_t *)records, size, first, deflate_bound(size));
    size_t b = deflate_program_encode(fresh, (uint8_t *)records, size, second, deflate_bound(size));
    CU_ASSERT(a == b && memcmp(first, second, a) == 0);
    free(first);
    free(second);
    free(records);
    deflate_program_free(used);
    deflate_program_free(fresh);
}

static const struct test_case cases[] = {
    {"round trips of records of every kind", test_round_trips},
    {"one byte differs", test_one_byte_differs},
    {"any bytes", test_any_bytes},
    {"noise hardly grows", test_noise_hardly_grows},
    {"as small as others", test_as_small_as_others},
    {"the result depends on the input alone", test_result_depends_on_input_alone},
    {NULL, NULL}};
TEST_SUITE(deflate_program, cases)
