/* Settings that a capture refuses, and the errors. */
#include "capture/rules.h"

#include "tests/suites.h"

#include <stdio.h>
#include <string.h>

static struct capture_settings good(void)
{
    struct capture_settings settings = capture_settings_default();
    snprintf(settings.prefix, sizeof settings.prefix, "out/p");
    return settings;
}

static void check_refused(const struct capture_settings *settings, const char *word)
{
    struct bt_error error = {0};
    CU_ASSERT_EQUAL(rules_check(settings, &error), BT_USAGE);
    CU_ASSERT_EQUAL(error.code, BT_USAGE);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, word));
    if (!strstr(error.message, word))
        printf("\n  \"%s\" is not in \"%s\"\n", word, error.message);
}

/* Each limit: the last valid value, and the first invalid one. */
#define CHECK_LIMIT(member, last, first, word)                                                     \
    do {                                                                                           \
        struct capture_settings settings = good();                                                 \
        settings.member = (last);                                                                  \
        CU_ASSERT_EQUAL(rules_check(&settings, NULL), 0);                                          \
        settings.member = (first);                                                                 \
        check_refused(&settings, word);                                                            \
    } while (0)

static void test_limits(void)
{
    CHECK_LIMIT(workers, RULES_WORKERS_MAX, RULES_WORKERS_MAX + 1, "64 compression workers");
    CHECK_LIMIT(queue_bytes, RULES_QUEUE_MAX, RULES_QUEUE_MAX + 1, "64G");
    CHECK_LIMIT(block_records, CAPTURE_MEMBER_RECORDS_MAX, CAPTURE_MEMBER_RECORDS_MAX + 1, "block");
    CHECK_LIMIT(rotate_bytes, RULES_FILE_BYTES_MIN, RULES_FILE_BYTES_MIN - 1, "file size");
    CHECK_LIMIT(stop_bytes, RULES_FILE_BYTES_MIN, RULES_FILE_BYTES_MIN - 1, "stop at less");
    CHECK_LIMIT(keep, RULES_KEEP_MAX, RULES_KEEP_MAX + 1, "1000000 files");
    CHECK_LIMIT(rotate_ns, 1, -1, "negative");
    CHECK_LIMIT(rotate_every_ns, 1, -1, "negative");
    CHECK_LIMIT(stop_ns, 1, -1, "negative");
    CHECK_LIMIT(flush_ns, 1, -1, "negative");
}

static void test_prefix(void)
{
    struct capture_settings settings = good();
    CU_ASSERT_EQUAL(rules_check(&settings, NULL), 0);
    settings.prefix[0] = '\0';
    check_refused(&settings, "prefix");
}

static void test_engine(void)
{
    struct capture_settings settings = good();
    for (int engine = 0; engine < RECORD_ENGINES; engine++) {
        settings.engine = (enum record_engine)engine;
        if (record_engine_exists(settings.engine)) {
            CU_ASSERT_EQUAL(rules_check(&settings, NULL), 0);
        } else {
            check_refused(&settings, record_engine_name(settings.engine));
        }
    }
    settings.engine = RECORD_ENGINE_COLUMNS;
    settings.level = 10;
    check_refused(&settings, "columns have levels");
}

/* Without a rule for a second file the first one has no end. */
static void test_stop_after_files(void)
{
    struct capture_settings settings = good();
    settings.stop_files = 3;
    check_refused(&settings, "size=64M");
    settings.rotate_bytes = 1 << 20;
    CU_ASSERT_EQUAL(rules_check(&settings, NULL), 0);
    settings.rotate_bytes = 0;
    settings.rotate_ns = 1;
    CU_ASSERT_EQUAL(rules_check(&settings, NULL), 0);
    settings.rotate_ns = 0;
    settings.rotate_every_ns = 1;
    CU_ASSERT_EQUAL(rules_check(&settings, NULL), 0);
}

static const struct test_case cases[] = {
    {"minimum and maximum values", test_limits},
    {"a prefix", test_prefix},
    {"engines that were not built in", test_engine},
    {"a stop after files needs rotation", test_stop_after_files},
    {NULL, NULL}};
TEST_SUITE(rules, cases)
