/* Errors: which of them tell the same. */
#include "formats/base/error.h"

#include "tests/suites.h"

static void test_same_reason(void)
{
    static const struct {
        const char *a, *b;
        bool same;
    } pairs[] = {
        {"", "", true},
        {"", "a", false},
        {"", "7", false},
        {"7", "", false},
        {"7", "1234567", true},
        {"it sent 7 bytes", "it sent 123 bytes", true},
        {"it sent 7 bytes", "it sent  bytes", false},
        {"it sent 7 bytes", "it sent 7 frames", false},
        {"t_00001_20261121T074230Z.part: full", "t_00001_20261121T074231Z.part: full", true},
        {"t_00001_20261121T074230Z.part: full", "t_00001_20261121T074231Z.part: gone", false},
        {"board 1", "board 2 is gone", false},
        {"board 2 is gone", "board 1", false},
        {"1a2", "3a4", true},
        {"a1", "a1b", false},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        CU_ASSERT_EQUAL(bt_same_reason(pairs[i].a, pairs[i].b), pairs[i].same);
}

static const struct test_case cases[] = {{"the same, numbers aside", test_same_reason},
                                         {NULL, NULL}};
TEST_SUITE(error, cases)
