#include "tests/suites.h"
#include "tests/support/random.h"
#include "tools/plot/axis.h"

#include <math.h>
#include <string.h>

static void check_label(enum figure_unit unit, double value, const char *wanted)
{
    char label[AXIS_LABEL_BYTES];
    CU_ASSERT_STRING_EQUAL(axis_label(label, unit, value), wanted);
}

static void test_labels(void)
{
    check_label(FIGURE_NUMBER, 0, "0");
    check_label(FIGURE_NUMBER, 0.25, "0.25");
    check_label(FIGURE_NUMBER, 999.9, "1 k");
    check_label(FIGURE_NUMBER, 1234567, "1.23 M");
    check_label(FIGURE_NUMBER, 1.8e19, "18 E");
    check_label(FIGURE_BYTES, 64, "64 B");
    check_label(FIGURE_BYTES, 4096, "4 KiB");
    check_label(FIGURE_BYTES, 1536, "1.5 KiB");
    check_label(FIGURE_BYTES, 0x1p32, "4 GiB");
    check_label(FIGURE_SHARE, 0.125, "12.5 %");
    check_label(FIGURE_SECONDS, 2.5e-4, "250 \xc2\xb5s");
    check_label(FIGURE_SECONDS, 90, "90 s");
    check_label(FIGURE_SECONDS, 7200, "2 h");
    check_label(FIGURE_ADDRESS, 4294967295.0, "0xffffffff");
}

static void test_byte_ticks(void)
{
    const struct figure_axis description = {.scale = FIGURE_LOG2, .unit = FIGURE_BYTES};
    struct axis axis;
    axis_lay_out(&axis, &description, 1024, 65536, 10, false);
    CU_ASSERT(axis.from == 1024 && axis.to == 65536);
    CU_ASSERT_EQUAL_FATAL(axis.tick_count, 7);
    CU_ASSERT_STRING_EQUAL(axis.ticks[0].label, "1 KiB");
    CU_ASSERT_STRING_EQUAL(axis.ticks[6].label, "64 KiB");
}

static void test_linear_rounded(void)
{
    const struct figure_axis description = {.unit = FIGURE_SHARE};
    struct axis axis;
    axis_lay_out(&axis, &description, 0.02, 0.47, 6, true);
    CU_ASSERT(axis.from == 0);
    CU_ASSERT_DOUBLE_EQUAL(axis.to, 0.5, 1e-12);
    CU_ASSERT_EQUAL_FATAL(axis.tick_count, 6);
    CU_ASSERT_STRING_EQUAL(axis.ticks[0].label, "0");
    CU_ASSERT_STRING_EQUAL(axis.ticks[5].label, "50 %");
}

static void test_far_from_zero(void)
{
    const struct figure_axis description = {.unit = FIGURE_SECONDS};
    struct axis axis;
    axis_lay_out(&axis, &description, 100.001, 100.002, 5, false);
    CU_ASSERT_FATAL(axis.tick_count > 2);
    for (size_t i = 1; i < axis.tick_count; i++)
        CU_ASSERT_STRING_NOT_EQUAL(axis.ticks[i].label, axis.ticks[i - 1].label);
}

/* Labels of fractions of a power of 2 have all their decimals. */
static void test_binary_fractions(void)
{
    const struct figure_axis description = {.unit = FIGURE_BYTES};
    struct axis axis;
    axis_lay_out(&axis, &description, 0, 1340, 6, true);
    CU_ASSERT_EQUAL_FATAL(axis.tick_count, 7);
    CU_ASSERT_STRING_EQUAL(axis.ticks[1].label, "0.25 KiB");
    CU_ASSERT_STRING_EQUAL(axis.ticks[2].label, "0.50 KiB");
    CU_ASSERT_STRING_EQUAL(axis.ticks[6].label, "1.50 KiB");
}

/* Between 100 and 200 is no power of 10, and no other tick. */
static void test_short_logarithm(void)
{
    const struct figure_axis description = {.scale = FIGURE_LOG10};
    struct axis axis;
    axis_lay_out(&axis, &description, 19, 47, 4, false);
    CU_ASSERT(axis.from == 19 && axis.to == 47);
    CU_ASSERT_EQUAL_FATAL(axis.tick_count, 3);
    CU_ASSERT_STRING_EQUAL(axis.ticks[0].label, "20");
    CU_ASSERT_STRING_EQUAL(axis.ticks[2].label, "40");
    axis_lay_out(&axis, &description, 1, 47, 4, false);
    CU_ASSERT_EQUAL_FATAL(axis.tick_count, 2);
    CU_ASSERT_STRING_EQUAL(axis.ticks[1].label, "10");
}

static double any_number(uint64_t *random)
{
    static const double odd[] = {0,   -0.0,   1,     INFINITY, -INFINITY,
                                 NAN, 1.8e19, 1e308, 5e-324,   -1e300};
    if (random_one_in(random, 4))
        return odd[random_below(random, sizeof odd / sizeof odd[0])];
    return ((double)random_next32(random) - 2e9) * exp2((double)random_below(random, 200) - 100);
}

/* For any data, the ends of the axis are in order, and so are the ticks between them. */
static void test_any_data(void)
{
    for (uint64_t seed = 1; seed <= 20000; seed++) {
        uint64_t random = random_seed(seed);
        const struct figure_axis description = {.scale =
                                                    (enum figure_scale)random_below(&random, 3),
                                                .unit = (enum figure_unit)random_below(&random, 5)};
        struct axis axis;
        double low = any_number(&random);
        double high = any_number(&random);
        if (axis_is_logarithmic(&description)) {
            low = fabs(low);
            high = fabs(high);
        }
        axis_lay_out(&axis, &description, low, high, 1 + (unsigned)random_below(&random, 30),
                     random_one_in(&random, 2));
        CU_ASSERT_FATAL(isfinite(axis.from) && isfinite(axis.to) && axis.from < axis.to);
        CU_ASSERT_FATAL(!axis_is_logarithmic(&description) || axis.from > 0);
        double slack = (axis.to - axis.from) * 1e-5;
        for (size_t i = 0; i < axis.tick_count; i++) {
            CU_ASSERT_FATAL(axis.ticks[i].at >= axis.from - slack &&
                            axis.ticks[i].at <= axis.to + slack);
            CU_ASSERT_FATAL(i == 0 || axis.ticks[i].at > axis.ticks[i - 1].at);
        }
    }
}

static const struct test_case cases[] = {{"labels of numbers", test_labels},
                                         {"powers of 2", test_byte_ticks},
                                         {"a linear axis from 0", test_linear_rounded},
                                         {"ticks far from 0 differ", test_far_from_zero},
                                         {"fractions of powers of 2", test_binary_fractions},
                                         {"short logarithmic axes", test_short_logarithm},
                                         {"any data", test_any_data},
                                         {NULL, NULL}};
TEST_SUITE(axis, cases)
