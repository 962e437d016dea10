#include "tools/top/terminal.h"

#include "tests/suites.h"

#include <stdlib.h>
#include <string.h>

#define END "\033[K\r\n"

static void expect(const char *text, unsigned rows, unsigned columns, const char *wanted)
{
    size_t bytes;
    char *picture = terminal_picture(text, (struct terminal_size){rows, columns}, &bytes);
    CU_ASSERT_PTR_NOT_NULL_FATAL(picture);
    CU_ASSERT_STRING_EQUAL(picture, wanted);
    CU_ASSERT_EQUAL(bytes, strlen(wanted));
    free(picture);
}

static void test_picture(void)
{
    expect("", 3, 9, "\033[H\033[J");
    expect("one\n\ntwo\n", 9, 9, "\033[Hone" END END "two" END "\033[J");
    expect("one\ntwo\nthree", 3, 9, "\033[Hone" END "two" END "\033[J");
    expect("abcdef\ng\n", 5, 3, "\033[Habc" END "g" END "\033[J");
    expect("a\xc3\xb6\xe2\x82\xac"
           "b\n",
           5, 3, "\033[Ha\xc3\xb6\xe2\x82\xac" END "\033[J");
    expect("a\n", 1, 3, "\033[H\033[J");
}

static const struct test_case cases[] = {{"lines are cut at the screen's borders", test_picture},
                                         {NULL, NULL}};
TEST_SUITE(terminal, cases)
