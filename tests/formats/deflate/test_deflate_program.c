/* Our deflate for executed programs: zlib decompresses every stream to its input. */
#include "formats/deflate/deflate_program.h"
#include "tests/formats/deflate/deflate_fixture.h"
#include "tests/suites.h"
#include "tests/support/random.h"
#include "tests/support/records.h"

#include <stdlib.h>
#include <string.h>

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

/* Consecutive instructions, some with data. */
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

/* Records like a program's: some paths, repeated, up to their end or one of a few exits, with other
 * data addresses; sometimes a record that no program makes. `ways`: number of paths, at most PATHS;
 * `wild`: one in this number of records is such a record. */
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
    switch (kind) {
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
    default: /* quiet, noise, then one record repeated: the codes do not fit, and a match is very
                long */
        fill_like_program(records, count, ways, 1000, random);
        records_fill_random(records + count / 4, count - count / 4, random);
        for (size_t i = count / 4 + count / 2; i < count; i++)
            records[i] = records[count / 4];
        break;
    }
}

static const struct deflate_fixture fixture = {
    .engine = DEFLATE_PROGRAMS, .kinds = 6, .fill = fill, .look = check_narrow, .seed = 21};

static void test_round_trips(void)
{
    deflate_check_records(&fixture);
}

/* One byte differs, anywhere in repeated data. */
static void test_one_byte_differs(void)
{
    enum { COUNT = 200 };
    struct deflate_encoder *encoder = deflate_encoder_new(DEFLATE_PROGRAMS, -1, NULL);
    struct record records[COUNT];
    uint64_t random = 22;
    for (size_t byte = 0; byte < COUNT * RECORD_BYTES; byte++) {
        fill_like_program(records, COUNT / 2, 3, 100000, &random);
        memcpy(records + COUNT / 2, records, sizeof records / 2);
        ((uint8_t *)records)[byte] ^= (uint8_t)(1 + random_below(&random, 255));
        deflate_check(&fixture, encoder, (const uint8_t *)records, sizeof records);
    }
    deflate_encoder_free(encoder);
}

static void test_any_bytes(void)
{
    deflate_check_any_bytes(&fixture);
}

static void test_noise_hardly_grows(void)
{
    deflate_check_noise_hardly_grows(&fixture);
}

/* Programs' records become about as small as with the other engines, which are slower. */
static void test_as_small_as_others(void)
{
    deflate_check_smaller(&fixture, 0, DEFLATE_ZLIB, 105);
    deflate_check_smaller(&fixture, 0, DEFLATE_RECORDS, 105);
}

static void test_result_depends_on_input_alone(void)
{
    deflate_check_input_alone(&fixture);
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
