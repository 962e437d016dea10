#include "capture/json.h"
#include "tests/suites.h"

/* The object that json holds is to be wanted; frees json. */
static void check_object(yajl_gen json, const char *wanted)
{
    const unsigned char *text;
    size_t size;
    yajl_gen_map_close(json);
    CU_ASSERT_EQUAL(yajl_gen_get_buf(json, &text, &size), yajl_gen_status_ok);
    CU_ASSERT_STRING_EQUAL((const char *)text, wanted);
    yajl_gen_free(json);
}

static yajl_gen begin_object(void)
{
    yajl_gen json = yajl_gen_alloc(NULL);
    yajl_gen_map_open(json);
    return json;
}

static void check_text(const char *value, const char *wanted)
{
    yajl_gen json = begin_object();
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
    yajl_gen json = begin_object();
    json_count(json, "none", 0);
    json_count(json, "most", UINT64_MAX);
    json_bool(json, "yes", true);
    json_bool(json, "no", false);
    json_real(json, "half", 0.5);
    json_seconds(json, "long", 1e6);
    json_seconds(json, "short", 0.0123);
    check_object(json, "{\"none\":0,\"most\":18446744073709551615,\"yes\":true,\"no\":false,"
                       "\"half\":0.5,\"long\":1000000.000,\"short\":0.012}");
}

static const struct test_case cases[] = {{"text of any octets", test_text_of_any_octets},
                                         {"numbers and truth", test_other_values},
                                         {NULL, NULL}};
TEST_SUITE(json, cases)
