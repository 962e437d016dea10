/* Reports of addresses that execution reaches. */
#include "capture/exec/kernel/process.h"
#include "capture/exec/translate/decode.h"
#include "tests/suites.h"
#include "tests/support/exec_child.h"
#include "tests/support/exec_ways.h"
#include "tests/support/folder.h"
#include "tools/symbols/exec_symbol.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define CALLS 1000u /* of each of two threads, as in the program */

struct watch {
    struct process *process;
    struct exec_symbol symbol;
    bool seen[2 * CALLS];   /* arguments */
    uint64_t argument[256]; /* by processor: of the call that has not returned */
    uint64_t returned[256]; /* by processor: where it returns to */
    unsigned calls, returns;
    uint64_t next; /* address that was reported last; 0: the next record is any */
};

static void fail(int status)
{
    _exit(status);
}

static void find(void *context, const struct modules *modules)
{
    struct watch *watch = context;
    if (exec_symbol_look(&watch->symbol, modules) &&
        process_watch(watch->process, watch->symbol.address) != 0)
        fail(90);
}

static void reach(void *context, unsigned processor, uint64_t address, const uint64_t *registers)
{
    struct watch *watch = context;
    watch->next = address;
    if (address == watch->symbol.address) {
        const uint64_t number = registers[DECODE_RDI];
        if (number < 2 * CALLS && !watch->seen[number])
            watch->seen[number] = true;
        else
            fail(91);
        watch->argument[processor] = number;
        watch->calls++;
        if (process_read(watch->process, &watch->returned[processor], registers[DECODE_RSP],
                         sizeof watch->returned[processor]) != 0 ||
            process_watch(watch->process, watch->returned[processor]) != 0)
            fail(92);
    } else if (address == watch->returned[processor]) {
        if (registers[DECODE_RAX] != 3 * watch->argument[processor] + 1)
            fail(93);
        watch->returned[processor] = 0;
        watch->returns++;
    }
}

/* Records before the address are put before the report, the others after it. */
static int take(void *context, struct record *records, size_t count)
{
    struct watch *watch = context;
    if (count > 0 && watch->next && records[0].address != watch->next)
        fail(94);
    if (count > 0)
        watch->next = 0;
    return 0;
}

static void run(void *context)
{
    static const struct process_operations operations = {
        .put = take, .loaded = find, .reached = reach};
    static struct watch watch;
    const char *const arguments[] = {context, NULL};
    const struct process_settings settings = {.trace = EXEC_TRACE_FETCHES,
                                              .stack = {.environment = exec_ways_environment},
                                              .operations = &operations,
                                              .context = &watch};
    struct bt_error error;
    struct process_end end;
    if (exec_symbol_parse(&watch.symbol, "watched", &error) != 0)
        fail(95);
    watch.process = process_new(arguments[0], arguments, &settings, &error);
    if (!watch.process || process_run(watch.process, &end, &error) != 0)
        fail(96);
    if (end.ending != PROCESS_EXITED || end.value != 0)
        fail(97);
    fail(watch.calls == 2 * CALLS && watch.returns == 2 * CALLS ? 0 : 98);
}

static void test_calls_and_returns(void)
{
    static const char *const ways[] = {"", "-static -no-pie"};
    static struct exec_child child;
    char folder[FOLDER_PATH_BYTES], program[FOLDER_PATH_BYTES + 16];
    if (!EXEC_CHILD_LOW_MEMORY)
        return;
    folder_make_for_programs(folder);
    for (unsigned i = 0; i < 2; i++) {
        CU_ASSERT(exec_ways_compile(program, sizeof program, folder, "watched", ways[i]));
        exec_child_run(&child, run, program);
        CU_ASSERT_EQUAL(child.status, 0);
    }
    folder_remove(folder);
}

static const struct test_case cases[] = {{"calls and returns", test_calls_and_returns},
                                         {NULL, NULL}};
TEST_SUITE_XSAVE(exec_process_watch, cases)
