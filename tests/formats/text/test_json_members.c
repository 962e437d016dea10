#include "formats/text/json_members.h"

#include "tests/suites.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct json_put *begin_object(void)
{
    struct json_put *json = json_put_new_memory();
    CU_ASSERT_PTR_NOT_NULL_FATAL(json);
    json_put_object(json);
    return json;
}

/* Compares the text of the object in json with wanted; frees json. */
static void check_object(struct json_put *json, const char *wanted)
{
    size_t size = 0;
    json_put_object_end(json);
    char *text = json_put_take(json, &size);
    CU_ASSERT_PTR_NOT_NULL_FATAL(text);
    CU_ASSERT_STRING_EQUAL(text, wanted);
    CU_ASSERT_EQUAL(size, strlen(wanted));
    free(text);
}

static void check_text(const char *value, const char *wanted)
{
    struct json_put *json = begin_object();
    json_text(json, "k", value);
    check_object(json, wanted);
}

static void test_text_of_any_octets(void)
{
    check_text("", "{\"k\":\"\"}");
    check_text("plain", "{\"k\":\"plain\"}");
    check_text("quote\" \\ \n", "{\"k\":\"quote\\\" \\\\ \\n\"}");
    check_text("\x1b[2J", "{\"k\":\"\\u001B[2J\"}");
    check_text("\xc3\xbc \xe2\x82\xac \xf0\x9f\x99\x82",
               "{\"k\":\"\xc3\xbc \xe2\x82\xac \xf0\x9f\x99\x82\"}");
    check_text("a\x7f\xc2\x9b"
               "31m\xc2\xa0",
               "{\"k\":\"a\\u007F\\u009B31m\xc2\xa0\"}");
    check_text("\b\f\r\t\x01", "{\"k\":\"\\b\\f\\r\\t\\u0001\"}");
    check_text("\xff", "{\"k\":\"\xef\xbf\xbd\"}");
    check_text("\xc3", "{\"k\":\"\xef\xbf\xbd\"}");
    check_text("\xe2\x82", "{\"k\":\"\xef\xbf\xbd\xef\xbf\xbd\"}");
    check_text("\xed\xa0\x80", "{\"k\":\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"}");
    check_text("\xc0\x80", "{\"k\":\"\xef\xbf\xbd\xef\xbf\xbd\"}");
}

static void test_other_values(void)
{
    struct json_put *json = begin_object();
    json_count(json, "none", 0);
    json_count(json, "most", UINT64_MAX);
    json_bool(json, "yes", true);
    json_bool(json, "no", false);
    json_seconds(json, "long", 1e6);
    json_seconds(json, "short", 0.0123);
    json_null(json, "null");
    json_text_or_null(json, "empty", "");
    json_text_or_null(json, "some", "x");
    json_object(json, "object");
    json_put_object_end(json);
    json_array(json, "array");
    json_string(json, "x");
    json_put_number(json, "%d", -5);
    json_put_array_end(json);
    check_object(json, "{\"none\":0,\"most\":18446744073709551615,\"yes\":true,\"no\":false,"
                       "\"long\":1000000.000,\"short\":0.012,\"null\":null,\"empty\":null,"
                       "\"some\":\"x\",\"object\":{},\"array\":[\"x\",-5]}");
}

static void test_real_numbers(void)
{
    struct json_put *json = begin_object();
    json_real(json, "half", 0.5);
    json_real(json, "whole", -3);
    json_real(json, "third", 1.0 / 3);
    json_real(json, "large", 1e300);
    json_real(json, "infinite", -INFINITY);
    json_real(json, "none", NAN);
    json_seconds(json, "most", 1e308);
    json_put_object_end(json);
    char *text = json_put_take(json, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(text);
    static const char wanted[] = "{\"half\":0.5,\"whole\":-3.0,\"third\":0.33333333333333331483,"
                                 "\"large\":1.0000000000000000525e+300,\"infinite\":null,"
                                 "\"none\":null,\"most\":";
    CU_ASSERT_EQUAL(strncmp(text, wanted, sizeof wanted - 1), 0);
    CU_ASSERT_EQUAL(strlen(text), sizeof wanted - 1 + 309 + 4 + 1);
    free(text);
}

/* Indented for people; an empty array or object contains an empty line. */
static void test_indented(void)
{
    static const char wanted[] = "{\n  \"a\": 1,\n  \"b\": [\n    {\n      \"c\": \"d\"\n    },\n"
                                 "    [\n\n    ],\n    2\n  ],\n  \"e\": {\n\n  }\n}\n";
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    CU_ASSERT_PTR_NOT_NULL_FATAL(out);
    struct json_put *json = json_put_new_stream(out, true);
    CU_ASSERT_PTR_NOT_NULL_FATAL(json);
    json_put_object(json);
    json_count(json, "a", 1);
    json_array(json, "b");
    json_put_object(json);
    json_text(json, "c", "d");
    json_put_object_end(json);
    json_put_array(json);
    json_put_array_end(json);
    json_put_integer(json, 2);
    json_put_array_end(json);
    json_object(json, "e");
    json_put_object_end(json);
    json_put_object_end(json);
    CU_ASSERT_EQUAL(json_put_finish(json, NULL), 0);
    json_put_free(json);
    fclose(out);
    CU_ASSERT_STRING_EQUAL(text, wanted);
    free(text);
}

static void test_failed_stream(void)
{
    struct bt_error error = {0};
    FILE *out = fopen("/dev/full", "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(out);
    struct json_put *json = json_put_new_stream(out, true);
    CU_ASSERT_PTR_NOT_NULL_FATAL(json);
    CU_ASSERT_FALSE(json_put_failed(json));
    json_put_array(json);
    for (int i = 0; i < 200000; i++)
        json_put_integer(json, 123456);
    json_put_array_end(json);
    CU_ASSERT(json_put_failed(json));
    CU_ASSERT_EQUAL(json_put_finish(json, &error), BT_FULL);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "No space left"));
    json_put_free(json);
    fclose(out);
}

static const struct test_case cases[] = {{"text of any octets", test_text_of_any_octets},
                                         {"counts, truth, nothing", test_other_values},
                                         {"real numbers", test_real_numbers},
                                         {"indented", test_indented},
                                         {"a stream that fails", test_failed_stream},
                                         {NULL, NULL}};
TEST_SUITE(json_members, cases)
