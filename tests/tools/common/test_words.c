#include "tools/common/words.h"

#include "tests/suites.h"

#include <string.h>

static void test_time(void)
{
    char text[WORDS_TIME_BYTES];
    CU_ASSERT_STRING_EQUAL(words_time(text, 1795214700123456789), "2026-11-20T22:45:00.123Z");
    CU_ASSERT_STRING_EQUAL(words_time(text, 0), "1970-01-01T00:00:00.000Z");
    CU_ASSERT_STRING_EQUAL(words_time(text, -1000000), "1969-12-31T23:59:59.999Z");
    words_time(text, INT64_MAX);
    words_time(text, INT64_MIN);
}

static void test_loss(void)
{
    char text[LOSS_TEXT_BYTES];
    uint64_t lost[LOSS_STAGES] = {0, 0, 0, 0};
    CU_ASSERT_STRING_EQUAL(loss_text(text, lost), "");
    lost[LOSS_DISK] = 3;
    CU_ASSERT_STRING_EQUAL(loss_text(text, lost), "disk 3");
    lost[LOSS_BUS] = 12;
    CU_ASSERT_STRING_EQUAL(loss_text(text, lost), "bus 12, disk 3");
    CU_ASSERT_EQUAL(words_lost(lost), 15);
    for (int stage = 0; stage < LOSS_STAGES; stage++)
        lost[stage] = UINT64_MAX;
    CU_ASSERT(strlen(loss_text(text, lost)) < LOSS_TEXT_BYTES);
    CU_ASSERT_EQUAL(words_lost(lost), UINT64_MAX);
}

static void test_size(void)
{
    char text[WORDS_SIZE_BYTES];
    CU_ASSERT_STRING_EQUAL(words_size(text, 0), "0 B");
    CU_ASSERT_STRING_EQUAL(words_size(text, 1023), "1023 B");
    CU_ASSERT_STRING_EQUAL(words_size(text, 1536), "1.5 KiB");
    CU_ASSERT_STRING_EQUAL(words_size(text, 18446744073709551615.0), "16.0 EiB");
}

static void test_command(void)
{
    const char *const arguments[] = {"sort", "", "-n", NULL};
    char text[9];
    words_command(text, sizeof text, arguments);
    CU_ASSERT_STRING_EQUAL(text, "sort  -n");
    words_command(text, 6, arguments);
    CU_ASSERT_STRING_EQUAL(text, "sort ");
    words_command(text, 5, arguments);
    CU_ASSERT_STRING_EQUAL(text, "sort");
    words_command(text, 3, arguments);
    CU_ASSERT_STRING_EQUAL(text, "so");
    words_command(text, 3, arguments + 3);
    CU_ASSERT_STRING_EQUAL(text, "");
}

static void test_next(void)
{
    char word[4];
    const char *at = words_next("one,,two", word, sizeof word);
    CU_ASSERT_STRING_EQUAL(word, "one");
    CU_ASSERT_STRING_EQUAL(at, ",two");
    at = words_next(at, word, sizeof word);
    CU_ASSERT_STRING_EQUAL(word, "");
    at = words_next(at, word, sizeof word);
    CU_ASSERT_STRING_EQUAL(word, "two");
    CU_ASSERT_STRING_EQUAL(at, "");
    CU_ASSERT_PTR_NULL(words_next("four,one", word, sizeof word));
}

static const struct test_case cases[] = {{"times", test_time}, {"losses", test_loss},
                                         {"sizes", test_size}, {"commands", test_command},
                                         {"lists", test_next}, {NULL, NULL}};
TEST_SUITE(words, cases)
