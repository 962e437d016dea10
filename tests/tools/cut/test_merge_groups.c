/* Which files of a command line are of one capture. */
#include "tools/cut/merge_groups.h"

#include "tests/suites.h"
#include "tests/support/folder.h"
#include "tests/support/random_capture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATH_BYTES (FOLDER_PATH_BYTES + 32)

/* A capture of two files at least. */
static void write_capture(const char *folder, const char *name, uint64_t seed)
{
    char prefix[PATH_BYTES];
    struct trace_items *items = malloc(sizeof *items);
    CU_ASSERT_PTR_NOT_NULL_FATAL(items);
    snprintf(prefix, sizeof prefix, "%s/%s", folder, name);
    while (random_capture_write(items, prefix, seed, false) < 2)
        seed++;
    free(items);
}

static void test_groups(void)
{
    static const char *const names[] = {"b_2.byu.gz", "raw", "a_1.byu.gz",
                                        "b_1.byu.gz", "raw", "a_2.byu.gz"};
    char folder[FOLDER_PATH_BYTES], paths[6][PATH_BYTES], *given[6];
    struct merge_groups groups;
    struct bt_error error;
    folder_make(folder);
    write_capture(folder, "a", 1);
    write_capture(folder, "b", 1000);
    for (int i = 0; i < 6; i++) {
        snprintf(paths[i], sizeof paths[i], "%s/%s", folder, names[i]);
        given[i] = paths[i];
    }
    FILE *raw = fopen(paths[1], "we");
    CU_ASSERT_PTR_NOT_NULL_FATAL(raw);
    fclose(raw);
    /* in the order of the first files; each file without a header is alone */
    CU_ASSERT_EQUAL(merge_groups_find(&groups, 6, given, &error), 0);
    CU_ASSERT_EQUAL_FATAL(groups.count, 4);
    static const int counts[] = {2, 1, 2, 1}, members[] = {0, 3, 1, 2, 5, 4};
    for (int i = 0, at = 0; i < 4; i++) {
        CU_ASSERT_EQUAL_FATAL(groups.groups[i].count, counts[i]);
        for (int j = 0; j < counts[i]; j++, at++)
            CU_ASSERT_PTR_EQUAL(groups.groups[i].paths[j], given[members[at]]);
    }
    merge_groups_free(&groups);
    strcat(paths[2], "missing");
    CU_ASSERT_EQUAL(merge_groups_find(&groups, 6, given, &error), BT_IO);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "missing"));
    merge_groups_free(&groups);
    folder_remove(folder);
}

static const struct test_case cases[] = {{"captures and raw traces", test_groups}, {NULL, NULL}};
TEST_SUITE(merge_groups, cases)
