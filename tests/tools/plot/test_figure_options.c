/* Sizes and scales of pictures. */
#include "tests/suites.h"
#include "tools/plot/figure_options.h"

#include <string.h>

static void test_sizes(void)
{
    static const struct {
        const char *text;
        unsigned width, height; /* 0: refused */
    } rows[] = {{"1200x800", 1200, 800},
                {"300X200", 300, 200},
                {"300pxx200px", 300, 200},
                {"3.5inx2.5in", 336, 240},
                {"88mmx60mm", 333, 227},
                {"10cmx7.5cm", 378, 283},
                {"500x3in", 500, 288},
                {"10000x10000", 10000, 10000},
                {"", 0, 0},
                {"x", 0, 0},
                {"300", 0, 0},
                {"300x", 0, 0},
                {"x300", 0, 0},
                {"-300x300", 0, 0},
                {"+300x300", 0, 0},
                {"0x200x300", 0, 0},
                {"300x300x", 0, 0},
                {"300x300ft", 0, 0},
                {"300 x 300", 0, 0},
                {"199x300", 0, 0},
                {"300x10001", 0, 0},
                {"1e99x300", 0, 0},
                {"infx300", 0, 0},
                {"nanx300", 0, 0},
                {"1mmx1mm", 0, 0}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct figure_options options = {.width = 0};
        struct bt_error error = {0};
        int result = figure_options_size(&options, rows[i].text, &error);
        CU_ASSERT_EQUAL(result, rows[i].width > 0 ? 0 : BT_USAGE);
        if (rows[i].width > 0)
            CU_ASSERT(options.width == rows[i].width && options.height == rows[i].height);
    }
}

static void test_scales(void)
{
    static const char *const names[] = {"none", "x", "y", "xy"};
    struct figure_options options = {.width = 0};
    CU_ASSERT_FALSE(figure_options_given(&options));
    for (int i = 0; i < 4; i++) {
        CU_ASSERT_EQUAL(figure_options_log(&options, names[i], NULL), 0);
        CU_ASSERT_EQUAL((int)options.log, FIGURE_LOG_NONE + i);
        CU_ASSERT_TRUE(figure_options_given(&options));
    }
    CU_ASSERT_EQUAL(figure_options_log(&options, "yx", NULL), BT_USAGE);
    CU_ASSERT_EQUAL(figure_options_log(&options, "", NULL), BT_USAGE);
    CU_ASSERT_EQUAL((int)options.log, FIGURE_LOG_XY);
}

static const struct test_case cases[] = {
    {"sizes", test_sizes}, {"scales", test_scales}, {NULL, NULL}};
TEST_SUITE(figure_options, cases)
