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

struct pc_map_entry {
    char folder[FOLDER_PATH_BYTES];
    char name[FOLDER_PATH_BYTES + 8];
};

static void set_up(struct pc_map_entry *place)
{
    folder_make(place->folder);
    snprintf(place->name, sizeof place->name, "%s/lock", place->folder);
}

static void test_one_holder(void)
{
    struct pc_map_entry place;
    struct bt_error error;
    struct file_lock_found found;
    set_up(&place);
    CU_ASSERT_FALSE(file_lock_is_held(AT_FDCWD, place.name));
    int lock = file_lock_take(AT_FDCWD, place.name, 0600, &found, &error);
    CU_ASSERT(lock >= 0);
    CU_ASSERT_EQUAL(found.holder, 0);
    CU_ASSERT_FALSE(found.left_behind);
    CU_ASSERT(file_lock_is_held(AT_FDCWD, place.name));
    CU_ASSERT_EQUAL(file_lock_take(AT_FDCWD, place.name, 0600, &found, &error), BT_BUSY);
    CU_ASSERT_EQUAL(found.holder, getpid());
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, place.name));
    file_lock_release(lock, AT_FDCWD, place.name);
    CU_ASSERT_NOT_EQUAL(access(place.name, F_OK), 0);
    folder_remove(place.folder);
}

static void test_names(void)
{
    char name[64];
    CU_ASSERT(file_lock_name(name, sizeof name, "poetry"));
    CU_ASSERT_STRING_EQUAL(name, ".poetry.lock");
    CU_ASSERT(file_lock_name(name, sizeof name, "/run/bustap/control"));
    CU_ASSERT_STRING_EQUAL(name, "/run/bustap/.control.lock");
    CU_ASSERT_FALSE(file_lock_name(name, 12, "poetry"));
    CU_ASSERT(file_lock_name(name, 13, "poetry"));
}

static void put_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    fputs(text, file);
    fclose(file);
}

static void get_text(const char *path, char text[100])
{
    FILE *file = fopen(path, "r");
    text[fread(text, 1, 99, file)] = '\0';
    fclose(file);
}

/* The lock of a holder that died is taken over. */
static void test_left_behind(void)
{
    struct pc_map_entry place;
    struct bt_error error;
    struct file_lock_found found;
    char text[100], expected[100];
    set_up(&place);
    put_text(place.name, "bustap lock, process 4194304    \n");
    CU_ASSERT_EQUAL(file_lock_take(AT_FDCWD, place.name, 0600, &found, &error), BT_IO);
    put_text(place.name, "bustap lock, process 4194304   \n");
    CU_ASSERT_FALSE(file_lock_is_held(AT_FDCWD, place.name));
    int lock = file_lock_take(AT_FDCWD, place.name, 0600, &found, &error);
    CU_ASSERT(lock >= 0);
    CU_ASSERT(found.left_behind);
    get_text(place.name, text);
    snprintf(expected, sizeof expected, "bustap lock, process %-10ld\n", (long)getpid());
    CU_ASSERT_STRING_EQUAL(text, expected);
    CU_ASSERT_EQUAL(strlen(text), FILE_LOCK_BYTES);
    /* a lock that is being made says nothing of its holder */
    CU_ASSERT_EQUAL(ftruncate(lock, 0), 0);
    CU_ASSERT_EQUAL(file_lock_take(AT_FDCWD, place.name, 0600, &found, &error), BT_BUSY);
    CU_ASSERT_EQUAL(found.holder, 0);
    file_lock_release(lock, AT_FDCWD, place.name);
    folder_remove(place.folder);
}

/* What has the name and is no lock is neither taken, nor locked, nor changed. */
static void refused(const struct pc_map_entry *place)
{
    struct bt_error error;
    struct file_lock_found found;
    CU_ASSERT_EQUAL(file_lock_take(AT_FDCWD, place->name, 0600, &found, &error), BT_IO);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, place->name));
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "is not a lock of bustap"));
    CU_ASSERT_FALSE(file_lock_is_held(AT_FDCWD, place->name));
}

static void test_obstacles(void)
{
    static const char *const texts[] = {"", "12345\n", "[[package]]\nname = \"a\"\n",
                                        "bustap lock, process x\n",
                                        "bustap lock, process 0         \n"};
    struct pc_map_entry place;
    char text[100], target[FOLDER_PATH_BYTES + 16];
    struct stat status;
    set_up(&place);
    snprintf(target, sizeof target, "%s/target", place.folder);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        put_text(place.name, texts[i]);
        refused(&place);
        get_text(place.name, text);
        CU_ASSERT_STRING_EQUAL(text, texts[i]);
    }
    unlink(place.name);
    CU_ASSERT_EQUAL(symlink("target", place.name), 0);
    refused(&place);
    CU_ASSERT_NOT_EQUAL(access(target, F_OK), 0);
    put_text(target, "bustap lock, process 4194304   \n");
    refused(&place);
    unlink(place.name);
    CU_ASSERT_EQUAL(mkdir(place.name, 0700), 0);
    refused(&place);
    rmdir(place.name);
    CU_ASSERT_EQUAL(mkfifo(place.name, 0600), 0);
    refused(&place); /* and nobody waits for a writer */
    CU_ASSERT(lstat(place.name, &status) == 0 && S_ISFIFO(status.st_mode));
    folder_remove(place.folder);
}

/* The lock was moved away, and there is another file in its place: that one stays. */
static void test_replaced(void)
{
    struct pc_map_entry place;
    struct bt_error error;
    struct file_lock_found found;
    char text[100];
    set_up(&place);
    int lock = file_lock_take(AT_FDCWD, place.name, 0600, &found, &error);
    CU_ASSERT_EQUAL(unlink(place.name), 0);
    put_text(place.name, "mine");
    file_lock_release(lock, AT_FDCWD, place.name);
    get_text(place.name, text);
    CU_ASSERT_STRING_EQUAL(text, "mine");
    folder_remove(place.folder);
}

static const struct test_case cases[] = {
    {"one holder, who is told", test_one_holder}, {"names", test_names},
    {"a lock left behind", test_left_behind},     {"other files of that name", test_obstacles},
    {"a lock that was replaced", test_replaced},  {NULL, NULL}};
TEST_SUITE(file_lock, cases)
