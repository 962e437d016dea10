/* The files of a program's code, for programs compiled here. */
#include "capture/exec/kernel/process.h"
#include "tests/suites.h"
#include "tests/support/exec_child.h"
#include "tests/support/folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LIBRARIES "tests/capture/programs/libraries.c"

struct module_changes {
    unsigned times;
    size_t most;
};

static void count_loaded(void *context, const struct modules *modules)
{
    struct module_changes *changes = context;
    changes->times++;
    if (modules_count(modules) > changes->most)
        changes->most = modules_count(modules);
}

/* In a child: runs the program and writes its modules, with a '-' before unloaded ones. */
static void run(const char *const *arguments, FILE *out)
{
    static const char *const environment[] = {"LC_ALL=C", NULL};
    static const struct process_operations operations = {.loaded = count_loaded};
    struct module_changes changes = {0};
    struct process_settings settings = {.trace = EXEC_TRACE_NONE,
                                        .stack = {.environment = environment},
                                        .operations = &operations,
                                        .context = &changes};
    struct bt_error error = {.message = ""};
    struct process_end end;
    struct process *process = process_new(arguments[0], arguments, &settings, &error);
    if (!process || process_run(process, &end, &error) != 0) {
        fprintf(out, "%s: %s\n", arguments[0], error.message);
        return;
    }
    const struct modules *modules = process_modules(process);
    for (size_t i = 0; i < modules_count(modules); i++) {
        const struct module *module = modules_get(modules, i);
        const struct module *found = modules_find(modules, module->start);
        fprintf(out, "%s%s %d\n", module->gone ? "-" : "", module->path,
                module->gone ? found != module : found == module);
    }
    fprintf(out, "changes %d %d\n", changes.times > 0, changes.most == modules_count(modules));
    modules_write(modules, false, out);
    process_free(process);
}

/* Discards the program's own output. */
static void run_apart(void *context)
{
    FILE *out = fdopen(dup(STDOUT_FILENO), "w");
    if (!out || !freopen("/dev/null", "w", stdout))
        _exit(98);
    run(context, out);
    fclose(out);
}

/* Valid until the next call. */
static const char *text_of(const char **arguments)
{
    static struct exec_child child;
    exec_child_run(&child, run_apart, arguments);
    CU_ASSERT_EQUAL(child.status, 0);
    return child.output;
}

static bool make_library(const char *folder, const char *name, int answer)
{
    char command[512];
    snprintf(command, sizeof command,
             "echo 'int answer(void) { return %d; }' | cc -shared -fPIC -x c -o '%s/%s' -", answer,
             folder, name);
    return system(command) == 0;
}

/* Whether "PREFIXfolder/nameSUFFIX" is in the text. */
static bool has(const char *text, const char *prefix, const char *folder, const char *name,
                const char *suffix)
{
    char line[FOLDER_PATH_BYTES + 64];
    snprintf(line, sizeof line, "%s%s/%s%s", prefix, folder, name, suffix);
    return strstr(text, line) != NULL;
}

/* A library loaded again at the same address is the same module, unless its file has changed. */
static void check_again(const char *folder, const char *program, const char *one)
{
    char other[FOLDER_PATH_BYTES + 16];
    snprintf(other, sizeof other, "%s/other.so", folder);
    const char *text = text_of((const char *[]){program, one, one, NULL});
    CU_ASSERT(has(text, "\n", folder, "one.so", " 1\n"));
    CU_ASSERT_FALSE(has(text, "\n-", folder, "one.so", ""));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "\nchanges 1 1\n"));
    CU_ASSERT_FATAL(make_library(folder, "other.so", 3));
    text = text_of((const char *[]){program, one, one, other, NULL});
    CU_ASSERT(has(text, "\n", folder, "one.so", " 1\n"));
    CU_ASSERT(has(text, "\n-", folder, "one.so", " 1\n"));
}

static void check_libraries(const char *folder)
{
    char program[FOLDER_PATH_BYTES + 16], one[sizeof program], two[sizeof program];
    snprintf(program, sizeof program, "%s/program", folder);
    snprintf(one, sizeof one, "%s/one.so", folder);
    snprintf(two, sizeof two, "%s/two.so", folder);
    CU_ASSERT_FATAL(exec_child_compile(program, LIBRARIES, "-O1 -ldl"));
    CU_ASSERT_FATAL(make_library(folder, "one.so", 1) && make_library(folder, "two.so", 2));
    const char *text = text_of((const char *[]){program, one, two, NULL});
    /* the program is first and stays; one library is unloaded, the other is not */
    CU_ASSERT_EQUAL(strncmp(text, program, strlen(program)), 0);
    CU_ASSERT(has(text, "", folder, "program", " 1\n"));
    CU_ASSERT(has(text, "\n-", folder, "one.so", " 1\n"));
    CU_ASSERT(has(text, "\n", folder, "two.so", " 1\n"));
    CU_ASSERT(has(text, "\n", folder, "program", "@0x10000000\n"));
    CU_ASSERT(has(text, "\n", folder, "one.so", "@0x"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "/libc.so.6 1\n"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "\nchanges 1 1\n"));
    check_again(folder, program, one);
}

static void check_fixed(const char *folder, const char *options)
{
    char program[FOLDER_PATH_BYTES + 16];
    snprintf(program, sizeof program, "%s/fixed", folder);
    bool made = exec_child_compile(program, LIBRARIES, options);
    CU_ASSERT(made || strstr(options, "-static")); /* static libraries may be missing */
    if (!made)
        return;
    const char *text = text_of((const char *[]){program, NULL});
    CU_ASSERT(has(text, "\n", folder, "fixed", "@0x400000\n"));
}

static void test_modules(void)
{
    char folder[FOLDER_PATH_BYTES];
    if (!EXEC_CHILD_LOW_MEMORY)
        return;
    folder_make_for_programs(folder);
    check_libraries(folder);
    check_fixed(folder, "-O1 -no-pie -ldl");
    check_fixed(folder, "-O1 -static -ldl");
    folder_remove(folder);
}

static const struct test_case cases[] = {{"loaded files", test_modules}, {NULL, NULL}};

TEST_SUITE_XSAVE(exec_modules, cases)
