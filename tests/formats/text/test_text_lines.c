#include "formats/text/text_lines.h"

#include "tests/suites.h"
#include "tests/support/random.h"

#include <stdlib.h>
#include <string.h>

static struct text_lines *begin(const char *text, size_t size, size_t longest,
                                struct text_reader **reader)
{
    struct bt_error error;
    *reader = text_reader_from_memory(text, size, "x", &error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(*reader);
    struct text_lines *lines = text_lines_new(*reader, longest, &error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(lines);
    return lines;
}

static void check_line(struct text_lines *lines, const char *wanted, uint64_t number, bool is_cut,
                       bool has_newline)
{
    struct text_line line;
    struct bt_error error;
    CU_ASSERT_EQUAL(text_lines_next(lines, &line, &error), 1);
    CU_ASSERT_STRING_EQUAL(line.text, wanted);
    CU_ASSERT_EQUAL(line.size, strlen(wanted));
    CU_ASSERT_EQUAL(line.number, number);
    CU_ASSERT_EQUAL(line.is_cut, is_cut);
    CU_ASSERT_EQUAL(line.has_newline, has_newline);
}

static void test_lines(void)
{
    static const char text[] = "one\n\nthree 345\nfour four\n12345678\nend";
    struct text_reader *reader;
    struct bt_error error;
    struct text_line line;
    struct text_lines *lines = begin(text, strlen(text), 8, &reader);
    check_line(lines, "one", 1, false, true);
    check_line(lines, "", 2, false, true);
    check_line(lines, "three 3", 3, true, true);
    check_line(lines, "four fo", 4, true, true);
    check_line(lines, "12345678", 5, false, true);
    check_line(lines, "end", 6, false, false);
    CU_ASSERT_EQUAL(text_lines_next(lines, &line, &error), 0);
    CU_ASSERT_EQUAL(text_lines_next(lines, &line, &error), 0);
    text_lines_free(lines);
    text_reader_close(reader);
}

/* Lines of random lengths, also longer than the buffer, against a search for newlines. */
static void test_random(void)
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        uint64_t state = random_seed(seed);
        const size_t size = random_below(&state, 400000), longest = 1 + random_below(&state, 3000);
        char *text = malloc(size + 1);
        const uint64_t between = 1 + random_below(&state, seed % 2 ? 100000 : 2000);
        for (size_t i = 0; i < size; i++)
            text[i] = random_one_in(&state, between) ? '\n' : 'a';
        struct text_reader *reader;
        struct text_lines *lines = begin(text, size, longest, &reader);
        struct text_line line;
        struct bt_error error;
        size_t at = 0;
        uint64_t number = 0;
        while (text_lines_next(lines, &line, &error) > 0) {
            const char *newline = memchr(text + at, '\n', size - at);
            const size_t length = newline ? (size_t)(newline - text) - at : size - at;
            CU_ASSERT_EQUAL_FATAL(line.number, ++number);
            CU_ASSERT_EQUAL_FATAL(line.is_cut, length > longest);
            CU_ASSERT_EQUAL_FATAL(line.size, line.is_cut ? longest - 1 : length);
            CU_ASSERT_FATAL(memcmp(line.text, text + at, line.size) == 0);
            CU_ASSERT_FATAL(line.is_cut || line.has_newline == (newline != NULL));
            at += length + (newline != NULL);
        }
        CU_ASSERT_EQUAL(at, size);
        text_lines_free(lines);
        text_reader_close(reader);
        free(text);
    }
}

static const struct test_case cases[] = {{"lines, long ones, and the last one", test_lines},
                                         {"random texts", test_random},
                                         {NULL, NULL}};
TEST_SUITE(text_lines, cases)
