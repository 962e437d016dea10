#include "formats/text/json_put.h"

#include "formats/text/json_pull.h"
#include "tests/suites.h"
#include "tests/support/folder.h"
#include "tests/support/full_disk.h"
#include "tests/support/json_twin.h"
#include "tests/support/random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct output {
    struct text_writer *writer;
    struct json_put *put;
};

static void begin(struct output *output)
{
    struct bt_error error;
    output->writer = text_writer_new_memory(&error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(output->writer);
    output->put = json_put_new(output->writer, &error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(output->put);
}

/* Returns the text, valid until end(). */
static const char *finish(struct output *output, size_t *size)
{
    struct bt_error error;
    CU_ASSERT_EQUAL(json_put_finish(output->put, &error), 0);
    return text_writer_memory(output->writer, size);
}

static void end(struct output *output)
{
    json_put_free(output->put);
    text_writer_free(output->writer);
}

static void test_layout(void)
{
    static const char wanted[] =
        "{\"A\":1,\n\"B\":[\n[\"X\",\"Y\"],\n[\"0x0\",\"0xffffffffffffffff\"],[]],\"C\":{},"
        "\"D\":18446744073709551615\n}";
    struct output output;
    size_t size;
    begin(&output);
    struct json_put *put = output.put;
    json_put_object(put);
    json_put_key(put, "A");
    json_put_integer(put, 1);
    json_put_line(put);
    json_put_key(put, "B");
    json_put_array(put);
    json_put_line(put);
    json_put_array(put);
    json_put_string(put, "X", 1);
    json_put_string(put, "Y", 1);
    json_put_array_end(put);
    json_put_line(put);
    json_put_array(put);
    json_put_hex(put, 0);
    json_put_hex(put, UINT64_MAX);
    json_put_array_end(put);
    json_put_array(put);
    json_put_array_end(put);
    json_put_array_end(put);
    json_put_key(put, "C");
    json_put_object(put);
    json_put_object_end(put);
    json_put_key(put, "D");
    json_put_integer(put, UINT64_MAX);
    json_put_line(put);
    json_put_object_end(put);
    const char *text = finish(&output, &size);
    CU_ASSERT(size == sizeof wanted - 1 && memcmp(text, wanted, size) == 0);
    end(&output);
}

static void check_string(const char *text, size_t text_size, const char *wanted)
{
    struct output output;
    size_t size;
    begin(&output);
    json_put_string(output.put, text, text_size);
    const char *got = finish(&output, &size);
    CU_ASSERT(size == strlen(wanted) && memcmp(got, wanted, size) == 0);
    end(&output);
}

static void test_strings(void)
{
    check_string("", 0, "\"\"");
    check_string("plain text, longer than a word", 30, "\"plain text, longer than a word\"");
    check_string("\"\\/\b\f\n\r\t\x01\x1f\x7f", 11,
                 "\"\\\"\\\\/\\b\\f\\n\\r\\t\\u0001\\u001f\\u007f\"");
    check_string("\xc2\x9b[\xc2\xa0\x7f\xc2\x80", 8, "\"\\u009b[\xc2\xa0\\u007f\\u0080\"");
    check_string("a\0b", 3, "\"a\\u0000b\"");
    check_string("\xc3\xa9\xf0\x9f\x98\x80", 6, "\"\xc3\xa9\xf0\x9f\x98\x80\"");
    check_string("\xe9 \xed\xa0\x80", 5, "\"\xef\xbf\xbd \xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");
}

/* Random values of any size, written and read again. */
static void test_round_trip(void)
{
    uint64_t state = random_seed(11);
    struct output output;
    size_t size;
    const int count = 60000;
    char octets[300];
    begin(&output);
    json_put_array(output.put);
    uint64_t again = state;
    for (int i = 0; i < count; i++) {
        uint64_t value = random_next(&state) >> random_below(&state, 64);
        size_t length = value % sizeof octets;
        random_fill(&state, (uint8_t *)octets, length);
        for (size_t k = 0; k < length; k++)
            octets[k] &= 0x7f;
        if (i % 3 == 0)
            json_put_string(output.put, octets, length);
        else if (i % 3 == 1)
            json_put_integer(output.put, value);
        else
            json_put_hex(output.put, value);
    }
    json_put_array_end(output.put);
    const char *text = finish(&output, &size);
    CU_ASSERT(json_twin_valid(text, size));
    struct bt_error error;
    struct text_reader *reader = text_reader_from_memory(text, size, "again", &error);
    struct json_pull *pull = json_pull_new(reader, NULL, &error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(pull);
    CU_ASSERT_EQUAL(json_pull_array(pull), 0);
    int right = 0;
    for (int i = 0; i < count && json_pull_element(pull) == 1; i++) {
        uint64_t value = random_next(&again) >> random_below(&again, 64);
        size_t length = value % sizeof octets;
        struct json_pull_text string;
        uint64_t got = 0;
        random_fill(&again, (uint8_t *)octets, length);
        for (size_t k = 0; k < length; k++)
            octets[k] &= 0x7f;
        if (i % 3 == 0)
            right += json_pull_string(pull, &string) == 0 && string.size == length &&
                     memcmp(string.text, octets, length) == 0;
        else
            right += json_pull_integer(pull, &got) == 0 && got == value;
    }
    CU_ASSERT_EQUAL(right, count);
    CU_ASSERT_EQUAL(json_pull_element(pull), 0);
    json_pull_free(pull);
    text_reader_close(reader);
    end(&output);
}

static void test_failure_is_kept(void)
{
    char folder[FOLDER_PATH_BYTES];
    char path[FOLDER_PATH_BYTES + 8];
    struct bt_error error = {0};
    folder_make(folder);
    snprintf(path, sizeof path, "%s/x", folder);
    struct text_writer *writer = text_writer_new(path, &error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(writer);
    struct json_put *put = json_put_new(writer, &error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(put);
    full_disk_begin(100000);
    for (int i = 0; i < 100000; i++)
        json_put_integer(put, 123456);
    full_disk_end();
    CU_ASSERT_EQUAL(json_put_finish(put, &error), BT_FULL);
    CU_ASSERT_EQUAL(error.code, BT_FULL);
    json_put_free(put);
    text_writer_free(writer);
    folder_remove(folder);
}

static const struct test_case cases[] = {{"commas and lines", test_layout},
                                         {"strings are escaped", test_strings},
                                         {"written text reads back", test_round_trip},
                                         {"a failure is kept until the end", test_failure_is_kept},
                                         {NULL, NULL}};
TEST_SUITE(json_put, cases)
