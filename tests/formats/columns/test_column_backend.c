/* Compression of one stream: it comes back, and repeated parts are searched where that gains. */
#include "formats/columns/column_backend.h"
#include "tests/suites.h"
#include "tests/support/random.h"

#include <stdlib.h>
#include <string.h>

#define BYTES 60000u

enum shape { NOISE, SKEWED, REPEATED, CONSTANT, SHAPES };

static void fill(uint8_t *bytes, size_t size, enum shape shape, uint64_t *random)
{
    for (size_t i = 0; i < size; i++) {
        const uint8_t noise = (uint8_t)random_below(random, 256);
        switch (shape) {
        case SKEWED: /* 2 bits a byte: pairs and triples repeat everywhere, long parts never */
            bytes[i] = (uint8_t)(noise < 64 ? 'a' : noise < 128 ? 'b' : noise < 192 ? 'c' : 'd');
            break;
        case REPEATED: /* parts of 100 bytes from 1000 bytes before, then 20 of noise */
            bytes[i] = i >= 1000 && i % 120 < 100 ? bytes[i - 960] : noise;
            break;
        case CONSTANT:
            bytes[i] = 7;
            break;
        default:
            bytes[i] = noise;
        }
    }
}

/* The size of a stream that comes back. */
static size_t coded(struct column_backend *backend, unsigned level, const uint8_t *bytes,
                    size_t size)
{
    uint8_t *out = malloc(size + 1), *back = malloc(size + 1), method = 99;
    size_t out_size = 0;
    CU_ASSERT_EQUAL(
        column_backend_encode(backend, level, bytes, size, out, size, &out_size, &method), 0);
    CU_ASSERT(out_size <= size);
    CU_ASSERT(column_backend_decode(backend, method, out, out_size, back, size));
    CU_ASSERT_EQUAL(memcmp(back, bytes, size), 0);
    free(out);
    free(back);
    return out_size;
}

static void test_sizes(void)
{
    uint8_t *bytes = malloc(BYTES);
    struct column_backend *backend = column_backend_new(NULL);
    uint64_t random = random_seed(65);
    for (unsigned level = 1; level <= COLUMN_LEVELS; level++) {
        fill(bytes, BYTES, NOISE, &random);
        CU_ASSERT_EQUAL(coded(backend, level, bytes, BYTES), BYTES);
        fill(bytes, BYTES, SKEWED, &random);
        CU_ASSERT(coded(backend, level, bytes, BYTES) < BYTES / 4 + BYTES / 100);
        fill(bytes, BYTES, REPEATED, &random);
        CU_ASSERT(coded(backend, level, bytes, BYTES) < BYTES / 3);
        fill(bytes, BYTES, CONSTANT, &random);
        CU_ASSERT(coded(backend, level, bytes, BYTES) < 100);
    }
    column_backend_free(backend);
    free(bytes);
}

static void test_every_length(void)
{
    uint8_t bytes[1400];
    struct column_backend *backend = column_backend_new(NULL);
    uint64_t random = random_seed(66);
    for (unsigned shape = 0; shape < SHAPES; shape++) {
        fill(bytes, sizeof bytes, (enum shape)shape, &random);
        for (size_t size = 1; size <= sizeof bytes; size++) {
            uint8_t *exact = malloc(size); /* for the sanitizer */
            memcpy(exact, bytes, size);
            coded(backend, 1 + (unsigned)size % COLUMN_LEVELS, exact, size);
            free(exact);
        }
    }
    column_backend_free(backend);
}

static const struct test_case cases[] = {
    {"sizes", test_sizes}, {"every length", test_every_length}, {NULL, NULL}};
TEST_SUITE(column_backend, cases)
