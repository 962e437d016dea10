/* What reports say of filters: who applied which part. */
#include "capture/filter_report.h"

#include "tests/suites.h"

#include <string.h>

static void expect(const struct capture_status *status, const char *wanted)
{
    char text[FILTER_REPORT_BYTES];
    CU_ASSERT_STRING_EQUAL(filter_report(text, status), wanted);
}

static void test_report(void)
{
    struct capture_status status = {.source = {.filtered = 12}};
    expect(&status, "");
    strcpy(status.filter, "type=FETCH");
    expect(&status, "filter: the board applied it, and excluded 12 requests");
    status.source.filtered = 1;
    expect(&status, "filter: the board applied it, and excluded 1 request");
    status.host_filters = true;
    status.source = (struct source_totals){.filtered = 7, .removed = 7};
    expect(&status, "filter: no part of it is for a board; the host removed 7 requests");
    strcpy(status.board_filter, "processor=1");
    status.source.filtered = 10;
    expect(&status, "filter: the board applied processor=1, and excluded 3 requests; the host "
                    "applied the rest, and removed 7");
    status.quantum = 100; /* a program */
    expect(&status, "filter: applied while the program was executed; it left out 10 records");
}

static void test_doubt(void)
{
    char text[FILTER_REPORT_BYTES];
    CU_ASSERT_STRING_EQUAL(filter_report_doubt(text, "address=0x100000"), "");
    CU_ASSERT_STRING_EQUAL(filter_report_doubt(text, ""), "");
    CU_ASSERT_STRING_EQUAL(filter_report_doubt(text, "type="), ""); /* invalid: another's report */
    filter_report_doubt(text, "address=100000");
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "0x100000"));
}

static const struct test_case cases[] = {
    {"parts of a filter", test_report}, {"doubts", test_doubt}, {NULL, NULL}};
TEST_SUITE(filter_report, cases)
