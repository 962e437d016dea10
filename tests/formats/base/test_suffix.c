#include "formats/base/suffix.h"
#include "tests/suites.h"

#include <strings.h>

static void expect(const char *text, const char *suffix,
                   int (*compare)(const char *a, const char *b, size_t size), bool taken)
{
    size_t size = strlen(text);
    const size_t left = size - (taken ? strlen(suffix) : 0);
    CU_ASSERT_EQUAL(suffix_take(text, &size, suffix, compare), taken);
    CU_ASSERT_EQUAL(size, left);
}

static void test_take(void)
{
    expect("a.byu.gz", ".gz", strncmp, true);
    expect("a.byu.GZ", ".gz", strncmp, false);
    expect("a.byu.GZ", ".gz", strncasecmp, true);
    expect("gz", ".gz", strncasecmp, false);
    expect(".gz", ".gz", strncmp, true);
    expect("", ".gz", strncmp, false);
    size_t size = 5; /* of more text */
    CU_ASSERT(suffix_take("a.byu.gz", &size, ".byu", strncmp));
    CU_ASSERT_EQUAL(size, 1);
}

static const struct test_case cases[] = {{"taken or not", test_take}, {NULL, NULL}};
TEST_SUITE(suffix, cases)
