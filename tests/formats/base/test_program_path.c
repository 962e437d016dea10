/* The search for programs in the folders of PATH. */
#define _DEFAULT_SOURCE /* setenv, fchdir */
#include "formats/base/program_path.h"

#include "tests/suites.h"
#include "tests/support/folder.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME "program_path_example"

struct path_fixture {
    char folder[FOLDER_PATH_BYTES];
    char file[FOLDER_PATH_BYTES + 40];
    char *path; /* PATH before the test */
};

static void set_up(struct path_fixture *fixture, mode_t mode)
{
    folder_make(fixture->folder);
    snprintf(fixture->file, sizeof fixture->file, "%s/" NAME, fixture->folder);
    int descriptor = open(fixture->file, O_CREAT | O_WRONLY | O_CLOEXEC, mode);
    CU_ASSERT_FATAL(descriptor >= 0);
    close(descriptor);
    fixture->path = strdup(getenv("PATH"));
    CU_ASSERT_PTR_NOT_NULL_FATAL(fixture->path);
}

static void tear_down(struct path_fixture *fixture)
{
    setenv("PATH", fixture->path, 1);
    free(fixture->path);
    folder_remove(fixture->folder);
}

static void test_folders(void)
{
    struct path_fixture fixture;
    char found[FOLDER_PATH_BYTES + 40], path[2 * FOLDER_PATH_BYTES];
    set_up(&fixture, 0700);
    snprintf(path, sizeof path, "/nonexistent::%s", fixture.folder);
    setenv("PATH", path, 1);
    CU_ASSERT(program_path_find(found, sizeof found, NAME));
    CU_ASSERT_STRING_EQUAL(found, fixture.file);
    CU_ASSERT_FALSE(program_path_find(found, 8, NAME));
    CU_ASSERT_FALSE(program_path_find(found, sizeof found, NAME "2"));
    unsetenv("PATH");
    CU_ASSERT_FALSE(program_path_find(found, sizeof found, NAME));
    CU_ASSERT(program_path_find(found, sizeof found, "sh"));
    tear_down(&fixture);
}

/* An empty folder, also at the end, is the current one. */
static void test_current_folder(void)
{
    struct path_fixture fixture;
    char found[FOLDER_PATH_BYTES + 40];
    set_up(&fixture, 0700);
    int before = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    CU_ASSERT_FATAL(before >= 0 && chdir(fixture.folder) == 0);
    setenv("PATH", "/nonexistent:", 1);
    CU_ASSERT(program_path_find(found, sizeof found, NAME));
    CU_ASSERT_STRING_EQUAL(found, "./" NAME);
    CU_ASSERT_FATAL(fchdir(before) == 0);
    close(before);
    tear_down(&fixture);
}

static void test_no_program(void)
{
    struct path_fixture fixture;
    char found[FOLDER_PATH_BYTES + 40];
    set_up(&fixture, 0600);
    setenv("PATH", fixture.folder, 1);
    CU_ASSERT_FALSE(program_path_find(found, sizeof found, NAME));
    CU_ASSERT_FALSE(program_path_is_program(fixture.file));
    CU_ASSERT_FALSE(program_path_is_program(fixture.folder));
    tear_down(&fixture);
}

static const struct test_case cases[] = {{"folders of PATH", test_folders},
                                         {"the current folder", test_current_folder},
                                         {"a file that cannot be executed", test_no_program},
                                         {NULL, NULL}};
TEST_SUITE(program_path, cases)
