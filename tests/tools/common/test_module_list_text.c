/* Lists of modules among the operands of a command. */
#include "tests/suites.h"
#include "tests/support/folder.h"
#include "tools/common/module_list_text.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Whether a file with this text is a list. */
static bool is_list(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    CU_ASSERT_FATAL(file != NULL);
    fputs(text, file);
    CU_ASSERT_EQUAL(fclose(file), 0);
    return module_list_is(path);
}

static void test_content(void)
{
    char folder[FOLDER_PATH_BYTES];
    char path[FOLDER_PATH_BYTES + 8];
    folder_make(folder);
    snprintf(path, sizeof path, "%s/a", folder);
    CU_ASSERT(!module_list_is(path)); /* nothing is there */
    CU_ASSERT(is_list(path, "/x@0x1000\n"));
    CU_ASSERT(is_list(path, "\n\n/x@0x1000@5-9,12-"));
    CU_ASSERT(!is_list(path, ""));
    CU_ASSERT(!is_list(path, "\n\n"));
    CU_ASSERT(!is_list(path, "x@0x1000\n"));
    CU_ASSERT(!is_list(path, "/x@1000\n"));
    CU_ASSERT(!is_list(path, "2 1000\n/x@0x1000\n"));
    CU_ASSERT(!module_list_is(folder));
    CU_ASSERT_EQUAL(unlink(path), 0);
    CU_ASSERT_EQUAL(mkfifo(path, 0600), 0);
    CU_ASSERT(!module_list_is(path)); /* and it does not wait for a writer */
    folder_remove(folder);
}

static const struct test_case cases[] = {{"content", test_content}, {NULL, NULL}};
TEST_SUITE(module_list_text, cases)
