/* One lock, its holders, and obstacles. Competition for a lock is in test_file_set.c. */
#define _DEFAULT_SOURCE /* symlink */
#include "formats/base/file_lock.h"

#include "tests/suites.h"
#include "tests/support/folder.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct lock_fixture {
    char folder[FOLDER_PATH_BYTES];
    char name[FOLDER_PATH_BYTES + 8];
};

static void set_up(struct lock_fixture *fixture)
{
    folder_make(fixture->folder);
    snprintf(fixture->name, sizeof fixture->name, "%s/lock", fixture->folder);
}

static void test_one_holder(void)
{
    struct lock_fixture fixture;
    struct bt_error error;
    struct file_lock_found found;
    set_up(&fixture);
    CU_ASSERT_FALSE(file_lock_is_held(AT_FDCWD, fixture.name));
    int lock = file_lock_take(AT_FDCWD, fixture.name, 0600, &found, &error);
    CU_ASSERT(lock >= 0);
    CU_ASSERT_EQUAL(found.holder, 0);
    CU_ASSERT_FALSE(found.left_behind);
    CU_ASSERT(file_lock_is_held(AT_FDCWD, fixture.name));
    CU_ASSERT_EQUAL(file_lock_take(AT_FDCWD, fixture.name, 0600, &found, &error), BT_BUSY);
    CU_ASSERT_EQUAL(found.holder, getpid());
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, fixture.name));
    file_lock_release(lock, AT_FDCWD, fixture.name);
    CU_ASSERT_NOT_EQUAL(access(fixture.name, F_OK), 0);
    folder_remove(fixture.folder);
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

/* The lock of a dead holder is taken over. */
static void test_dead_holder(void)
{
    struct lock_fixture fixture;
    struct bt_error error;
    struct file_lock_found found;
    char text[100], expected[100];
    set_up(&fixture);
    put_text(fixture.name, "bustap lock, process 4194304    \n");
    CU_ASSERT_EQUAL(file_lock_take(AT_FDCWD, fixture.name, 0600, &found, &error), BT_IO);
    put_text(fixture.name, "bustap lock, process 4194304   \n");
    CU_ASSERT_FALSE(file_lock_is_held(AT_FDCWD, fixture.name));
    int lock = file_lock_take(AT_FDCWD, fixture.name, 0600, &found, &error);
    CU_ASSERT(lock >= 0);
    CU_ASSERT(found.left_behind);
    get_text(fixture.name, text);
    snprintf(expected, sizeof expected, "bustap lock, process %-10ld\n", (long)getpid());
    CU_ASSERT_STRING_EQUAL(text, expected);
    CU_ASSERT_EQUAL(strlen(text), FILE_LOCK_BYTES);
    /* a lock that is just being created does not name its holder */
    CU_ASSERT_EQUAL(ftruncate(lock, 0), 0);
    CU_ASSERT_EQUAL(file_lock_take(AT_FDCWD, fixture.name, 0600, &found, &error), BT_BUSY);
    CU_ASSERT_EQUAL(found.holder, 0);
    file_lock_release(lock, AT_FDCWD, fixture.name);
    folder_remove(fixture.folder);
}

/* A file with the lock's name that is not a lock is neither taken, nor locked, nor changed. */
static void refused(const struct lock_fixture *fixture)
{
    struct bt_error error;
    struct file_lock_found found;
    CU_ASSERT_EQUAL(file_lock_take(AT_FDCWD, fixture->name, 0600, &found, &error), BT_IO);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, fixture->name));
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "is not a lock of bustap"));
    CU_ASSERT_FALSE(file_lock_is_held(AT_FDCWD, fixture->name));
}

static void test_obstacles(void)
{
    static const char *const texts[] = {"", "12345\n", "[[package]]\nname = \"a\"\n",
                                        "bustap lock, process x\n",
                                        "bustap lock, process 0         \n"};
    struct lock_fixture fixture;
    char text[100], target[FOLDER_PATH_BYTES + 16];
    struct stat status;
    set_up(&fixture);
    snprintf(target, sizeof target, "%s/target", fixture.folder);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        put_text(fixture.name, texts[i]);
        refused(&fixture);
        get_text(fixture.name, text);
        CU_ASSERT_STRING_EQUAL(text, texts[i]);
    }
    unlink(fixture.name);
    CU_ASSERT_EQUAL(symlink("target", fixture.name), 0);
    refused(&fixture);
    CU_ASSERT_NOT_EQUAL(access(target, F_OK), 0);
    put_text(target, "bustap lock, process 4194304   \n");
    refused(&fixture);
    unlink(fixture.name);
    CU_ASSERT_EQUAL(mkdir(fixture.name, 0700), 0);
    refused(&fixture);
    rmdir(fixture.name);
    CU_ASSERT_EQUAL(mkfifo(fixture.name, 0600), 0);
    refused(&fixture); /* does not wait for a writer */
    CU_ASSERT(lstat(fixture.name, &status) == 0 && S_ISFIFO(status.st_mode));
    folder_remove(fixture.folder);
}

/* The lock was moved, and another file has its name: that file stays. */
static void test_replaced(void)
{
    struct lock_fixture fixture;
    struct bt_error error;
    struct file_lock_found found;
    char text[100];
    set_up(&fixture);
    int lock = file_lock_take(AT_FDCWD, fixture.name, 0600, &found, &error);
    CU_ASSERT_EQUAL(unlink(fixture.name), 0);
    put_text(fixture.name, "mine");
    file_lock_release(lock, AT_FDCWD, fixture.name);
    get_text(fixture.name, text);
    CU_ASSERT_STRING_EQUAL(text, "mine");
    folder_remove(fixture.folder);
}

static const struct test_case cases[] = {{"one holder, which is reported", test_one_holder},
                                         {"names", test_names},
                                         {"a lock of a dead process", test_dead_holder},
                                         {"other files of that name", test_obstacles},
                                         {"a lock that was replaced", test_replaced},
                                         {NULL, NULL}};
TEST_SUITE(file_lock, cases)
