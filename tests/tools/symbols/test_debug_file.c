/* The search for separate debug files, and the check that they match. */
#define _DEFAULT_SOURCE /* off64_t, which libelf's header needs */

#include "tests/suites.h"
#include "tests/support/exec_child.h"
#include "tests/support/folder.h"
#include "tools/symbols/debug_file.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SOURCE "tests/capture/programs/ground.c"

static char folder[FOLDER_PATH_BYTES];

/* Runs a command in the folder. */
__attribute__((format(printf, 1, 2))) static void shell(const char *format, ...)
{
    char command[4 * FOLDER_PATH_BYTES + 256];
    va_list arguments;
    int length = snprintf(command, sizeof command, "cd %s && ", folder);
    va_start(arguments, format);
    vsnprintf(command + length, sizeof command - (size_t)length, format, arguments);
    va_end(arguments);
    CU_ASSERT_EQUAL_FATAL(system(command), 0);
}

static void compile(const char *name, const char *options)
{
    char path[FOLDER_PATH_BYTES + 32];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    CU_ASSERT_FATAL(exec_child_compile(path, SOURCE, options));
}

static struct debug_file find(const char *name)
{
    char path[FOLDER_PATH_BYTES + 32], root[FOLDER_PATH_BYTES + 32], cache[FOLDER_PATH_BYTES + 32];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    snprintf(root, sizeof root, "%s/root", folder);
    snprintf(cache, sizeof cache, "%s/cache", folder);
    const struct debug_folders folders = {.root = root, .cache = cache};
    elf_version(EV_CURRENT);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    Elf *elf = elf_begin(file, ELF_C_READ, NULL);
    struct debug_file found = debug_file_find(elf, path, &folders);
    elf_end(elf);
    close(file);
    return found;
}

/* Expects the debug file `at` (NULL: none) and the refusal `why` (NULL: none). */
static void check(const char *name, const char *at, const char *why)
{
    char path[2 * FOLDER_PATH_BYTES + 64];
    struct debug_file found = find(name);
    snprintf(path, sizeof path, "%s/%s", folder, at ? at : "");
    CU_ASSERT_EQUAL(found.path != NULL, at != NULL);
    if (found.path && at)
        CU_ASSERT_STRING_EQUAL(found.path, path);
    CU_ASSERT_EQUAL(found.refused != NULL, why != NULL);
    if (found.refused && why)
        CU_ASSERT_PTR_NOT_NULL(strstr(found.refused, why));
    debug_file_clear(&found);
    CU_ASSERT_PTR_NULL(found.path);
}

static void test_by_build_id(void)
{
    folder_make(folder);
    compile("program", "-s -Wl,--build-id=0x0123456789abcdef");
    compile("whole", "-g -Wl,--build-id=0x0123456789abcdef");
    compile("other", "-g -Wl,--build-id=0x0123456789abcdee");
    check("program", NULL, NULL);
    shell("mkdir -p root/.build-id/01 cache/0123456789abcdef");
    shell("cp whole cache/0123456789abcdef/debuginfo");
    check("program", "cache/0123456789abcdef/debuginfo", NULL);
    shell("cp other root/.build-id/01/23456789abcdef.debug");
    check("program", "cache/0123456789abcdef/debuginfo",
          NULL); /* the search continues after a mismatch */
    shell("cp other cache/0123456789abcdef/debuginfo");
    check("program", NULL, "23456789abcdef.debug is not used as the debug file of ");
    check("program", NULL, "it has another build id");
    shell("cp whole root/.build-id/01/23456789abcdef.debug");
    check("program", "root/.build-id/01/23456789abcdef.debug", NULL);
    check("whole", NULL, NULL); /* has debug information */
    shell("rm cache/0123456789abcdef/debuginfo && : >root/.build-id/01/23456789abcdef.debug");
    check("program", NULL, NULL); /* an empty file, as from a failed download */
    shell("rm root/.build-id/01/23456789abcdef.debug && mkfifo "
          "root/.build-id/01/23456789abcdef.debug");
    check("program", NULL, NULL);
    folder_remove(folder);
}

static void test_by_link(void)
{
    folder_make(folder);
    compile("whole", "-g -Wl,--build-id=none");
    shell("objcopy --only-keep-debug whole separate && cp whole plain && strip plain");
    shell("objcopy --add-gnu-debuglink=separate plain program && rm separate");
    check("program", NULL, NULL);
    shell("mkdir -p root/$PWD .debug");
    shell("objcopy --only-keep-debug whole root/$PWD/separate");
    char at[FOLDER_PATH_BYTES + 32];
    snprintf(at, sizeof at, "root%s/separate", folder);
    check("program", at, NULL);
    shell("cp root/$PWD/separate .debug && echo >>root/$PWD/separate");
    check("program", ".debug/separate", NULL);
    shell("cp .debug/separate . && cp plain .debug/separate");
    check("program", "separate", NULL);
    shell("echo >>separate");
    check("program", NULL, "its CRC is not that of the debug link");
    shell("echo text >separate && rm -r .debug root");
    check("program", NULL, "it is not an ELF file");
    /* a link to the file itself */
    shell("cp program separate");
    check("separate", NULL, NULL);
    folder_remove(folder);
}

static void test_usual_folders(void)
{
    static const char *const names[] = {"DEBUGINFOD_CACHE_PATH", "XDG_CACHE_HOME", "HOME"};
    static const char *const wanted[] = {"/a", "/b/debuginfod_client",
                                         "/c/.cache/debuginfod_client"};
    char cache[DEBUG_FOLDER_BYTES], *before[3];
    for (unsigned i = 0; i < 3; i++) {
        before[i] = getenv(names[i]) ? strdup(getenv(names[i])) : NULL;
        setenv(names[i], (const char *[]){"/a", "/b", "/c"}[i], 1);
    }
    for (unsigned i = 0; i < 3; i++) {
        struct debug_folders folders = debug_folders_usual(cache);
        CU_ASSERT_STRING_EQUAL(folders.root, "/usr/lib/debug");
        CU_ASSERT_PTR_NOT_NULL_FATAL(folders.cache);
        CU_ASSERT_STRING_EQUAL(folders.cache, wanted[i]);
        unsetenv(names[i]);
    }
    CU_ASSERT_PTR_NULL(debug_folders_usual(cache).cache);
    for (unsigned i = 0; i < 3; i++) {
        if (before[i])
            setenv(names[i], before[i], 1);
        free(before[i]);
    }
}

static const struct test_case cases[] = {{"by build id", test_by_build_id},
                                         {"by debug link", test_by_link},
                                         {"usual folders", test_usual_folders},
                                         {NULL, NULL}};
TEST_SUITE(debug_file, cases)
