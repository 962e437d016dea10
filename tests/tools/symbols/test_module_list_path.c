/* Which list of modules a file of a capture has, by the names of both. */
#include "tests/suites.h"
#include "tests/support/folder.h"
#include "tools/symbols/module_list_path.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LIST "/x@0x1000\n"

static void make(const char *folder, const char *name, const char *text)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    CU_ASSERT_FATAL(file != NULL);
    fputs(text, file);
    CU_ASSERT_EQUAL(fclose(file), 0);
}

static bool exists(const char *folder, const char *name)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return access(path, F_OK) == 0;
}

/* Whether the capture has that list; NULL: none. */
static bool has(const char *folder, const char *capture, const char *list)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", folder, capture);
    char *found = module_list_beside(path);
    const bool same = list && found ? strcmp(found + strlen(folder) + 1, list) == 0 : list == found;
    free(found);
    return same;
}

static void test_names(void)
{
    char folder[FOLDER_PATH_BYTES];
    folder_make(folder);
    make(folder, "a.modules", LIST);
    make(folder, "a-p1.modules", LIST);
    make(folder, "a_b.modules", LIST);
    make(folder, "t-t5.modules", LIST);
    CU_ASSERT(has(folder, "a", "a.modules"));
    CU_ASSERT(has(folder, "a_00001_20261126T042907Z.byu.gz", "a.modules"));
    CU_ASSERT(has(folder, "a_00001_20261126T042907Z.byu.gz.part", "a.modules"));
    CU_ASSERT(has(folder, "a_1", "a.modules"));
    CU_ASSERT(has(folder, "a-t1_00001_20261126T042907Z.byu.gz", "a.modules"));
    CU_ASSERT(has(folder, "a-t255", "a.modules"));
    CU_ASSERT(has(folder, "a-p1_00001_20261126T042907Z.byu.gz", "a-p1.modules"));
    CU_ASSERT(has(folder, "a-p1-t2_00001_20261126T042907Z.byu.gz", "a-p1.modules"));
    CU_ASSERT(has(folder, "a_b_00001_20261126T042907Z.byu.gz", "a_b.modules"));
    CU_ASSERT(has(folder, "a_c_00001_20261126T042907Z.byu.gz", "a.modules"));
    CU_ASSERT(has(folder, "t-t5_00001_20261126T042907Z.byu.gz", "t-t5.modules"));
    /* another prefix, another process, no number, no name */
    CU_ASSERT(has(folder, "ab_00001_20261126T042907Z.byu.gz", NULL));
    CU_ASSERT(has(folder, "a-p2_00001_20261126T042907Z.byu.gz", NULL));
    CU_ASSERT(has(folder, "a-t_00001_20261126T042907Z.byu.gz", NULL));
    CU_ASSERT(has(folder, "a-tx1_1", NULL));
    CU_ASSERT(has(folder, "_00001_20261126T042907Z.byu.gz", NULL));
    CU_ASSERT_PTR_NULL(module_list_beside("-"));
    CU_ASSERT_PTR_NULL(module_list_beside(""));
    folder_remove(folder);
}

static void test_times(void)
{
    char folder[FOLDER_PATH_BYTES];
    folder_make(folder);
    make(folder, "a.modules", LIST);
    make(folder, "a_20260102T000000Z.modules", LIST);
    make(folder, "a_20260104T000000Z.modules", LIST);
    make(folder, "a_20260103T00000xZ.modules", LIST);
    CU_ASSERT(has(folder, "a_00001_20260101T000000Z.byu.gz", "a_20260102T000000Z.modules"));
    CU_ASSERT(has(folder, "a_00009_20260101T235959Z.byu.gz", "a_20260102T000000Z.modules"));
    CU_ASSERT(has(folder, "a_00001_20260102T000000Z.byu.gz", "a_20260104T000000Z.modules"));
    CU_ASSERT(has(folder, "a-t3_00001_20260103T000000Z.byu.gz", "a_20260104T000000Z.modules"));
    CU_ASSERT(has(folder, "a_00001_20260104T000000Z.byu.gz", "a.modules"));
    CU_ASSERT(has(folder, "a_00001_20270101T000000Z.byu.gz", "a.modules"));
    CU_ASSERT(has(folder, "a", "a.modules"));
    folder_remove(folder);
}

static void test_set_aside(void)
{
    char folder[FOLDER_PATH_BYTES];
    char prefix[FOLDER_PATH_BYTES + 2];
    struct bt_error error;
    folder_make(folder);
    snprintf(prefix, sizeof prefix, "%s/a", folder);
    CU_ASSERT_EQUAL(module_list_set_aside(prefix, &error), 0); /* no list */
    make(folder, "a.modules", LIST);
    make(folder, "a-p7.modules", "");
    make(folder, "a-p8.modules", "notes\n");
    make(folder, "ab.modules", LIST);
    make(folder, "a_00001_20260101T000000Z.byu.gz", "");
    CU_ASSERT_EQUAL(module_list_set_aside(prefix, &error), 0);
    CU_ASSERT(!exists(folder, "a.modules"));
    CU_ASSERT(!exists(folder, "a-p7.modules"));
    CU_ASSERT(exists(folder, "a-p8.modules"));
    CU_ASSERT(exists(folder, "ab.modules"));
    /* the file keeps its list */
    char path[FOLDER_PATH_BYTES + 64];
    snprintf(path, sizeof path, "%s_00001_20260101T000000Z.byu.gz", prefix);
    char *list = module_list_beside(path);
    CU_ASSERT_PTR_NOT_NULL_FATAL(list);
    CU_ASSERT_EQUAL(strncmp(list, prefix, strlen(prefix)), 0);
    free(list);
    snprintf(path, sizeof path, "%s/gone/a", folder);
    CU_ASSERT_EQUAL(module_list_set_aside(path, &error), 0);
    folder_remove(folder);
}

static void test_may_write(void)
{
    char folder[FOLDER_PATH_BYTES];
    char path[FOLDER_PATH_BYTES + 2];
    folder_make(folder);
    snprintf(path, sizeof path, "%s/a", folder);
    CU_ASSERT(module_list_may_write(path));
    make(folder, "a", "");
    CU_ASSERT(module_list_may_write(path));
    make(folder, "a", "/lib/x.so@0xeedd0000@1-2\n");
    CU_ASSERT(module_list_may_write(path));
    make(folder, "a", "a diary\n");
    CU_ASSERT(!module_list_may_write(path));
    CU_ASSERT(!module_list_may_write(folder));
    folder_remove(folder);
}

static const struct test_case cases[] = {{"names", test_names},
                                         {"runs to one prefix", test_times},
                                         {"setting lists aside", test_set_aside},
                                         {"other files", test_may_write},
                                         {NULL, NULL}};
TEST_SUITE(module_list_path, cases)
