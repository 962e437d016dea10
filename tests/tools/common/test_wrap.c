#include "tools/common/wrap.h"

#include "tests/suites.h"

#include <stdlib.h>
#include <string.h>

static char *wrapped(const char *text, unsigned column)
{
    char *made = NULL;
    size_t size;
    FILE *out = open_memstream(&made, &size);
    wrap_print(text, column, out);
    fclose(out);
    return made;
}

static void check(const char *text, unsigned column, const char *expected)
{
    char *made = wrapped(text, column);
    CU_ASSERT_STRING_EQUAL(made, expected);
    free(made);
}

#define FORTY "forty letters and digits 34567890 are it"

static void test_width(void)
{
    CU_ASSERT_EQUAL(strlen(FORTY), 40);
    check("", 4, "\n");
    check("one", 4, "one\n");
    check("one\ntwo\n\n three ", 4, "one two three\n");
    check(FORTY " " FORTY, 0, FORTY " forty letters and digits 34567890 are\nit\n");
    check(FORTY FORTY, 0, FORTY FORTY "\n"); /* exactly 80 columns */
    check(FORTY " forty letters and digits 34567890 it.", 2,
          FORTY " forty letters and digits 34567890 it.\n");
    check(FORTY " forty letters and digits 34567890 are", 3,
          FORTY " forty letters and digits 34567890\n   are\n");
}

static void test_long_words(void)
{
    char word[200];
    memset(word, 'x', sizeof word);
    word[199] = 0;
    char text[512];
    char expected[512];
    snprintf(text, sizeof text, "a %s b", word);
    snprintf(expected, sizeof expected, "a\n  %s\n  b\n", word);
    check(text, 2, expected);
}

static const struct test_case cases[] = {
    {"width", test_width}, {"long words", test_long_words}, {NULL, NULL}};
TEST_SUITE(wrap, cases)
