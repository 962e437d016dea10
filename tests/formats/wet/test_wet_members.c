/* Members of a WET file: read again, by gzip too; and damaged in every byte. */
#include "formats/wet/wet_members.h"
#include "tests/suites.h"
#include "tests/support/random.h"

#include <string.h>
#include <zlib.h>

#define CONTENT 5000u

/* A member of `size` bytes of content. */
static struct wet_bytes member_of(size_t size, struct wet_bytes *content, struct wet_member *member)
{
    struct wet_bytes to = {.bytes = NULL};
    struct bt_error error;
    struct deflate_encoder *encoder = deflate_encoder_new(DEFLATE_ZLIB, -1, &error);
    uint64_t random = random_seed(size);
    CU_ASSERT_PTR_NOT_NULL_FATAL(encoder);
    while (content->size < size)
        wet_bytes_put(content, random_below(&random, 5));
    *member = (struct wet_member){.kind = WET_MEMBER_CHUNK, .first = 7, .instructions = 42};
    CU_ASSERT_EQUAL_FATAL(wet_member_put(member, encoder, content, &to, &error), 0);
    CU_ASSERT_EQUAL(member->member_bytes, to.size);
    deflate_encoder_free(encoder);
    return to;
}

static void test_round_trip(void)
{
    static const size_t sizes[] = {0, 1, CONTENT};
    struct bt_error error;
    struct deflate_decoder *decoder = deflate_decoder_new(&error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(decoder);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct wet_bytes content = {.bytes = NULL}, again = {.bytes = NULL};
        struct wet_member member, read;
        struct wet_bytes bytes = member_of(sizes[i], &content, &member);
        for (size_t size = 0; size < WET_MEMBER_HEADER_BYTES; size++)
            CU_ASSERT_EQUAL(wet_member_get(&read, bytes.bytes, size, &error), 0);
        CU_ASSERT_EQUAL(wet_member_get(&read, bytes.bytes, bytes.size, &error), 1);
        CU_ASSERT_EQUAL(read.kind, WET_MEMBER_CHUNK);
        CU_ASSERT_EQUAL(read.member_bytes, bytes.size);
        CU_ASSERT_EQUAL(read.first, 7);
        CU_ASSERT_EQUAL(read.instructions, 42);
        CU_ASSERT_EQUAL(wet_member_content(&read, decoder, bytes.bytes, &again, &error), 0);
        CU_ASSERT_EQUAL(again.size, sizes[i]);
        CU_ASSERT(sizes[i] == 0 || memcmp(again.bytes, content.bytes, sizes[i]) == 0);
        free(content.bytes);
        free(again.bytes);
        free(bytes.bytes);
    }
    deflate_decoder_free(decoder);
}

/* What gunzip does with it. */
static void test_gzip(void)
{
    struct wet_bytes content = {.bytes = NULL};
    struct wet_member member;
    struct wet_bytes bytes = member_of(CONTENT, &content, &member);
    uint8_t out[CONTENT + 1];
    z_stream stream = {.next_in = bytes.bytes,
                       .avail_in = (unsigned)bytes.size,
                       .next_out = out,
                       .avail_out = sizeof out};
    CU_ASSERT_EQUAL_FATAL(inflateInit2(&stream, 16 + MAX_WBITS), Z_OK);
    CU_ASSERT_EQUAL(inflate(&stream, Z_FINISH), Z_STREAM_END);
    CU_ASSERT_EQUAL(stream.total_out, CONTENT);
    CU_ASSERT_EQUAL(stream.avail_in, 0);
    CU_ASSERT(memcmp(out, content.bytes, CONTENT) == 0);
    inflateEnd(&stream);
    free(content.bytes);
    free(bytes.bytes);
}

/* Any wrong byte is found: in the header at once, in the rest with the content. */
static void test_damage(void)
{
    struct bt_error error;
    struct deflate_decoder *decoder = deflate_decoder_new(&error);
    struct wet_bytes content = {.bytes = NULL}, again = {.bytes = NULL};
    struct wet_member member, read;
    struct wet_bytes bytes = member_of(300, &content, &member);
    CU_ASSERT_PTR_NOT_NULL_FATAL(decoder);
    for (size_t i = 0; i < bytes.size; i++) {
        bytes.bytes[i] ^= 0x10;
        int result = wet_member_get(&read, bytes.bytes, bytes.size, &error);
        CU_ASSERT_EQUAL(result, i < WET_MEMBER_HEADER_BYTES ? BT_DATA : 1);
        if (result == 1)
            CU_ASSERT_EQUAL(wet_member_content(&read, decoder, bytes.bytes, &again, &error),
                            BT_DATA);
        bytes.bytes[i] ^= 0x10;
    }
    CU_ASSERT_EQUAL(wet_member_get(&read, bytes.bytes, bytes.size, &error), 1);
    free(content.bytes);
    free(again.bytes);
    free(bytes.bytes);
    deflate_decoder_free(decoder);
}

static void test_limits(void)
{
    struct bt_error error;
    struct deflate_encoder *encoder = deflate_encoder_new(DEFLATE_ZLIB, -1, &error);
    struct wet_bytes to = {.bytes = NULL};
    struct wet_member member = {.kind = WET_MEMBER_CHUNK};
    const struct wet_bytes large = {.size = (size_t)WET_MEMBER_CONTENT_MAX + 1};
    const struct wet_bytes failed = {.out_of_memory = true};
    CU_ASSERT_PTR_NOT_NULL_FATAL(encoder);
    CU_ASSERT_EQUAL(wet_member_put(&member, encoder, &large, &to, &error), BT_USAGE);
    CU_ASSERT_EQUAL(wet_member_put(&member, encoder, &failed, &to, &error), BT_MEMORY);
    CU_ASSERT_EQUAL(to.size, 0);
    deflate_encoder_free(encoder);
}

static const struct test_case cases[] = {{"round trip", test_round_trip},
                                         {"gzip", test_gzip},
                                         {"damage", test_damage},
                                         {"limits", test_limits},
                                         {NULL, NULL}};
TEST_SUITE(wet_members, cases)
