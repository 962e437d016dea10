/* WET files: read again; cut off at every byte; with every byte changed; through a pipe. */
#include "formats/wet/wet_file.h"
#include "tests/suites.h"
#include "tests/support/files.h"
#include "tests/support/wet_made.h"

#include <stdio.h>
#include <string.h>

/* Opens a file with these bytes. */
static int open_bytes(struct wet_file *file, const uint8_t *bytes, size_t size,
                      struct bt_error *error)
{
    struct test_path *path = test_path_file(bytes, size);
    const int result = wet_file_open(file, test_path_name(path), error);
    test_path_free(path);
    return result;
}

/* Whether all chunks of a file are those of another one, which may have more. */
static bool has_chunks_of(struct wet_file *file, struct wet_file *whole)
{
    struct wet_chunk one = {.streams = {{.bytes = NULL}}}, other = one;
    struct bt_error error;
    bool same = file->place_count <= whole->place_count;
    for (size_t i = 0; i < file->place_count && same; i++) {
        same = wet_file_chunk(file, i, &one, &error) == 0 &&
               wet_file_chunk(whole, i, &other, &error) == 0;
        for (unsigned k = 0; k < WET_STREAMS && same; k++)
            same = one.streams[k].size == other.streams[k].size &&
                   (one.streams[k].size == 0 ||
                    memcmp(one.streams[k].bytes, other.streams[k].bytes, one.streams[k].size) == 0);
    }
    wet_chunk_clear(&one);
    wet_chunk_clear(&other);
    return same;
}

static void check_whole(const struct wet_file *file, size_t size)
{
    CU_ASSERT(file->is_wet);
    CU_ASSERT(file->is_closed);
    CU_ASSERT(!file->is_cut);
    CU_ASSERT_EQUAL(file->size, size);
    CU_ASSERT_EQUAL(file->end, size);
    CU_ASSERT_STRING_EQUAL(file->header.command, "made 1");
    CU_ASSERT_EQUAL(file->place_count, 2);
    CU_ASSERT_EQUAL(file->places[0].first, 0);
    CU_ASSERT_EQUAL(file->places[0].instructions, 2 + 4 * 4);
    CU_ASSERT_EQUAL(file->places[1].first, 2 + 4 * 4);
    CU_ASSERT_EQUAL(file->places[1].instructions, 6 * 4 + 1);
    CU_ASSERT_EQUAL(file->places[1].execution_count, 2);
    CU_ASSERT_EQUAL(file->closing.instructions, 2 + 4 * 10 + 1);
    CU_ASSERT_EQUAL(file->closing.ending, WET_EXITED);
    CU_ASSERT_EQUAL(file->code.instruction_count, WET_MADE_IDS + 1);
}

static void test_round_trip(void)
{
    struct wet_bytes bytes = {.bytes = NULL};
    struct wet_file file, piped;
    struct bt_error error;
    wet_made_loop(&bytes, 10, 4);
    CU_ASSERT_EQUAL_FATAL(open_bytes(&file, bytes.bytes, bytes.size, &error), 0);
    check_whole(&file, bytes.size);
    struct test_path *pipe = test_path_pipe(bytes.bytes, bytes.size);
    CU_ASSERT_EQUAL_FATAL(wet_file_open(&piped, test_path_name(pipe), &error), 0);
    check_whole(&piped, bytes.size);
    CU_ASSERT(has_chunks_of(&piped, &file));
    test_path_free(pipe);
    wet_file_close(&file);
    wet_file_close(&piped);
    free(bytes.bytes);
}

static void test_cut(void)
{
    struct wet_bytes bytes = {.bytes = NULL};
    struct wet_file whole, file;
    struct bt_error error = {.code = 0};
    size_t opened = 0, places = 0;
    wet_made_loop(&bytes, 10, 4);
    CU_ASSERT_EQUAL_FATAL(open_bytes(&whole, bytes.bytes, bytes.size, &error), 0);
    for (size_t size = 0; size < bytes.size; size++) {
        const int result = open_bytes(&file, bytes.bytes, size, &error);
        CU_ASSERT(result == 0 || (result == BT_DATA && opened == 0));
        opened += result == 0;
        if (result == 0) {
            CU_ASSERT(!file.is_closed);
            CU_ASSERT(file.is_cut || file.end == size);
            CU_ASSERT(file.place_count >= places);
            CU_ASSERT(has_chunks_of(&file, &whole));
            places = file.place_count;
        }
        wet_file_close(&file);
    }
    CU_ASSERT_EQUAL(places, 2);
    CU_ASSERT(opened > bytes.size / 2);
    wet_file_close(&whole);
    free(bytes.bytes);
}

/* What is damaged is noticed; what is before it can be read. Bytes that readers ignore do not
 * matter. */
static void test_damage(void)
{
    struct wet_bytes bytes = {.bytes = NULL};
    struct wet_file whole, file;
    struct bt_error error;
    size_t unnoticed = 0;
    wet_made_loop(&bytes, 10, 4);
    CU_ASSERT_EQUAL_FATAL(open_bytes(&whole, bytes.bytes, bytes.size, &error), 0);
    for (size_t i = 0; i < bytes.size; i++) {
        bytes.bytes[i] ^= (uint8_t)(1u << i % 8);
        const int result = open_bytes(&file, bytes.bytes, bytes.size, &error);
        CU_ASSERT(result == 0 || (result == BT_DATA && i < 200));
        struct wet_chunk chunk = {.streams = {{.bytes = NULL}}};
        bool damaged = result < 0 || file.is_cut;
        for (size_t k = 0; k < file.place_count; k++)
            damaged |= wet_file_chunk(&file, k, &chunk, &error) == BT_DATA;
        if (!damaged) {
            CU_ASSERT(has_chunks_of(&file, &whole));
            unnoticed++;
        }
        wet_chunk_clear(&chunk);
        wet_file_close(&file);
        bytes.bytes[i] ^= (uint8_t)(1u << i % 8);
    }
    CU_ASSERT_EQUAL(unnoticed, 0);
    wet_file_close(&whole);
    free(bytes.bytes);
}

/* A file that becomes shorter while it is read. */
static void test_shorter(void)
{
    struct wet_bytes bytes = {.bytes = NULL};
    struct wet_file file;
    struct wet_chunk chunk = {.streams = {{.bytes = NULL}}};
    struct bt_error error;
    wet_made_loop(&bytes, 10, 4);
    struct test_path *path = test_path_file(bytes.bytes, bytes.size);
    CU_ASSERT_EQUAL_FATAL(wet_file_open(&file, test_path_name(path), &error), 0);
    FILE *stream = fopen(test_path_name(path), "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(stream);
    fclose(stream);
    CU_ASSERT_EQUAL(wet_file_chunk(&file, 0, &chunk, &error), BT_DATA);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "become shorter"));
    wet_chunk_clear(&chunk);
    wet_file_close(&file);
    test_path_free(path);
    free(bytes.bytes);
}

static const struct test_case cases[] = {{"round trip", test_round_trip},
                                         {"cut off at every byte", test_cut},
                                         {"every byte changed", test_damage},
                                         {"becomes shorter", test_shorter},
                                         {NULL, NULL}};
TEST_SUITE(wet_file, cases)
