#include "formats/base/regular_file.h"

#include "tests/suites.h"
#include "tests/support/folder.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Without a writer, open(2) of a pipe would wait for ever. */
static void test_kinds(void)
{
    char folder[FOLDER_PATH_BYTES];
    char path[FOLDER_PATH_BYTES + 8], byte;
    struct bt_error error = {0};
    folder_make(folder);
    snprintf(path, sizeof path, "%s/file", folder);
    CU_ASSERT_EQUAL(regular_file_open(path, &error), BT_IO);
    CU_ASSERT_STRING_EQUAL(error.message, "cannot be opened: No such file or directory");
    CU_ASSERT_EQUAL(regular_file_open(path, NULL), BT_IO);
    CU_ASSERT_EQUAL(mkfifo(path, 0600), 0);
    CU_ASSERT_EQUAL(regular_file_open(path, &error), BT_USAGE);
    CU_ASSERT_STRING_EQUAL(error.message, "is a pipe, not a regular file");
    CU_ASSERT_EQUAL(regular_file_open(path, NULL), BT_USAGE);
    unlink(path);
    CU_ASSERT_EQUAL(regular_file_open(folder, &error), BT_USAGE);
    CU_ASSERT_STRING_EQUAL(error.message, "is a folder, not a regular file");
    CU_ASSERT_EQUAL(regular_file_open("/dev/null", &error), BT_USAGE);
    CU_ASSERT_STRING_EQUAL(error.message, "is a device or socket, not a regular file");
    int made = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    CU_ASSERT_EQUAL(write(made, "x", 1), 1);
    close(made);
    int file = regular_file_open(path, &error);
    CU_ASSERT_FATAL(file >= 0);
    CU_ASSERT_EQUAL(read(file, &byte, 1), 1);
    CU_ASSERT_EQUAL(byte, 'x');
    close(file);
    folder_remove(folder);
}

static const struct test_case cases[] = {{"kinds of files", test_kinds}, {NULL, NULL}};
TEST_SUITE(regular_file, cases)
