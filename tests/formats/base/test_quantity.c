/* Reading and printing numbers with units. */
#include "formats/base/quantity.h"
#include "tests/suites.h"

static void test_bytes(void)
{
    uint64_t bytes = 0;
    struct bt_error error;
    CU_ASSERT(quantity_bytes(&bytes, "4096", &error) == 0 && bytes == 4096);
    CU_ASSERT(quantity_bytes(&bytes, "64K", &error) == 0 && bytes == 65536);
    CU_ASSERT(quantity_bytes(&bytes, "1.5MiB", &error) == 0 && bytes == 3u << 19);
    CU_ASSERT(quantity_bytes(&bytes, "2T", &error) == 0 && bytes == UINT64_C(2) << 40);
    CU_ASSERT(quantity_bytes(&bytes, "0.250K", &error) == 0 && bytes == 256);
    static const char *const wrong[] = {"",    "-1",           "K",    "1X",   "64K ",
                                        "nan", "99999999999T", "1.1M", "0.3K", "1.0000000001G"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        CU_ASSERT_EQUAL(quantity_bytes(&bytes, wrong[i], &error), BT_USAGE);
}

static void test_duration(void)
{
    int64_t duration = 0;
    struct bt_error error;
    CU_ASSERT(quantity_duration(&duration, "90", &error) == 0 && duration == 90000000000);
    CU_ASSERT(quantity_duration(&duration, "250ms", &error) == 0 && duration == 250000000);
    CU_ASSERT(quantity_duration(&duration, "2d", &error) == 0 && duration == 172800000000000);
    CU_ASSERT_EQUAL(quantity_duration(&duration, "200000d", &error), BT_USAGE);
    CU_ASSERT_EQUAL(quantity_duration(&duration, "1 s", &error), BT_USAGE);
}

static void test_count(void)
{
    uint64_t count = 0;
    struct bt_error error;
    CU_ASSERT(quantity_count(&count, "2.5M", &error) == 0 && count == 2500000);
    CU_ASSERT(quantity_count(&count, "1.234k", &error) == 0 && count == 1234);
    CU_ASSERT(quantity_count(&count, "2.0", &error) == 0 && count == 2);
    CU_ASSERT_EQUAL(quantity_count(&count, "2.5", &error), BT_USAGE);
    CU_ASSERT_STRING_EQUAL(error.message,
                           "\"2.5\" is not a whole number such as 1000, 5k, 2M or 0x100");
    CU_ASSERT_EQUAL(quantity_count(&count, "0.5", &error), BT_USAGE);
    CU_ASSERT_EQUAL(quantity_count(&count, "1.2345k", &error), BT_USAGE);
    CU_ASSERT(quantity_count(&count, "0x100", &error) == 0 && count == 256);
    CU_ASSERT_EQUAL(quantity_count(&count, "64KiB", &error), BT_USAGE);
}

static void test_text(void)
{
    char text[QUANTITY_TEXT_BYTES];
    CU_ASSERT_STRING_EQUAL(quantity_text(text, 0), "0");
    CU_ASSERT_STRING_EQUAL(quantity_text(text, 999), "999");
    CU_ASSERT_STRING_EQUAL(quantity_text(text, 1000), "1,000");
    CU_ASSERT_STRING_EQUAL(quantity_text(text, 1234567), "1,234,567");
    CU_ASSERT_STRING_EQUAL(quantity_text(text, UINT64_MAX), "18,446,744,073,709,551,615");
}

static const struct test_case cases[] = {{"bytes", test_bytes},
                                         {"durations", test_duration},
                                         {"counts", test_count},
                                         {"texts", test_text},
                                         {NULL, NULL}};
TEST_SUITE(quantity, cases)
