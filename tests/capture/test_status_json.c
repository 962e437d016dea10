#include "capture/status_json.h"

#include "tests/suites.h"
#include "tests/support/json_twin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct capture_status example(void)
{
    struct capture_status status = {.running = true,
                                    .elapsed_ns = 2000000000,
                                    .records = 1000,
                                    .raw_bytes = 12000,
                                    .compressed_bytes = 4000,
                                    .lost = {1, 2, 3, UINT64_MAX - 6},
                                    .files = 4,
                                    .queue_fill = 5,
                                    .queue_size = 64,
                                    .last_tick = UINT64_MAX,
                                    .clock_hz = 100000000,
                                    .source = {.known = true, .accepted = 77}};
    snprintf(status.file, sizeof status.file, "out/\"quoted\"_00005.byu.gz.part");
    return status;
}

/* The status as text, one line; the caller frees it. */
static char *text_of(const struct capture_status *status)
{
    char *text = status_json_text(status, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(text);
    CU_ASSERT(json_twin_valid(text, strlen(text)));
    CU_ASSERT_PTR_NULL(strchr(text, '\n'));
    return text;
}

static void has(const char *text, const char *member)
{
    bool found = strstr(text, member) != NULL;
    CU_ASSERT(found);
    if (!found)
        printf("\n%s is not in %s\n", member, text);
}

/* A file's name may hold any octets; JSON may not. */
static void test_octets(void)
{
    struct capture_status status = example();
    snprintf(status.file, sizeof status.file, "a\xff\xc3\xa4\xed\xa0\x80");
    status.error.code = BT_IO;
    snprintf(status.error.message, sizeof status.error.message, "cannot write \xff");
    char *text = text_of(&status);
    has(text, "\"file\":\"a\xef\xbf\xbd\xc3\xa4\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");
    has(text, "\"error\":\"cannot write \xef\xbf\xbd\"");
    free(text);
}

static void test_running(void)
{
    struct capture_status status = example();
    char *text = text_of(&status);
    has(text, "\"state\":\"running\"");
    has(text, "\"end\":null");
    has(text, "\"records\":1000,");
    has(text, "\"link\":2,");
    has(text, "\"total\":18446744073709551615");
    has(text, "\"last_tick\":18446744073709551615");
    has(text, "\"ratio\":3.0,");
    has(text, "\"records_per_s\":500.0,");
    has(text, "\"complete\":false");
    has(text, "\"known\":true");
    has(text, "\"accepted\":77,");
    has(text, "\"file\":\"out/\\\"quoted\\\"_00005.byu.gz.part\"");
    has(text, "\"error\":null");
    free(text);
}

static void test_failed(void)
{
    struct capture_status status = example();
    status.running = false;
    status.failed = true;
    status.end = CAPTURE_END_DISK;
    status.file[0] = '\0';
    bt_fail(&status.error, BT_IO, "cannot write out/p2\xff\xc3: No space");
    char *text = text_of(&status);
    has(text, "\"state\":\"failed\"");
    has(text, "\"end\":\"disk failed\"");
    has(text, "\"error\":\"cannot write out/p2\xef\xbf\xbd\xef\xbf\xbd: No space\"");
    has(text, "\"file\":null");
    free(text);
}

static void test_complete(void)
{
    struct capture_status status = {.records = 10, .end = CAPTURE_END_LIMIT, .after_stop = 5};
    CU_ASSERT_FALSE(status_json_complete(&status)); /* the board's count is unknown */
    status.running = true;
    CU_ASSERT(status_json_complete(&status));
    status.running = false;
    status.source = (struct source_totals){.known = true, .accepted = 15};
    CU_ASSERT(status_json_complete(&status));
    status.source.accepted = 16;
    CU_ASSERT_FALSE(status_json_complete(&status));
    status.lost[LOSS_BUS] = 1;
    CU_ASSERT_FALSE(status_json_complete(&status));
}

static void test_parts(void)
{
    struct capture_status status = example();
    char *text = text_of(&status);
    CU_ASSERT_PTR_NULL(strstr(text, "\"trigger\""));
    CU_ASSERT_PTR_NULL(strstr(text, "\"exec_on_file\""));
    free(text);
    status.selects = true;
    status.trigger = (struct trigger_counts){.matches = 3, .windows = 2, .outside = 1};
    status.runs_command = true;
    status.command = (struct file_command_counts){4, 3, 2, 1};
    text = text_of(&status);
    has(text, "\"trigger\":{\"matches\":3,\"windows\":2,\"outside\":1,\"short_windows\":0,"
              "\"stopped\":false,\"snapshots\":0,\"snapshot_file\":null}");
    has(text, "\"exec_on_file\":{\"run\":4,\"failed\":3,\"skipped\":2,\"waiting\":1}");
    free(text);
    status.snapshots = 1;
    strcpy(status.snapshot_file, "out/a");
    text = text_of(&status);
    has(text, "\"snapshots\":1,\"snapshot_file\":\"out/a\"}");
    free(text);
}

static const struct test_case cases[] = {
    {"of a capture that runs", test_running},  {"of triggers and commands", test_parts},
    {"of a capture that failed", test_failed}, {"of names that are not UTF-8", test_octets},
    {"complete captures", test_complete},      {NULL, NULL}};
TEST_SUITE(status_json, cases)
