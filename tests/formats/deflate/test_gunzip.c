/* gunzip against zlib: random members in random pieces, whole, damaged and cut off. */
#include "formats/deflate/gunzip.h"
#include "tests/suites.h"
#include "tests/support/members.h"
#include "tests/support/random.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define FILES     400u
#define BYTES_MAX 60000u

/* Bytes that compress somewhat, or not at all. */
static size_t make_bytes(uint8_t *bytes, uint64_t *random)
{
    const size_t size = (size_t)random_below(random, random_one_in(random, 4) ? 20 : BYTES_MAX);
    const uint64_t symbols = random_one_in(random, 4) ? 256 : 1 + random_below(random, 20);
    for (size_t i = 0; i < size; i++)
        bytes[i] = i >= 50 && random_one_in(random, 3) ? bytes[i - 50]
                                                       : (uint8_t)random_below(random, symbols);
    return size;
}

/* A member with a random level, strategy and optional fields of its header. */
static void append_member(struct members *file, const uint8_t *bytes, size_t size, uint64_t *random)
{
    static uint8_t packed[2 * BYTES_MAX + 1000];
    gz_header header = {.name = (Bytef *)(random_one_in(random, 2) ? "name" : NULL),
                        .comment = (Bytef *)(random_one_in(random, 3) ? "words" : NULL),
                        .extra = (Bytef *)(random_one_in(random, 3) ? "BT\1\0x" : NULL),
                        .extra_len = 5,
                        .hcrc = random_one_in(random, 2)};
    z_stream zlib = {.next_in = (Bytef *)(uintptr_t)bytes,
                     .avail_in = (uInt)size,
                     .next_out = packed,
                     .avail_out = sizeof packed};
    CU_ASSERT_EQUAL_FATAL(deflateInit2(&zlib, (int)random_below(random, 10), Z_DEFLATED, 15 + 16, 8,
                                       random_one_in(random, 4) ? Z_FIXED : Z_DEFAULT_STRATEGY),
                          Z_OK);
    deflateSetHeader(&zlib, &header);
    CU_ASSERT_EQUAL_FATAL(deflate(&zlib, Z_FINISH), Z_STREAM_END);
    members_append(file, packed, zlib.total_out);
    deflateEnd(&zlib);
}

/* Decompresses all members in random pieces. Returns 0 at the end, 1 if the last member continues,
 * or BT_DATA; *size: number of bytes. */
static int read_members(const struct members *file, uint8_t *out, size_t *size, size_t capacity,
                        uint64_t *random)
{
    struct gunzip *gunzip = gunzip_new(NULL);
    CU_ASSERT_FATAL(gunzip != NULL);
    size_t at = 0;
    int result = 1;
    *size = 0;
    const uint64_t most = 1 + random_below(random, random_one_in(random, 2) ? 9 : 100000);
    for (unsigned idle = 0; idle < 3 && (at < file->size || result == 0);) {
        size_t in = (size_t)random_below(random, most) + 1;
        size_t room = (size_t)random_below(random, most) + 1;
        in = in < file->size - at ? in : file->size - at;
        room = room < capacity - *size ? room : capacity - *size;
        struct gunzip_buffers buffers = {
            .in = file->bytes + at, .in_size = in, .out = out + *size, .out_size = room};
        result = gunzip_some(gunzip, &buffers);
        idle = in == buffers.in_size && room == buffers.out_size ? idle + 1 : 0;
        at += in - buffers.in_size;
        *size += room - buffers.out_size;
        if (result < 0 || (result == 1 && at == file->size))
            break;
        if (result == 1)
            gunzip_begin_member(gunzip);
    }
    gunzip_free(gunzip);
    return result < 0 ? result : !result;
}

static void test_random_members(void)
{
    static uint8_t bytes[4 * BYTES_MAX], out[4 * BYTES_MAX + 100];
    uint64_t random = random_seed(77);
    for (unsigned i = 0; i < FILES; i++) {
        struct members file = {0};
        size_t size = 0, got = 0;
        for (unsigned members = 1 + (unsigned)random_below(&random, 3); members > 0; members--) {
            const size_t more = make_bytes(bytes + size, &random);
            append_member(&file, bytes + size, more, &random);
            size += more;
        }
        CU_ASSERT_EQUAL(read_members(&file, out, &got, sizeof out, &random), 0);
        CU_ASSERT_EQUAL_FATAL(got, size);
        CU_ASSERT_EQUAL(memcmp(out, bytes, size), 0);
        /* cut off: what came before is right */
        file.size = (size_t)random_below(&random, file.size);
        read_members(&file, out, &got, sizeof out, &random);
        CU_ASSERT_TRUE(got <= size && memcmp(out, bytes, got) == 0);
        free(file.bytes);
    }
}

static void test_damage(void)
{
    static uint8_t bytes[BYTES_MAX], out[2 * BYTES_MAX];
    uint64_t random = random_seed(78);
    unsigned found = 0;
    for (unsigned i = 0; i < FILES; i++) {
        struct members file = {0};
        size_t got = 0;
        const size_t size = make_bytes(bytes, &random);
        append_member(&file, bytes, size, &random);
        /* after the fixed part of the header, whose time and system mean nothing */
        const size_t at = 10 + (size_t)random_below(&random, file.size - 10);
        file.bytes[at] ^= (uint8_t)(1u << random_below(&random, 8));
        const int result = read_members(&file, out, &got, sizeof out, &random);
        found += result != 0;
        /* a name may have changed, nothing else */
        CU_ASSERT_TRUE(result != 0 || (got == size && memcmp(out, bytes, size) == 0));
        free(file.bytes);
    }
    CU_ASSERT_TRUE(found > FILES / 2);
}

static const struct test_case cases[] = {
    {"random members", test_random_members}, {"damage", test_damage}, {NULL, NULL}};
TEST_SUITE(gunzip, cases)
