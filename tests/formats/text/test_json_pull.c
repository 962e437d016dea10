#include "formats/text/json_pull.h"

#include "tests/suites.h"
#include "tests/support/json_twin.h"
#include "tests/support/random.h"

#include <bzlib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- a document and a pull over it --- */

struct document {
    struct text_reader *reader;
    struct json_pull *pull;
    struct bt_error error;
};

static void open_settings(struct document *document, const void *text, size_t size,
                          const struct json_pull_settings *settings)
{
    memset(&document->error, 0, sizeof document->error);
    document->reader = text_reader_from_memory(text, size, "x.json", &document->error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(document->reader);
    document->pull = json_pull_new(document->reader, settings, &document->error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(document->pull);
}

static void open_text(struct document *document, const char *text)
{
    open_settings(document, text, strlen(text), NULL);
}

static void close_document(struct document *document)
{
    json_pull_free(document->pull);
    text_reader_close(document->reader);
}

/* Skips the document; returns 0 or its error. */
static int skip_all(const char *text, size_t size, bool strict, struct bt_error *error)
{
    struct document document;
    struct json_pull_settings settings = json_pull_settings_default();
    settings.strict = strict;
    open_settings(&document, text, size, &settings);
    int result = json_pull_skip(document.pull);
    if (result == 0)
        result = json_pull_end(document.pull);
    *error = document.error;
    close_document(&document);
    return result;
}

/* --- valid and invalid JSON --- */

static const char *const good[] = {
    "0",
    "-0",
    " [ ] ",
    "{}",
    "[1,2.5,-3e+7,0.0E-0,true,false,null,\"\",{\"a\":[{}]}]",
    "\"\\u00e9\\ud83d\\ude00\\\"\\\\\\/\\b\\f\\n\\r\\t\"",
    "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\xed\x9f\xbf\xee\x80\x80\xf4\x8f\xbf\xbf\"",
    "\r\n\t{\"a\" : 1 ,\n\"b\" : [ 1 , 2 ] }\n",
};

static const char *const bad[] = {
    "",
    " ",
    "[",
    "]",
    "{",
    "[1",
    "[1 2]",
    "[,]",
    "[1,,2]",
    "{\"a\"}",
    "{\"a\":}",
    "{\"a\":1,,}",
    "{a:1}",
    "{1:1}",
    "[1]]",
    "1 2",
    "+1",
    "-",
    "1.",
    ".5",
    "1e",
    "1e+",
    "0x10",
    "tru",
    "nul",
    "truex",
    "\"",
    "\"a",
    "\"\\\"",
    "\"\\x\"",
    "\"\\u12\"",
    "\"\\u12g4\"",
    "\"\\ud800\"",
    "\"\\udc00\"",
    "\"\\ud800\\u0041\"",
    "\"\n\"",
    "\"\x01\"",
    "\"\x80\"",
    "\"\xc0\xaf\"",
    "\"\xe0\x80\xaf\"",
    "\"\xed\xa0\x80\"",
    "\"\xf4\x90\x80\x80\"",
    "\"\xc3\"",
    "\"\xe2\x82",
    "[1}",
    "{\"a\":1]",
};

/* Accepted unless strict. */
static const char *const loose[] = {"[1,]", "[[],]",     "{\"a\":1,}",
                                    "007",  "[00, -01]", "{\"A\":04}"};

static void test_grammar(void)
{
    struct bt_error error;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        CU_ASSERT_EQUAL(skip_all(good[i], strlen(good[i]), true, &error), 0);
        CU_ASSERT(json_twin_valid(good[i], strlen(good[i])));
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        CU_ASSERT_EQUAL(skip_all(bad[i], strlen(bad[i]), false, &error), BT_DATA);
        CU_ASSERT_EQUAL(skip_all(bad[i], strlen(bad[i]), true, &error), BT_DATA);
        CU_ASSERT(!json_twin_valid(bad[i], strlen(bad[i])));
        CU_ASSERT(strncmp(error.message, "x.json: ", 8) == 0);
    }
    for (size_t i = 0; i < sizeof loose / sizeof *loose; i++) {
        CU_ASSERT_EQUAL(skip_all(loose[i], strlen(loose[i]), false, &error), 0);
        CU_ASSERT_EQUAL(skip_all(loose[i], strlen(loose[i]), true, &error), BT_DATA);
    }
    CU_ASSERT_EQUAL(skip_all("[1\0]", 4, false, &error), BT_DATA);
    CU_ASSERT_EQUAL(skip_all("\"\0\"", 3, false, &error), BT_DATA);
    CU_ASSERT_EQUAL(skip_all("1\0", 2, false, &error), BT_DATA);
}

/* Valid documents with one octet changed, removed or doubled: compared with the slow twin. */
static void test_mutations(void)
{
    struct bt_error error;
    unsigned valid = 0;
    for (uint64_t seed = 0; seed < 20000; seed++) {
        uint64_t state = random_seed(seed);
        size_t size;
        char *text = json_twin_random(&state, &size);
        CU_ASSERT_EQUAL(skip_all(text, size, true, &error), 0);
        size_t at = random_below(&state, size);
        static const char octets[] = "[]{},:\"\\0123456789-+.eEtfnu \n\x80\xc3\xed\xf0";
        switch (random_below(&state, 3)) {
        case 0:
            text[at] = octets[random_below(&state, sizeof octets)];
            break;
        case 1:
            memmove(text + at, text + at + 1, --size - at);
            break;
        default:
            size = at;
        }
        bool expected = json_twin_valid(text, size);
        CU_ASSERT_EQUAL(skip_all(text, size, true, &error), expected ? 0 : BT_DATA);
        valid += expected;
        free(text);
    }
    CU_ASSERT(valid > 1000 && valid < 19000);
}

/* --- values --- */

static void check_integer(const char *text, int result, uint64_t wanted)
{
    struct document document;
    uint64_t value = 0;
    open_text(&document, text);
    CU_ASSERT_EQUAL(json_pull_integer(document.pull, &value), result);
    if (result == 0) {
        CU_ASSERT_EQUAL(value, wanted);
        CU_ASSERT_EQUAL(json_pull_end(document.pull), 0);
    }
    close_document(&document);
}

static void test_integers(void)
{
    check_integer("0", 0, 0);
    check_integer("7", 0, 7);
    check_integer(" 4194304 ", 0, 4194304);
    check_integer("999999999999999999", 0, 999999999999999999);
    check_integer("9223372036854775808", 0, (uint64_t)1 << 63);
    check_integer("18446744073709551615", 0, UINT64_MAX);
    check_integer("18446744073709551616", BT_DATA, 0);
    check_integer("99999999999999999999999999", BT_DATA, 0);
    check_integer("0000000000000000000000000018446744073709551615", 0, UINT64_MAX);
    check_integer("04", 0, 4);
    check_integer("\"0x400000\"", 0, 4194304);
    check_integer("\"0XfFfFfFfFfFfFfFfF\"", 0, UINT64_MAX);
    check_integer("\"0x000000000000000000000001\"", 0, 1);
    check_integer("\"0x10000000000000000\"", BT_DATA, 0);
    check_integer("\"1234\"", 0, 1234);
    check_integer("\"0\"", 0, 0);
    check_integer("\"010\"", 0, 8);
    check_integer("\"\\u0030x1F\"", 0, 31);
    check_integer("\"\"", BT_DATA, 0);
    check_integer("\"0x\"", BT_DATA, 0);
    check_integer("\"08\"", BT_DATA, 0);
    check_integer("\"-1\"", BT_DATA, 0);
    check_integer("\" 1\"", BT_DATA, 0);
    check_integer("\"12a\"", BT_DATA, 0);
    check_integer("-1", BT_DATA, 0);
    check_integer("1.0", BT_DATA, 0);
    check_integer("1e3", BT_DATA, 0);
    check_integer("-", BT_DATA, 0);
    check_integer("null", BT_DATA, 0);
    check_integer("[1]", BT_DATA, 0);
    check_integer("", BT_DATA, 0);
}

static void test_random_integers(void)
{
    uint64_t state = random_seed(4);
    for (int i = 0; i < 5000; i++) {
        char text[40];
        uint64_t wanted = random_next(&state) >> random_below(&state, 64);
        snprintf(text, sizeof text, i % 2 ? "%llu" : "\"0x%llx\"", (unsigned long long)wanted);
        check_integer(text, 0, wanted);
    }
}

static void test_other_values(void)
{
    struct document document;
    double number = 0;
    open_text(&document, "[-12.5e-1, true, false, 18446744073709551616, null]");
    CU_ASSERT_EQUAL(json_pull_kind(document.pull), JSON_PULL_ARRAY);
    CU_ASSERT_EQUAL(json_pull_array(document.pull), 0);
    CU_ASSERT_EQUAL(json_pull_element(document.pull), 1);
    CU_ASSERT_EQUAL(json_pull_kind(document.pull), JSON_PULL_NUMBER);
    CU_ASSERT_EQUAL(json_pull_number(document.pull, &number), 0);
    CU_ASSERT_EQUAL(number, -1.25);
    CU_ASSERT_EQUAL(json_pull_element(document.pull), 1);
    CU_ASSERT_EQUAL(json_pull_kind(document.pull), JSON_PULL_TRUE);
    CU_ASSERT_EQUAL(json_pull_skip(document.pull), 0);
    CU_ASSERT_EQUAL(json_pull_element(document.pull), 1);
    CU_ASSERT_EQUAL(json_pull_kind(document.pull), JSON_PULL_FALSE);
    CU_ASSERT_EQUAL(json_pull_skip(document.pull), 0);
    CU_ASSERT_EQUAL(json_pull_element(document.pull), 1);
    CU_ASSERT_EQUAL(json_pull_number(document.pull, &number), 0);
    CU_ASSERT_EQUAL(number, 18446744073709551616.0);
    CU_ASSERT_EQUAL(json_pull_element(document.pull), 1);
    CU_ASSERT_EQUAL(json_pull_kind(document.pull), JSON_PULL_NULL);
    CU_ASSERT_EQUAL(json_pull_skip(document.pull), 0);
    CU_ASSERT_EQUAL(json_pull_element(document.pull), 0);
    CU_ASSERT_EQUAL(json_pull_end(document.pull), 0);
    close_document(&document);
}

static void check_string(const char *text, const char *wanted, size_t size)
{
    struct document document;
    struct json_pull_text got;
    open_text(&document, text);
    CU_ASSERT_EQUAL_FATAL(json_pull_string(document.pull, &got), 0);
    CU_ASSERT(got.size == size && memcmp(got.text, wanted, size) == 0);
    close_document(&document);
}

static void test_strings(void)
{
    check_string("\"\"", "", 0);
    check_string("\"abc\"", "abc", 3);
    check_string("\"\\\\usr\\\\joe\"", "\\usr\\joe", 8);
    check_string("\"\\/lib64\\/ld.so\"", "/lib64/ld.so", 12);
    check_string("\"\\u0041\\u00e9\\u20ac\\ud83d\\ude00\"", "A\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80",
                 10);
    check_string("\"a\\u0000b\"", "a\0b", 3);
    check_string("\"\\b\\f\\n\\r\\t\\\"\"", "\b\f\n\r\t\"", 6);
}

/* --- everything at every position in the buffer --- */

#define BUFFER_BYTES ((size_t)256 << 10) /* json_pull's */

/* The tail crosses the buffer's end at each of its octets. */
static void test_across_the_buffer(void)
{
    static const char tail[] = "\"k\\u00e9y\xc3\xa9\" : [ 12345678901, \"0x1f\", "
                               "\"\\ud83d\\ude00\xf0\x9f\x98\x80\\n\", true, -1.5e3 ] } ";
    size_t tail_size = sizeof tail - 1;
    char *text = malloc(BUFFER_BYTES + 2 * tail_size);
    for (size_t shift = 0; shift <= tail_size + 2; shift++) {
        size_t spaces = BUFFER_BYTES - tail_size - 1 + shift;
        struct document document;
        struct json_pull_text key, string;
        uint64_t a = 0, b = 0;
        double number = 0;
        memset(text, ' ', BUFFER_BYTES + tail_size);
        text[0] = '{';
        memcpy(text + 1 + spaces, tail, tail_size);
        open_settings(&document, text, 1 + spaces + tail_size, NULL);
        struct json_pull *pull = document.pull;
        CU_ASSERT_EQUAL(json_pull_object(pull), 0);
        CU_ASSERT_EQUAL(json_pull_key(pull, &key), 1);
        CU_ASSERT(json_pull_text_is(&key, "k\xc3\xa9y\xc3\xa9"));
        CU_ASSERT_EQUAL(json_pull_array(pull), 0);
        CU_ASSERT_EQUAL(json_pull_element(pull), 1);
        CU_ASSERT_EQUAL(json_pull_integer(pull, &a), 0);
        CU_ASSERT_EQUAL(json_pull_element(pull), 1);
        CU_ASSERT_EQUAL(json_pull_integer(pull, &b), 0);
        CU_ASSERT(a == 12345678901 && b == 31);
        CU_ASSERT_EQUAL(json_pull_element(pull), 1);
        CU_ASSERT_EQUAL(json_pull_string(pull, &string), 0);
        CU_ASSERT(json_pull_text_is(&string, "\xf0\x9f\x98\x80\xf0\x9f\x98\x80\n"));
        CU_ASSERT_EQUAL(json_pull_element(pull), 1);
        CU_ASSERT(json_pull_kind(pull) == JSON_PULL_TRUE && json_pull_skip(pull) == 0);
        CU_ASSERT_EQUAL(json_pull_element(pull), 1);
        CU_ASSERT(json_pull_number(pull, &number) == 0 && number == -1500);
        CU_ASSERT_EQUAL(json_pull_element(pull), 0);
        CU_ASSERT_EQUAL(json_pull_key(pull, &key), 0);
        CU_ASSERT_EQUAL(json_pull_end(pull), 0);
        CU_ASSERT_EQUAL(json_pull_offset(pull), 1 + spaces + tail_size);
        close_document(&document);
    }
    free(text);
}

/* A string of many buffers: whole, in pieces, and refused above the limit. */
static void test_long_strings(void)
{
    const size_t size = 5 * BUFFER_BYTES + 77;
    char *text = malloc(size + 2);
    struct json_pull_text got;
    struct document document;
    memset(text, 'x', size + 2);
    text[0] = text[size + 1] = '"';
    memcpy(text + BUFFER_BYTES - 3, "\xf0\x9f\x98\x80\\n", 6);
    open_settings(&document, text, size + 2, NULL);
    CU_ASSERT_EQUAL(json_pull_string(document.pull, &got), 0);
    CU_ASSERT_EQUAL(got.size, size - 1);
    CU_ASSERT(memcmp(got.text + BUFFER_BYTES - 4, "\xf0\x9f\x98\x80\nx", 6) == 0);
    close_document(&document);
    open_settings(&document, text, size + 2, NULL);
    size_t total = 0;
    int result = json_pull_string_begin(document.pull);
    while (result >= 0 && (result = json_pull_string_piece(document.pull, &got)) > 0) {
        CU_ASSERT(got.size > 0);
        total += got.size;
    }
    CU_ASSERT_EQUAL(result, 0);
    CU_ASSERT_EQUAL(total, size - 1);
    CU_ASSERT_EQUAL(json_pull_end(document.pull), 0);
    close_document(&document);
    struct json_pull_settings settings = json_pull_settings_default();
    settings.string_max = size - 2;
    open_settings(&document, text, size + 2, &settings);
    CU_ASSERT_EQUAL(json_pull_string(document.pull, &got), BT_DATA);
    CU_ASSERT_PTR_NOT_NULL(strstr(document.error.message, "limit"));
    close_document(&document);
    free(text);
}

/* --- integers by the row --- */

/* Integers in every notation, sometimes an invalid one; returns their number. */
static size_t random_row(uint64_t *state, char *text, size_t room, uint64_t *values, size_t most)
{
    static const char *const spaces[] = {"", "", "", " ", "  ", "\n"};
    size_t count = random_below(state, most + 1);
    size_t size = (size_t)snprintf(text, room, "[");
    for (size_t i = 0; i < count; i++) {
        unsigned long long value = random_next(state) >> random_below(state, 64);
        const char *comma = i > 0 ? "," : "";
        const char *space = spaces[random_below(state, 6)];
        values[i] = value;
        switch (random_below(state, 6)) {
        case 0:
            size +=
                (size_t)snprintf(text + size, room - size, "%s%s\"0x%llx\"", comma, space, value);
            break;
        case 1:
            size += (size_t)snprintf(text + size, room - size, "%s%s\"%llu\"", comma, space, value);
            break;
        case 2:
            size += (size_t)snprintf(text + size, room - size, "%s%s0%llu", comma, space, value);
            break;
        default:
            size += (size_t)snprintf(text + size, room - size, "%s%s%llu%s", comma, space, value,
                                     spaces[random_below(state, 6)]);
        }
    }
    snprintf(text + size, room - size, "]");
    return count;
}

/* The index of the current element, from the path's end. */
static uint64_t index_of(const struct json_pull *pull)
{
    char path[200];
    json_pull_path(pull, path, sizeof path);
    const char *bracket = strrchr(path, '[');
    return bracket ? strtoull(bracket + 1, NULL, 10) : UINT64_MAX;
}

static void check_row(struct json_pull *pull, uint64_t *state, const uint64_t *values, size_t count)
{
    static const struct json_pull_bounds low = {.minimum = 0, .maximum = 1000};
    static const struct json_pull_bounds all = {.minimum = 0, .maximum = UINT64_MAX};
    size_t done = 0;
    CU_ASSERT_EQUAL_FATAL(json_pull_array(pull), 0);
    for (;;) {
        uint64_t got[8];
        bool bounded = random_below(state, 2);
        size_t came =
            json_pull_integers(pull, bounded ? &low : &all, true, got, 1 + random_below(state, 8));
        CU_ASSERT_FATAL(done + came <= count);
        for (size_t i = 0; i < came; i++) {
            CU_ASSERT_EQUAL(got[i], values[done + i]);
            CU_ASSERT(!bounded || got[i] <= low.maximum);
        }
        done += came;
        CU_ASSERT(came == 0 || index_of(pull) == done - 1);
        if (json_pull_element(pull) == 0)
            break;
        CU_ASSERT_FATAL(done < count);
        CU_ASSERT_EQUAL(index_of(pull), done);
        CU_ASSERT_EQUAL_FATAL(json_pull_integer(pull, &got[0]), 0);
        CU_ASSERT_EQUAL(got[0], values[done++]);
    }
    CU_ASSERT_EQUAL(done, count);
}

static void test_rows_of_integers(void)
{
    char *text = malloc(BUFFER_BYTES + 4096);
    for (uint64_t seed = 0; seed < 4000; seed++) {
        uint64_t state = random_seed(seed);
        uint64_t values[40];
        struct document document;
        /* some across the end of the buffer */
        size_t spaces = seed % 4 ? 0 : BUFFER_BYTES - random_below(&state, 600);
        memset(text, ' ', spaces);
        size_t count = random_row(&state, text + spaces, 4096, values, 40);
        open_text(&document, text);
        check_row(document.pull, &state, values, count);
        CU_ASSERT_EQUAL(json_pull_end(document.pull), 0);
        close_document(&document);
    }
    free(text);
}

/* Texts that json_pull_integers() must not accept as integers. */
static void test_no_integers(void)
{
    static const char *const texts[] = {"[1.5]",
                                        "[1e3]",
                                        "[-1]",
                                        "[1 2]",
                                        "[1,,2]",
                                        "[\"0x\"]",
                                        "[\"0x1\",[]]",
                                        "[1,\"\"]",
                                        "[1",
                                        "[0x1]",
                                        "[\"0x1]",
                                        "[1}",
                                        "[18446744073709551616]",
                                        "[123456789012345678901]",
                                        "[\"0x10000000000000000\"]"};
    static const struct json_pull_bounds all = {.minimum = 0, .maximum = UINT64_MAX};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct document document;
        uint64_t values[4];
        open_text(&document, texts[i]);
        CU_ASSERT_EQUAL(json_pull_array(document.pull), 0);
        CU_ASSERT(json_pull_integers(document.pull, &all, true, values, 4) <= 1);
        int result = json_pull_element(document.pull);
        if (result > 0)
            result = json_pull_integer(document.pull, &values[0]);
        if (result == 0)
            result = json_pull_element(document.pull);
        CU_ASSERT_EQUAL(result, BT_DATA);
        close_document(&document);
    }
}

/* --- keys --- */

static void test_keys_twice(void)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"{\"a\":1,\"b\":2,\"A\":3,\"\":4,\"a \":5}", NULL},
        {"{\"a\":{\"a\":{\"a\":1},\"b\":1},\"b\":[{\"a\":1},{\"a\":1}],\"c\":{\"a\":1}}", NULL},
        {"{\"a\":1,\n\"a\":2}", "x.json: a (line 2, offset 11): duplicate key \"a\""},
        {"{\"a\":1,\"\\u0061\":2}", "x.json: a (line 1, offset 15): duplicate key \"a\""},
        {"{\"a\":{\"x\":[{},{\"y\":1}],\"b\":1,\"x\":1}}",
         "x.json: a.x (line 1, offset 32): duplicate key \"x\""},
        {"[{\"a\":{\"a\":1},\"b\":{\"a\":1},\"a\":1}]",
         "x.json: [0].a (line 1, offset 29): duplicate key \"a\""},
        {"{\"\":1,\"\":2}", "x.json: (line 1, offset 8): duplicate key \"\""},
    };
    struct bt_error error;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int result = skip_all(cases[i].text, strlen(cases[i].text), true, &error);
        CU_ASSERT_EQUAL(result, cases[i].message ? BT_DATA : 0);
        if (cases[i].message)
            CU_ASSERT_STRING_EQUAL(error.message, cases[i].message);
        CU_ASSERT_EQUAL(json_twin_valid(cases[i].text, strlen(cases[i].text)), !cases[i].message);
    }
}

/* Half a million different keys take time that grows with their number, and no more memory than the
 * limit; the last one is a duplicate. */
static void test_many_keys(void)
{
    const unsigned count = 500000;
    char *text = NULL;
    size_t size;
    struct bt_error error;
    FILE *file = open_memstream(&text, &size);
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    fputs("{\"0\":{\"inner\":0}", file);
    for (unsigned i = 1; i < count; i++)
        fprintf(file, ",\"%u\":{\"inner\":0}", i);
    fputc('}', file);
    fclose(file);
    CU_ASSERT_EQUAL(skip_all(text, size, true, &error), 0);
    memcpy(text + size - strlen("\"499999\":{\"inner\":0}}"), "\"123456\"", 8);
    CU_ASSERT_EQUAL(skip_all(text, size, true, &error), BT_DATA);
    CU_ASSERT(strstr(error.message, "duplicate key \"123456\"") != NULL);
    struct json_pull_settings settings = json_pull_settings_default();
    struct document document;
    settings.keys_max = 1u << 20;
    open_settings(&document, text, size, &settings);
    CU_ASSERT_EQUAL(json_pull_skip(document.pull), BT_DATA);
    CU_ASSERT(strstr(document.error.message, "keys of more than 1048576 bytes: the limit") != NULL);
    close_document(&document);
    free(text);
}

/* --- errors and limits --- */

static void test_error_place(void)
{
    struct document document;
    struct json_pull_text key;
    uint64_t value;
    open_text(&document, "{\"PROCESSES\" :\n [[\"A\"], [ 7,\n {\"EDGES\":[[1],[2,true]]}]]}");
    struct json_pull *pull = document.pull;
    CU_ASSERT_EQUAL(json_pull_object(pull), 0);
    CU_ASSERT_EQUAL(json_pull_key(pull, &key), 1);
    CU_ASSERT_EQUAL(json_pull_array(pull), 0);
    CU_ASSERT_EQUAL(json_pull_element(pull), 1);
    CU_ASSERT_EQUAL(json_pull_skip(pull), 0);
    CU_ASSERT_EQUAL(json_pull_element(pull), 1);
    CU_ASSERT_EQUAL(index_of(pull), 1);
    CU_ASSERT_EQUAL(json_pull_array(pull), 0);
    CU_ASSERT_EQUAL(json_pull_element(pull), 1);
    CU_ASSERT_EQUAL(json_pull_integer(pull, &value), 0);
    CU_ASSERT_EQUAL(json_pull_element(pull), 1);
    CU_ASSERT_EQUAL(json_pull_object(pull), 0);
    CU_ASSERT_EQUAL(json_pull_key(pull, &key), 1);
    CU_ASSERT_EQUAL(json_pull_array(pull), 0);
    CU_ASSERT_EQUAL(json_pull_element(pull), 1);
    CU_ASSERT_EQUAL(json_pull_skip(pull), 0);
    CU_ASSERT_EQUAL(json_pull_element(pull), 1);
    CU_ASSERT_EQUAL(json_pull_array(pull), 0);
    CU_ASSERT_EQUAL(json_pull_element(pull), 1);
    CU_ASSERT_EQUAL(json_pull_integer(pull, &value), 0);
    CU_ASSERT_EQUAL(json_pull_element(pull), 1);
    CU_ASSERT_EQUAL(json_pull_integer(pull, &value), BT_DATA);
    CU_ASSERT_STRING_EQUAL(document.error.message,
                           "x.json: PROCESSES[1][1].EDGES[1][1] (line 3, offset 47): "
                           "'t' where an integer is expected");
    CU_ASSERT_EQUAL(json_pull_element(pull), BT_DATA); /* the error is permanent */
    close_document(&document);
}

static void test_limits(void)
{
    struct bt_error error;
    struct document document;
    struct json_pull_settings settings = json_pull_settings_default();
    char deep[1000];
    memset(deep, '[', sizeof deep);
    CU_ASSERT_EQUAL(skip_all(deep, sizeof deep, false, &error), BT_DATA);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "more than 64 levels of arrays and objects"));
    settings.depth_max = 500;
    memset(deep + 500, ']', 500);
    open_settings(&document, deep, 1000, &settings);
    CU_ASSERT_EQUAL(json_pull_skip(document.pull), 0);
    close_document(&document);
    settings.text_max = 999;
    open_settings(&document, deep, 1000, &settings);
    CU_ASSERT_EQUAL(json_pull_skip(document.pull), BT_DATA);
    CU_ASSERT_PTR_NOT_NULL(strstr(document.error.message, "999 bytes"));
    close_document(&document);
    char *digits = malloc(100000);
    memset(digits, '1', 100000);
    CU_ASSERT_EQUAL(skip_all(digits, 100000, false, &error), BT_DATA);
    CU_ASSERT_EQUAL(skip_all(digits, 512, false, &error), 0);
    free(digits);
}

/* bzip2 packs a hundred million spaces into a few octets: most of them are not read. */
static void test_expansion(void)
{
    enum { SPACES = 40 << 20, MEMBERS = 3 };
    struct json_pull_settings settings = json_pull_settings_default();
    struct document document;
    char packed[1000 * MEMBERS];
    char *spaces = malloc(SPACES);
    unsigned size = 1000;
    CU_ASSERT_FATAL(spaces != NULL);
    memset(spaces, ' ', SPACES);
    CU_ASSERT_EQUAL_FATAL(BZ2_bzBuffToBuffCompress(packed, &size, spaces, SPACES, 9, 0, 0), BZ_OK);
    free(spaces);
    for (unsigned i = 1; i < MEMBERS; i++)
        memcpy(packed + i * size, packed, size);
    open_settings(&document, packed, (size_t)size * MEMBERS, &settings);
    CU_ASSERT_EQUAL(json_pull_end(document.pull), BT_DATA);
    CU_ASSERT_PTR_NOT_NULL(strstr(document.error.message, "expands to more than 1000 times"));
    CU_ASSERT(json_pull_offset(document.pull) < 70 << 20);
    close_document(&document);
    settings.expansion_max = 0;
    open_settings(&document, packed, (size_t)size * MEMBERS, &settings);
    CU_ASSERT_EQUAL(json_pull_end(document.pull), 0);
    close_document(&document);
}

static const struct test_case cases[] = {
    {"duplicate keys", test_keys_twice},
    {"many keys", test_many_keys},
    {"valid and invalid JSON", test_grammar},
    {"changed documents, against a slow twin", test_mutations},
    {"integers, as numbers and as strings", test_integers},
    {"random integers", test_random_integers},
    {"other values", test_other_values},
    {"strings", test_strings},
    {"everything across the end of the buffer", test_across_the_buffer},
    {"strings longer than the buffer", test_long_strings},
    {"rows of integers, against one by one", test_rows_of_integers},
    {"invalid rows of integers", test_no_integers},
    {"errors name file, path, line and offset", test_error_place},
    {"limits", test_limits},
    {"texts that expand without end", test_expansion},
    {NULL, NULL}};
TEST_SUITE(json_pull, cases)
