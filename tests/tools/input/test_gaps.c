#include "tools/input/gaps.h"

#include "tests/suites.h"

static void expect_length(uint64_t milliseconds, const char *wanted)
{
    char text[GAPS_LENGTH_BYTES];
    CU_ASSERT_STRING_EQUAL(gaps_length(text, milliseconds), wanted);
}

static void test_lengths(void)
{
    expect_length(1, "1 ms");
    expect_length(999, "999 ms");
    expect_length(1000, "1.0 s");
    expect_length(3249, "3.2 s");
    expect_length(599000, "599.0 s");
    expect_length(600000, "10.0 min");
    expect_length(7199999, "120.0 min");
    expect_length(7200000, "2.0 h");
    expect_length(GAP_MILLISECONDS_MAX, "596.5 h");
    expect_length(UINT64_MAX, "5124095576030.4 h");
}

static void expect_sentence(struct trace_gap gap, const char *wanted)
{
    char text[GAPS_SENTENCE_BYTES];
    CU_ASSERT_STRING_EQUAL(gaps_sentence(text, &gap), wanted);
}

static void test_sentences(void)
{
    expect_sentence((struct trace_gap){.gap = {.milliseconds = 3200, .uncounted = false},
                                       .tick = 77,
                                       .lost = 12},
                    "gap of 3.2 s at tick 77 (12 requests lost, counted)");
    expect_sentence((struct trace_gap){.gap = {.milliseconds = 20, .uncounted = false}},
                    "gap of 20 ms at tick 0 (nothing lost)");
    expect_sentence(
        (struct trace_gap){.gap = {.milliseconds = 20, .uncounted = true}, .tick = 1, .lost = 3},
        "gap of 20 ms at tick 1, its losses are not counted: the board "
        "restarted");
    /* the longest sentences */
    expect_sentence(
        (struct trace_gap){.gap = {.milliseconds = GAP_MILLISECONDS_MAX, .uncounted = true},
                           .tick = UINT64_MAX,
                           .lost = UINT64_MAX},
        "gap of at least 596.5 h at tick 18446744073709551615, its losses are not "
        "counted: the board restarted");
    expect_sentence(
        (struct trace_gap){.gap = {.milliseconds = GAP_MILLISECONDS_MAX, .uncounted = false},
                           .lost = UINT64_MAX},
        "gap of at least 596.5 h at tick 0 (18446744073709551615 requests lost, "
        "counted)");
}

static const struct test_case cases[] = {
    {"lengths", test_lengths}, {"sentences", test_sentences}, {NULL, NULL}};
TEST_SUITE(gaps, cases)
