/* Files that a command line names twice. */
#include "tools/input/distinct_files.h"

#include "tests/suites.h"
#include "tests/support/folder.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PATH_BYTES (FOLDER_PATH_BYTES + 16)

static void test_names(void)
{
    static const char *const names[] = {"a", "b", "link", "symlink", "missing"};
    char folder[FOLDER_PATH_BYTES], paths[5][PATH_BYTES];
    struct bt_error error;
    folder_make(folder);
    for (int i = 0; i < 5; i++)
        snprintf(paths[i], sizeof paths[i], "%s/%s", folder, names[i]);
    for (int i = 0; i < 2; i++) {
        FILE *file = fopen(paths[i], "we");
        CU_ASSERT_PTR_NOT_NULL_FATAL(file);
        fclose(file);
    }
    CU_ASSERT_EQUAL(link(paths[0], paths[2]), 0);
    CU_ASSERT_EQUAL(symlink("b", paths[3]), 0);
    char *a = paths[0], *b = paths[1], *linked = paths[2], *symbolic = paths[3],
         *missing = paths[4], dash[] = "-";
    CU_ASSERT_EQUAL(distinct_files_check(4, (char *[]){a, b, missing, dash}, &error), 0);
    CU_ASSERT_EQUAL(distinct_files_check(2, (char *[]){missing, missing}, &error), 0);
    CU_ASSERT_EQUAL(distinct_files_check(0, NULL, &error), 0);
    CU_ASSERT_EQUAL(distinct_files_check(3, (char *[]){a, b, a}, &error), BT_USAGE);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "/a is given twice"));
    CU_ASSERT_EQUAL(distinct_files_check(3, (char *[]){linked, b, a}, &error), BT_USAGE);
    /* in the order given */
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "/link and "));
    CU_ASSERT_EQUAL(distinct_files_check(3, (char *[]){a, b, symbolic}, &error), BT_USAGE);
    CU_ASSERT_EQUAL(distinct_files_check(3, (char *[]){dash, b, dash}, &error), BT_USAGE);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "standard input is given twice"));
    folder_remove(folder);
}

static const struct test_case cases[] = {{"names of one file", test_names}, {NULL, NULL}};
TEST_SUITE(distinct_files, cases)
