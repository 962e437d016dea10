#include "formats/text/text_reader.h"

#include "tests/suites.h"
#include "tests/support/files.h"
#include "tests/support/random.h"

#include <bzlib.h>
#include <lzma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define TEXT_BYTES ((size_t)300000)

struct text {
    char *data;
    size_t size;
};

static struct text random_text(uint64_t seed, size_t size)
{
    uint64_t state = random_seed(seed);
    struct text text = {malloc(size + 1), size};
    for (size_t i = 0; i < size; i++)
        text.data[i] = (char)('0' + random_below(&state, 40));
    return text;
}

static void append_gzip(struct text *to, const char *text, size_t size)
{
    z_stream stream = {0};
    deflateInit2(&stream, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
    size_t room = deflateBound(&stream, size) + 32;
    to->data = realloc(to->data, to->size + room);
    stream.next_in = (Bytef *)(uintptr_t)text;
    stream.avail_in = (uInt)size;
    stream.next_out = (Bytef *)to->data + to->size;
    stream.avail_out = (uInt)room;
    CU_ASSERT_EQUAL_FATAL(deflate(&stream, Z_FINISH), Z_STREAM_END);
    to->size += room - stream.avail_out;
    deflateEnd(&stream);
}

static void append_bzip2(struct text *to, const char *text, size_t size)
{
    unsigned room = (unsigned)(size + size / 50 + 1000);
    to->data = realloc(to->data, to->size + room);
    CU_ASSERT_EQUAL_FATAL(BZ2_bzBuffToBuffCompress(to->data + to->size, &room,
                                                   (char *)(uintptr_t)text, (unsigned)size, 1, 0,
                                                   0),
                          BZ_OK);
    to->size += room;
}

static void append_xz(struct text *to, const char *text, size_t size)
{
    size_t room = lzma_stream_buffer_bound(size);
    size_t used = 0;
    to->data = realloc(to->data, to->size + room);
    CU_ASSERT_EQUAL_FATAL(lzma_easy_buffer_encode(1, LZMA_CHECK_CRC64, NULL, (const uint8_t *)text,
                                                  size, (uint8_t *)to->data + to->size, &used,
                                                  room),
                          LZMA_OK);
    to->size += used;
}

/* Reads everything in steps of odd sizes. Returns the result's code, and the data in *text. */
static int read_all(struct text_reader *reader, uint64_t seed, struct text *text,
                    struct bt_error *error)
{
    uint64_t state = random_seed(seed);
    *text = (struct text){NULL, 0};
    for (;;) {
        size_t room = 1 + (size_t)random_below(&state, 70000);
        size_t got = 0;
        text->data = realloc(text->data, text->size + room);
        int result = text_reader_read(reader, text->data + text->size, room, &got, error);
        CU_ASSERT_FATAL(got <= room);
        text->size += got;
        if (result < 0 || got == 0)
            return result;
    }
}

static int read_memory(const struct text *stored, struct text *text, struct bt_error *error)
{
    struct text_reader *reader =
        text_reader_from_memory(stored->data, stored->size, "stored", error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(reader);
    int result = read_all(reader, stored->size, text, error);
    text_reader_close(reader);
    return result;
}

static bool same(const struct text *a, const struct text *b)
{
    return a->size == b->size && (a->size == 0 || memcmp(a->data, b->data, a->size) == 0);
}

static void check_reads_as(const struct text *stored, const struct text *wanted)
{
    struct bt_error error = {0};
    struct text text;
    CU_ASSERT_EQUAL(read_memory(stored, &text, &error), 0);
    CU_ASSERT(same(&text, wanted));
    free(text.data);
    struct test_path *paths[] = {test_path_file(stored->data, stored->size),
                                 test_path_pipe(stored->data, stored->size)};
    for (int i = 0; i < 2; i++) {
        struct text_reader *reader = text_reader_open(test_path_name(paths[i]), &error);
        CU_ASSERT_PTR_NOT_NULL_FATAL(reader);
        CU_ASSERT_EQUAL(text_reader_size(reader), i == 0 ? stored->size : 0);
        CU_ASSERT_EQUAL(read_all(reader, 7, &text, &error), 0);
        CU_ASSERT_EQUAL(text_reader_offset(reader), stored->size);
        CU_ASSERT(same(&text, wanted));
        text_reader_close(reader);
        free(text.data);
        test_path_free(paths[i]);
    }
}

static void test_plain(void)
{
    const size_t sizes[] = {0, 1, 2, 3, 4, 70000, TEXT_BYTES};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct text text = random_text(i, sizes[i]);
        check_reads_as(&text, &text);
        free(text.data);
    }
}

static void test_compressed_members(void)
{
    struct text text = random_text(3, TEXT_BYTES);
    for (size_t members = 1; members <= 4; members++) {
        struct text gzip = {NULL, 0};
        struct text bzip2 = {NULL, 0};
        struct text xz = {NULL, 0};
        append_gzip(&gzip, text.data, 0); /* an empty member first */
        for (size_t i = 0; i < members; i++) {
            size_t begin = TEXT_BYTES * i / members;
            size_t end = TEXT_BYTES * (i + 1) / members;
            append_gzip(&gzip, text.data + begin, end - begin);
            append_bzip2(&bzip2, text.data + begin, end - begin);
            append_xz(&xz, text.data + begin, end - begin);
        }
        check_reads_as(&gzip, &text);
        check_reads_as(&bzip2, &text);
        check_reads_as(&xz, &text);
        free(gzip.data);
        free(bzip2.data);
        free(xz.data);
    }
    free(text.data);
}

/* A text cut anywhere gives all data before the cut, then BT_DATA with the offset. */
static void check_cuts(const struct text *stored, const struct text *text)
{
    for (size_t size = 6; size < stored->size; size += 1 + stored->size / 50) {
        struct text cut = {stored->data, size};
        struct text got;
        struct bt_error error = {0};
        char offset[32];
        CU_ASSERT_EQUAL(read_memory(&cut, &got, &error), BT_DATA);
        CU_ASSERT(got.size <= text->size);
        CU_ASSERT(got.size == 0 || memcmp(got.data, text->data, got.size) == 0);
        snprintf(offset, sizeof offset, "offset %zu:", size);
        CU_ASSERT_PTR_NOT_NULL(strstr(error.message, offset));
        CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "cut off"));
        free(got.data);
    }
}

static void check_damage(const struct text *stored, const struct text *text)
{
    uint64_t state = random_seed(stored->size);
    for (int i = 0; i < 50; i++) {
        size_t at = stored->size / 2 + random_below(&state, stored->size / 2 - 4);
        struct text got;
        struct bt_error error = {0};
        stored->data[at] ^= 0x10;
        int result = read_memory(stored, &got, &error);
        /* neither container's checksum covers its own header and padding bits */
        CU_ASSERT(result == BT_DATA || same(&got, text));
        free(got.data);
        stored->data[at] ^= 0x10;
    }
}

static void test_cut_and_damaged(void)
{
    struct text text = random_text(9, 20000);
    struct text gzip = {NULL, 0};
    struct text bzip2 = {NULL, 0};
    struct text xz = {NULL, 0};
    append_gzip(&gzip, text.data, text.size);
    append_bzip2(&bzip2, text.data, text.size);
    append_xz(&xz, text.data, text.size);
    check_cuts(&gzip, &text);
    check_cuts(&bzip2, &text);
    check_cuts(&xz, &text);
    check_damage(&gzip, &text);
    check_damage(&bzip2, &text);
    check_damage(&xz, &text);
    free(text.data);
    free(gzip.data);
    free(bzip2.data);
    free(xz.data);
}

static void test_behind_the_members(void)
{
    struct text text = random_text(5, 1000);
    struct text stored = {NULL, 0};
    struct text got;
    struct bt_error error = {0};
    append_gzip(&stored, text.data, text.size);
    size_t end = stored.size;
    stored.data = realloc(stored.data, end + 600);
    memset(stored.data + end, 0, 600);
    stored.size = end + 512;
    CU_ASSERT_EQUAL(read_memory(&stored, &got, &error), 0);
    CU_ASSERT(same(&got, &text));
    free(got.data);
    stored.data[end + 511] = 'x';
    CU_ASSERT_EQUAL(read_memory(&stored, &got, &error), BT_DATA);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "other data after"));
    free(got.data);
    free(stored.data);
    free(text.data);
}

static void count_calls(void *argument, uint64_t offset, uint64_t size)
{
    (void)size;
    uint64_t *last = argument;
    CU_ASSERT(offset >= *last);
    *last = offset;
}

static void test_progress(void)
{
    struct text text = random_text(6, TEXT_BYTES);
    struct test_path *path = test_path_file(text.data, text.size);
    struct bt_error error = {0};
    struct text_reader *reader = text_reader_open(test_path_name(path), &error);
    struct text got;
    uint64_t last = 0;
    CU_ASSERT_PTR_NOT_NULL_FATAL(reader);
    text_reader_set_progress(reader, count_calls, &last);
    CU_ASSERT_EQUAL(read_all(reader, 1, &got, &error), 0);
    CU_ASSERT_EQUAL(last, TEXT_BYTES);
    text_reader_close(reader);
    free(got.data);
    test_path_free(path);
    free(text.data);
}

static void test_cannot_open(void)
{
    struct bt_error error = {0};
    CU_ASSERT_PTR_NULL(text_reader_open("/nowhere/at/all.json", &error));
    CU_ASSERT_EQUAL(error.code, BT_IO);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "/nowhere/at/all.json"));
    CU_ASSERT_PTR_NULL(text_reader_open("/", &error));
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "folder"));
}

/* What is peeked at is read, too; plain and compressed, in memory. */
static void test_peek(void)
{
    for (unsigned kind = 0; kind < 2; kind++)
        for (size_t size = 0; size < 200; size += size < 70 ? 1 : 60) {
            struct text text = random_text(size, size), file = {malloc(1), 0}, read;
            struct bt_error error;
            char first[TEXT_READER_PEEK_MAX];
            size_t got;
            if (kind > 0)
                append_gzip(&file, text.data, size);
            struct text_reader *reader = text_reader_from_memory(
                kind > 0 ? file.data : text.data, kind > 0 ? file.size : size, "x", &error);
            CU_ASSERT_PTR_NOT_NULL_FATAL(reader);
            CU_ASSERT_EQUAL(text_reader_peek(reader, first, 9, &got, &error), 0);
            CU_ASSERT_EQUAL(text_reader_peek(reader, first, sizeof first, &got, &error), 0);
            CU_ASSERT_EQUAL(got, size < sizeof first ? size : sizeof first);
            CU_ASSERT(memcmp(first, text.data, got) == 0);
            CU_ASSERT_EQUAL(read_all(reader, size, &read, &error), 0);
            CU_ASSERT(read.size == size && memcmp(read.data, text.data, size) == 0);
            text_reader_close(reader);
            free(read.data);
            free(file.data);
            free(text.data);
        }
}

static const struct test_case cases[] = {
    {"plain text of any size, from memory, files and pipes", test_plain},
    {"members of gzip, bzip2 and xz are one text", test_compressed_members},
    {"truncated and damaged data is reported with its offset", test_cut_and_damaged},
    {"zeros after the members are padding, other data is not", test_behind_the_members},
    {"progress goes up to the end", test_progress},
    {"errors name the file", test_cannot_open},
    {"the first bytes in advance", test_peek},
    {NULL, NULL}};
TEST_SUITE(text_reader, cases)
