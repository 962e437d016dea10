/* Errors: the characters in their messages, and which of them have the same reason. */
#include "formats/base/error.h"

#include "tests/suites.h"

#include <errno.h>
#include <string.h>

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

/* Control characters from a file or its name do not reach the terminal. */
static void test_printable(void)
{
    struct bt_error error;
    bt_fail(&error, BT_DATA, "a\033[2J%s\x7f",
            "b\nc\xc2\x9b"
            "31m\xc3\x9f\t");
    CU_ASSERT_STRING_EQUAL(error.message, "a?[2Jb?c??31m\xc3\x9f??");
    bt_fail_within(&error, "x\ry");
    CU_ASSERT_STRING_EQUAL(error.message, "x?y: a?[2Jb?c??31m\xc3\x9f??");
    errno = ENOENT;
    bt_fail_errno(&error, "cannot open %s", "\033c");
    CU_ASSERT_EQUAL(strncmp(error.message, "cannot open ?c: ", 16), 0);
}

static const struct test_case cases[] = {{"no control characters in messages", test_printable},
                                         {"the same, numbers aside", test_same_reason},
                                         {NULL, NULL}};
TEST_SUITE(error, cases)
