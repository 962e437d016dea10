/* One lock, its holders, and what stands in its way. The contest of many is in test_file_set.c. */
#define _DEFAULT_SOURCE /* symlink */
#include "formats/base/file_lock.h"

#include "tests/suites.h"
#include "tests/support/folder.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct place {
    char folder[FOLDER_PATH_BYTES];
    char name[FOLDER_PATH_BYTES + 8];
};

static void set_up(struct place *place)
{
    folder_make(place->folder);
    snprintf(place->name, sizeof place->name, "%s/lock", place->folder);
}

static void test_one_holder(void)
{
    struct place place;
    struct bt_error error;
    long holder = -1;
    set_up(&place);
    int lock = file_lock_take(AT_FDCWD, place.name, 0600, &holder, &error);
    CU_ASSERT(lock >= 0);
    CU_ASSERT_EQUAL(holder, 0);
    CU_ASSERT_EQUAL(file_lock_take(AT_FDCWD, place.name, 0600, &holder, &error), BT_BUSY);
    CU_ASSERT_EQUAL(holder, getpid());
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, place.name));
    file_lock_release(lock, AT_FDCWD, place.name);
    CU_ASSERT_NOT_EQUAL(access(place.name, F_OK), 0);
    folder_remove(place.folder);
}

/* The file of a holder that died is taken over, whatever stands in it. */
static void test_left_behind(void)
{
    struct place place;
    struct bt_error error;
    long holder;
    char text[40] = "";
    char expected[40];
    set_up(&place);
    FILE *file = fopen(place.name, "w");
    fputs("123456789012345678901234567890", file);
    fclose(file);
    int lock = file_lock_take(AT_FDCWD, place.name, 0600, &holder, &error);
    CU_ASSERT(lock >= 0);
    CU_ASSERT(pread(lock, text, sizeof text - 1, 0) > 0);
    snprintf(expected, sizeof expected, "%ld\n", (long)getpid());
    CU_ASSERT_STRING_EQUAL(text, expected);
    /* a holder that says nothing of itself */
    CU_ASSERT_EQUAL(ftruncate(lock, 0), 0);
    CU_ASSERT_EQUAL(file_lock_take(AT_FDCWD, place.name, 0600, &holder, &error), BT_BUSY);
    CU_ASSERT_EQUAL(holder, 0);
    file_lock_release(lock, AT_FDCWD, place.name);
    folder_remove(place.folder);
}

static void test_obstacles(void)
{
    struct place place;
    struct bt_error error;
    long holder;
    set_up(&place);
    CU_ASSERT_EQUAL(symlink("elsewhere", place.name), 0);
    CU_ASSERT_EQUAL(file_lock_take(AT_FDCWD, place.name, 0600, &holder, &error), BT_IO);
    unlink(place.name);
    CU_ASSERT_EQUAL(mkdir(place.name, 0700), 0);
    CU_ASSERT_EQUAL(file_lock_take(AT_FDCWD, place.name, 0600, &holder, &error), BT_IO);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, place.name));
    folder_remove(place.folder);
}

static const struct test_case cases[] = {{"one holder, who is told", test_one_holder},
                                         {"a file left behind", test_left_behind},
                                         {"a link or a folder of that name", test_obstacles},
                                         {NULL, NULL}};
TEST_SUITE(file_lock, cases)
