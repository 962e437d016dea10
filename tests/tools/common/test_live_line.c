#include "tools/common/live_line.h"

#include "tests/suites.h"

#include <string.h>

static struct capture_status busy_status(void)
{
    struct capture_status status = {.records = 123456789,
                                    .raw_bytes = 1481481468,
                                    .compressed_bytes = 448933778,
                                    .queue_fill = 12,
                                    .queue_size = 100,
                                    .lost = {[LOSS_BUS] = 42}};
    return status;
}

/* The line fits the terminal; the count of lost requests is dropped last. */
static void test_widths(void)
{
    static const struct {
        size_t width;
        const char *line;
    } wanted[] = {
        {199, "123456789 records, 5.20 M/s, 62.4 MB/s, 3.30 to 1, queue 12 %, lost 42, board down"},
        {82, "123456789 records, 5.20 M/s, 62.4 MB/s, 3.30 to 1, queue 12 %, lost 42, board down"},
        {81, "123456789 records, 5.20 M/s, 3.30 to 1, queue 12 %, lost 42, board down"},
        {70, "123456789 records, 5.20 M/s, queue 12 %, lost 42, board down"},
        {59, "123456789 records, queue 12 %, lost 42, board down"},
        {49, "123456789 records, lost 42, board down"},
        {37, "lost 42, board down"},
        {18, "lost 42"},
        {6, "lost 4"},
        {0, ""},
    };
    struct capture_status status = busy_status();
    status.absent.code = BT_DEVICE;
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        char line[LIVE_LINE_BYTES];
        CU_ASSERT_PTR_EQUAL(live_line(line, &status, 5.2e6, wanted[i].width), line);
        CU_ASSERT_STRING_EQUAL(line, wanted[i].line);
    }
}

/* Even with the largest numbers. */
static void test_never_wider(void)
{
    struct capture_status status = busy_status();
    status.records = status.lost[LOSS_LINK] = UINT64_MAX;
    for (size_t width = 0; width < LIVE_LINE_BYTES; width++) {
        char line[LIVE_LINE_BYTES];
        live_line(line, &status, 1e19, width);
        CU_ASSERT_TRUE(strlen(line) <= width);
        CU_ASSERT_TRUE(width < 25 || strstr(line, "lost 18446744073709551615"));
    }
}

static const struct test_case cases[] = {
    {"widths", test_widths}, {"never wider than the terminal", test_never_wider}, {NULL, NULL}};
TEST_SUITE(live_line, cases)
