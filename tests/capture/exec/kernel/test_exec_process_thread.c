#define _GNU_SOURCE /* RLIMIT_SIGPENDING */
/* Programs with children and with threads. */
#include "capture/exec/kernel/process.h"
#include "tests/suites.h"
#include "tests/support/exec_child.h"
#include "tests/support/exec_ways.h"
#include "tests/support/folder.h"

#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define ROUNDS 15 /* of each of the four threads that meet in threads.c */

static void test_children(void)
{
    CU_ASSERT(exec_ways_agree("children", NULL));
}

/* The argument's letters: the process ends by one of several threads. */
static void test_threads(void)
{
    static const char *const endings[] = {"A", "B", "C", "D", "E", NULL};
    CU_ASSERT(exec_ways_agree("threads", endings));
}

struct share {
    uint64_t instructions[256]; /* by processor */
};

static int take_shares(void *context, struct record *records, size_t count)
{
    struct share *share = context;
    for (size_t i = 0; i < count; i++)
        share->instructions[records[i].processor] += records[i].time;
    return 0;
}

/* Each thread's instructions are those of its own processor: the first thread, the four that meet
 * at barriers, and no others. */
static void count_shares(void *context)
{
    const char *program = context;
    static const struct process_operations operations = {.put = take_shares};
    struct share share = {.instructions = {0}};
    const char *const arguments[] = {program, "c", NULL};
    struct process_settings settings = {.trace = EXEC_TRACE_FETCHES,
                                        .stack = {.environment = exec_ways_environment},
                                        .operations = &operations,
                                        .context = &share};
    struct bt_error error;
    struct process_end end;
    struct process *process = process_new(program, arguments, &settings, &error);
    if (!process || process_run(process, &end, &error) != 0 || end.ending != PROCESS_EXITED)
        _exit(99);
    uint64_t sum = share.instructions[0];
    for (unsigned i = 1; i < 256; i++) {
        sum += share.instructions[i];
        if ((i <= 4) != (share.instructions[i] > 0) ||
            (i <= 4 && share.instructions[i] < ROUNDS * 10u))
            _exit(98);
    }
    _exit(sum == process_instructions(process) ? 0 : 97);
}

/* Calls run with the program "threads" in a child, which must exit with 0. */
static void run_threads(struct exec_child *child, void (*run)(void *program))
{
    char folder[FOLDER_PATH_BYTES], program[FOLDER_PATH_BYTES + 16];
    folder_make_for_programs(folder);
    CU_ASSERT(exec_ways_compile(program, sizeof program, folder, "threads", ""));
    exec_child_run(child, run, program);
    CU_ASSERT_EQUAL(child->status, 0);
    folder_remove(folder);
}

static void test_shares(void)
{
    static struct exec_child child;
    if (EXEC_CHILD_LOW_MEMORY)
        run_threads(&child, count_shares);
}

/* Runs the program with a limit of 0 pending signals. */
static void run_without_queue(void *context)
{
    const struct rlimit none = {0, 0};
    const char *const arguments[] = {context, "abcdh", NULL};
    const struct process_settings settings = {.stack = {.environment = exec_ways_environment}};
    struct bt_error error;
    struct process_end end;
    setrlimit(RLIMIT_SIGPENDING, &none);
    struct process *process = process_new(arguments[0], arguments, &settings, &error);
    if (!process || process_run(process, &end, &error) != 0)
        _exit(99);
    process_exit(&end);
}

/* Threads that do not wait for each other in system calls get turns nevertheless. */
static void test_without_queue(void)
{
    static struct exec_child child;
    if (!EXEC_CHILD_LOW_MEMORY)
        return;
    run_threads(&child, run_without_queue);
    CU_ASSERT_PTR_NOT_NULL(strstr(child.output, "\nspinning: 40\nrobust: 1\n"));
}

static const struct test_case cases[] = {{"children", test_children},
                                         {"threads", test_threads},
                                         {"threads' processors", test_shares},
                                         {"no signal may wait", test_without_queue},
                                         {NULL, NULL}};
TEST_SUITE_XSAVE(exec_process_thread, cases)
