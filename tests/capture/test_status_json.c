#include "capture/status_json.h"

#include "tests/suites.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yajl/yajl_tree.h>

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

static yajl_val tree(const struct capture_status *status)
{
    char *text = status_json_text(status, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(text);
    char problem[200] = "";
    yajl_val root = yajl_tree_parse(text, problem, sizeof problem);
    CU_ASSERT_PTR_NOT_NULL_FATAL(root);
    CU_ASSERT_PTR_NULL(strchr(text, '\n'));
    free(text);
    return root;
}

static yajl_val get(yajl_val root, const char *first, const char *second)
{
    const char *path[] = {first, second, NULL};
    yajl_val value = yajl_tree_get(root, path, yajl_t_any);
    CU_ASSERT_PTR_NOT_NULL_FATAL(value);
    return value;
}

/* A file's name may hold any octets; JSON may not. */
static void test_octets(void)
{
    struct capture_status status = example();
    snprintf(status.file, sizeof status.file, "a\xff\xc3\xa4\xed\xa0\x80");
    status.error.code = BT_IO;
    snprintf(status.error.message, sizeof status.error.message, "cannot write \xff");
    yajl_val root = tree(&status);
    CU_ASSERT_STRING_EQUAL(YAJL_GET_STRING(get(root, "file", NULL)),
                           "a\xef\xbf\xbd\xc3\xa4\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
    CU_ASSERT_STRING_EQUAL(YAJL_GET_STRING(get(root, "error", NULL)), "cannot write \xef\xbf\xbd");
    yajl_tree_free(root);
}

static void test_running(void)
{
    struct capture_status status = example();
    yajl_val root = tree(&status);
    CU_ASSERT_STRING_EQUAL(YAJL_GET_STRING(get(root, "state", NULL)), "running");
    CU_ASSERT(YAJL_IS_NULL(get(root, "end", NULL)));
    CU_ASSERT_EQUAL(YAJL_GET_INTEGER(get(root, "records", NULL)), 1000);
    CU_ASSERT_EQUAL(YAJL_GET_INTEGER(get(root, "lost", "link")), 2);
    CU_ASSERT_STRING_EQUAL(YAJL_GET_NUMBER(get(root, "lost", "total")), "18446744073709551615");
    CU_ASSERT_STRING_EQUAL(YAJL_GET_NUMBER(get(root, "last_tick", NULL)), "18446744073709551615");
    CU_ASSERT_EQUAL(YAJL_GET_DOUBLE(get(root, "ratio", NULL)), 3.0);
    CU_ASSERT_EQUAL(YAJL_GET_DOUBLE(get(root, "records_per_s", NULL)), 500.0);
    CU_ASSERT(YAJL_IS_FALSE(get(root, "complete", NULL)));
    CU_ASSERT(YAJL_IS_TRUE(get(root, "source", "known")));
    CU_ASSERT_EQUAL(YAJL_GET_INTEGER(get(root, "source", "accepted")), 77);
    CU_ASSERT_STRING_EQUAL(YAJL_GET_STRING(get(root, "file", NULL)), status.file);
    CU_ASSERT(YAJL_IS_NULL(get(root, "error", NULL)));
    yajl_tree_free(root);
}

static void test_failed(void)
{
    struct capture_status status = example();
    status.running = false;
    status.failed = true;
    status.end = CAPTURE_END_DISK;
    status.file[0] = '\0';
    bt_fail(&status.error, BT_IO, "cannot write out/p2\xff\xc3: No space");
    yajl_val root = tree(&status);
    CU_ASSERT_STRING_EQUAL(YAJL_GET_STRING(get(root, "state", NULL)), "failed");
    CU_ASSERT_STRING_EQUAL(YAJL_GET_STRING(get(root, "end", NULL)), "disk failed");
    CU_ASSERT_STRING_EQUAL(YAJL_GET_STRING(get(root, "error", NULL)),
                           "cannot write out/p2\xef\xbf\xbd\xef\xbf\xbd: No space");
    CU_ASSERT(YAJL_IS_NULL(get(root, "file", NULL)));
    yajl_tree_free(root);
}

static void test_complete(void)
{
    struct capture_status status = {.records = 10, .end = CAPTURE_END_LIMIT, .after_stop = 5};
    CU_ASSERT_FALSE(status_json_complete(&status)); /* nobody knows what the board sent */
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

static const struct test_case cases[] = {{"of a capture that runs", test_running},
                                         {"of a capture that failed", test_failed},
                                         {"of names that are not UTF-8", test_octets},
                                         {"what complete means", test_complete},
                                         {NULL, NULL}};
TEST_SUITE(status_json, cases)
