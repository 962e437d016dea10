/* The settings of a TLB as text. */
#include "tests/suites.h"
#include "tools/cache/tlb_settings.h"

static void test_settings(void)
{
    struct tlb_settings settings = tlb_settings_default();
    struct bt_error error;
    CU_ASSERT_EQUAL(
        tlb_settings_take(&settings, "l1d=32,l1d-ways=full,l2-2M=1024,l2-2M-ways=4", &error), 0);
    CU_ASSERT(settings.arrays[TLB_DATA][TLB_4K].entries == 32 &&
              settings.arrays[TLB_DATA][TLB_4K].ways == 0);
    CU_ASSERT_EQUAL(settings.arrays[TLB_SECOND][TLB_2M].entries, 1024);
    static const char *const wrong[] = {"l1d",         "l1=4",    "l1d=0",  "l1d-3M=4",    "l1d=96",
                                        "l1d=2000000", "walk=50", "walk=0", "l2-latency=9"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        settings = tlb_settings_default();
        CU_ASSERT_EQUAL(tlb_settings_take(&settings, wrong[i], &error), BT_USAGE);
    }
}

static void test_pages(void)
{
    struct tlb_settings settings = tlb_settings_default();
    struct bt_error error;
    CU_ASSERT_EQUAL(tlb_settings_take_pages(&settings, "2M", &error), 0);
    CU_ASSERT_EQUAL(settings.pages, TLB_2M);
    CU_ASSERT_EQUAL(tlb_settings_take_pages(&settings, "1G@0x40000000-0xffffffff", &error), 0);
    CU_ASSERT(settings.range_count == 1 && settings.ranges[0].low == 0x40000000 &&
              settings.ranges[0].high == 0xffffffff && settings.ranges[0].pages == TLB_1G);
    static const char *const wrong[] = {"",    "3M",      "2M@",      "2M@5",       "2M@5-",
                                        "4KB", "2M@9-5x", "2M@9-0x5", "2M@-1-0x100"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        CU_ASSERT_EQUAL(tlb_settings_take_pages(&settings, wrong[i], &error), BT_USAGE);
}

static const struct test_case cases[] = {
    {"arrays", test_settings}, {"pages", test_pages}, {NULL, NULL}};
TEST_SUITE(tlb_settings, cases)
