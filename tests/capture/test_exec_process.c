#define _GNU_SOURCE /* mkdtemp */
/* Programs of tests/capture/programs/, compiled here, natively and translated: the same output and
 * the same end. */
#include "capture/exec/process.h"
#include "tests/suites.h"
#include "tests/support/exec_child.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ROUNDS 15 /* of each of the four that meet in threads.c */

static const char *const environment[] = {"LC_ALL=C", "PATH=/usr/bin:/bin", NULL};

static int take(void *context, struct record *records, size_t count)
{
    uint64_t *instructions = context;
    for (size_t i = 0; i < count; i++)
        *instructions += records[i].time;
    return 0;
}

/* Makes the records after all, as would be done without it. */
static int take_entries(void *context, struct trace_expander *expander, const uint32_t *entries,
                        size_t count, const struct block *part, unsigned instructions)
{
    (void)context;
    trace_take_function *own = expander->take;
    expander->take = NULL;
    int result = part ? trace_expand_part(expander, part, entries + count, instructions) : 0;
    if (result == 0)
        result = trace_expand(expander, entries, count);
    expander->take = own;
    return result;
}

/* enum exec_trace; that all entries are taken; all records by a thread of their own */
#define WAYS 5

/* Never returns. The records have to tell of as many instructions as there were. */
static void run_translated(const char *const *arguments, int way)
{
    enum exec_trace trace = way < 3 ? (enum exec_trace)way : EXEC_TRACE_ALL;
    uint64_t instructions = 0;
    struct process_settings settings = {.trace = trace,
                                        .buffer_bytes = trace == EXEC_TRACE_ALL ? 65536 : 0,
                                        .parallel = way == 4,
                                        .start = {.environment = environment},
                                        .put = take,
                                        .take = way == 3 ? take_entries : NULL,
                                        .put_context = &instructions};
    struct bt_error error = {.message = ""};
    struct process_end end = {.ending = PROCESS_UNABLE};
    struct process *process = process_new(arguments[0], arguments, &settings, &error);
    if (!process || process_run(process, &end, &error) != 0) {
        dprintf(2, "%s: %s\n", arguments[0], error.message);
        _exit(99);
    }
    if (trace != EXEC_TRACE_NONE && instructions != process_instructions(process))
        _exit(97);
    process_exit(&end);
}

struct call {
    const char *const *arguments;
    int way;
};

static void run(void *context)
{
    const struct call *call = context;
    run_translated(call->arguments, call->way);
}

static bool compile(char *program, size_t room, const char *folder, const char *name,
                    const char *options)
{
    char command[512];
    snprintf(program, room, "%s/%s", folder, name);
    snprintf(command, sizeof command, "cc -O1 -w -pthread %s -o %s tests/capture/programs/%s.c",
             options, program, name);
    return system(command) == 0;
}

static void compare(const char *program, const char *argument)
{
    static struct exec_child native, child;
    const char *const arguments[] = {program, argument, NULL};
    exec_child_native(&native, arguments, environment);
    for (int way = 0; way < WAYS; way++) {
        struct call call = {arguments, way};
        exec_child_run(&child, run, &call);
        if (child.status != native.status || strcmp(child.output, native.output) != 0)
            printf("%s %s, way %d: %x instead of %x\n%s\ninstead of\n%s\n", program,
                   argument ? argument : "", way, (unsigned)child.status, (unsigned)native.status,
                   child.output, native.output);
        CU_ASSERT_EQUAL(child.status, native.status);
        CU_ASSERT_STRING_EQUAL(child.output, native.output);
    }
}

static void check(const char *name, const char *const *arguments)
{
    static const char *const ways[] = {"", "-static", "-no-pie"};
    static const char *const none[] = {NULL};
    char folder[] = "/tmp/bustap_process_XXXXXX", program[128];
    if (!EXEC_CHILD_LOW_MEMORY || !mkdtemp(folder))
        return;
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        bool compiled = compile(program, sizeof program, folder, name, ways[i]);
        CU_ASSERT(compiled || i > 0); /* not everybody has static libraries */
        if (!compiled)
            continue;
        compare(program, NULL);
        for (const char *const *argument = arguments ? arguments : none; *argument; argument++)
            compare(program, *argument);
        unlink(program);
    }
    rmdir(folder);
}

static void test_signals(void)
{
    check("signals", NULL);
}

static void test_faults(void)
{
    static const char *const endings[] = {"4", "6", "8", "11", "15", "9", "1", "34", "17", NULL};
    check("faults", endings);
}

static void test_modified(void)
{
    static const char *const changes[] = {"1,200,0", "2,200,1000", "3,100,300", NULL};
    check("modify", NULL);
    check("changing", changes);
}

static void test_children(void)
{
    check("children", NULL);
}

/* The argument's letters: ends of the process by one of several threads. */
static void test_threads(void)
{
    static const char *const endings[] = {"A", "B", "C", "D", "E", NULL};
    check("threads", endings);
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

/* Each thread's instructions are its own processor's: of the first, of the four that meet at
 * barriers, and of nobody else. */
static void count_shares(void *context)
{
    const char *program = context;
    struct share share = {.instructions = {0}};
    const char *const arguments[] = {program, "c", NULL};
    struct process_settings settings = {.trace = EXEC_TRACE_FETCHES,
                                        .start = {.environment = environment},
                                        .put = take_shares,
                                        .put_context = &share};
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

static void test_shares(void)
{
    char folder[] = "/tmp/bustap_process_XXXXXX", program[128];
    static struct exec_child child;
    if (!EXEC_CHILD_LOW_MEMORY || !mkdtemp(folder))
        return;
    CU_ASSERT(compile(program, sizeof program, folder, "threads", ""));
    exec_child_run(&child, count_shares, program);
    CU_ASSERT_EQUAL(child.status, 0);
    unlink(program);
    rmdir(folder);
}

static const struct test_case cases[] = {{"signals", test_signals},
                                         {"faults", test_faults},
                                         {"code that changes", test_modified},
                                         {"children", test_children},
                                         {"threads", test_threads},
                                         {"threads' processors", test_shares},
                                         {NULL, NULL}};
TEST_SUITE(exec_process, cases)
