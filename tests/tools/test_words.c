#include "tools/words.h"

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
    char text[WORDS_LOSS_BYTES];
    uint64_t lost[LOSS_STAGES] = {0, 0, 0, 0};
    CU_ASSERT_STRING_EQUAL(words_loss(text, lost), "");
    lost[LOSS_DISK] = 3;
    CU_ASSERT_STRING_EQUAL(words_loss(text, lost), "disk 3");
    lost[LOSS_BUS] = 12;
    CU_ASSERT_STRING_EQUAL(words_loss(text, lost), "bus 12, disk 3");
    CU_ASSERT_EQUAL(words_lost(lost), 15);
    for (int stage = 0; stage < LOSS_STAGES; stage++)
        lost[stage] = UINT64_MAX;
    CU_ASSERT(strlen(words_loss(text, lost)) < WORDS_LOSS_BYTES);
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

static const struct test_case cases[] = {
    {"times", test_time}, {"losses", test_loss}, {"sizes", test_size}, {NULL, NULL}};
TEST_SUITE(words, cases)
