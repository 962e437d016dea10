#include "formats/base/extent.h"
#include "tests/suites.h"

static void test_any(void)
{
    struct extent extent;
    struct bt_error error;
    CU_ASSERT_EQUAL(extent_parse(&extent, "10ms", &error), 0);
    CU_ASSERT(extent.unit == EXTENT_TIME && extent.length == 10000000);
    CU_ASSERT_EQUAL(extent_parse(&extent, "5M", &error), 0);
    CU_ASSERT(extent.unit == EXTENT_REQUESTS && extent.length == 5000000);
    CU_ASSERT_EQUAL(extent_parse(&extent, "0x10", &error), 0);
    CU_ASSERT(extent.unit == EXTENT_REQUESTS && extent.length == 16);
    CU_ASSERT_EQUAL(extent_parse(&extent, "3kticks", &error), 0);
    CU_ASSERT(extent.unit == EXTENT_TICKS && extent.length == 3000);
    CU_ASSERT_EQUAL(extent_parse(&extent, "1.5MTICKS", &error), 0);
    CU_ASSERT(extent.unit == EXTENT_TICKS && extent.length == 1500000);
    CU_ASSERT_EQUAL(extent_parse_or_zero(&extent, "0", &error), 0);
    CU_ASSERT(extent.unit == EXTENT_REQUESTS && extent.length == 0);
    CU_ASSERT_EQUAL(extent_parse_or_zero(&extent, "0ms", &error), 0);
    CU_ASSERT(extent.unit == EXTENT_TIME && extent.length == 0);
    static const char *const wrong[] = {"",   "0", "ticks", "0ticks",    "0s",
                                        "-1", "x", "1.5",   "10msticks", "1.5ticks"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        CU_ASSERT_EQUAL(extent_parse(&extent, wrong[i], &error), BT_USAGE);
}

static void test_times(void)
{
    struct extent extent;
    struct bt_error error;
    CU_ASSERT_EQUAL(extent_parse_time(&extent, "2", &error), 0);
    CU_ASSERT(extent.unit == EXTENT_TIME && extent.length == 2000000000);
    CU_ASSERT_EQUAL(extent_parse_time(&extent, "0", &error), 0);
    CU_ASSERT(extent.unit == EXTENT_TIME && extent.length == 0);
    CU_ASSERT_EQUAL(extent_parse_time(&extent, "1.5us", &error), 0);
    CU_ASSERT(extent.unit == EXTENT_TIME && extent.length == 1500);
    CU_ASSERT_EQUAL(extent_parse_time(&extent, "1tick", &error), 0);
    CU_ASSERT(extent.unit == EXTENT_TICKS && extent.length == 1);
    static const char *const wrong[] = {"", "5k", "ticks", "5Xticks", "99999999Tticks", "-1s"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        CU_ASSERT_EQUAL(extent_parse_time(&extent, wrong[i], &error), BT_USAGE);
}

static void test_clocks(void)
{
    struct extent extent = {EXTENT_TIME, 10000000};
    struct bt_error error;
    CU_ASSERT_EQUAL(extent_in_ticks(&extent, 0, &error), BT_USAGE);
    CU_ASSERT_EQUAL(extent_in_ticks(&extent, 66000000, &error), 0);
    CU_ASSERT(extent.unit == EXTENT_TICKS && extent.length == 660000);
    CU_ASSERT_EQUAL(extent_in_ticks(&extent, 0, &error), 0);
    extent = (struct extent){EXTENT_TIME, 20000};
    CU_ASSERT_EQUAL(extent_in_ticks(&extent, 1000, &error), 0);
    CU_ASSERT(extent.unit == EXTENT_TICKS && extent.length == 1); /* at least one */
}

static const struct test_case cases[] = {{"requests, ticks and times", test_any},
                                         {"times and ticks", test_times},
                                         {"clocks", test_clocks},
                                         {NULL, NULL}};
TEST_SUITE(extent, cases)
