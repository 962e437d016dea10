/* The counts of blocks and calls against those of a slow twin that is told every record. */
#include "capture/exec/kernel/process.h"
#include "capture/exec/translate/decode.h"
#include "tests/suites.h"
#include "tests/support/exec_child.h"
#include "tests/support/folder.h"
#include "tools/profile/profiler.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SLOTS (1u << 20)

/* What was executed of an instruction. */
struct counted {
    uint32_t address; /* 0: nothing */
    uint64_t fetches, reads, writes, calls;
};

struct twin {
    struct profiler *profiler;
    struct functions *functions;
    struct counted *table; /* SLOTS */
    struct counted *last;
    uint64_t instructions;
};

static struct counted *counted_at(struct counted *table, uint32_t address)
{
    uint32_t slot = address * 0x9e3779b1u % SLOTS;
    while (table[slot].address != 0 && table[slot].address != address)
        slot = (slot + 1) % SLOTS;
    table[slot].address = address;
    return &table[slot];
}

static int put(void *context, struct record *records, size_t count)
{
    struct twin *twin = context;
    for (size_t i = 0; i < count; i++) {
        if (records[i].type == REQUEST_FETCH) {
            const uint8_t *bytes = (const uint8_t *)(uintptr_t)records[i].address;
            struct decode_instruction instruction;
            decode(&instruction, bytes, records[i].size, records[i].address);
            twin->last = counted_at(twin->table, records[i].address);
            twin->last->fetches++;
            twin->last->calls +=
                instruction.kind == DECODE_CALL || instruction.kind == DECODE_CALL_INDIRECT;
            twin->instructions++;
        } else if (records[i].type == REQUEST_MEMWRITE) {
            twin->last->writes++;
        } else {
            twin->last->reads++;
        }
    }
    return 0;
}

/* Both get all of it. */
static int take(void *context, struct trace_expander *expander, const uint32_t *entries,
                size_t count, const struct block *part, unsigned instructions)
{
    struct twin *twin = context;
    uint64_t before = expander->instructions;
    int result = profiler_take(twin->profiler, expander, entries, count, part, instructions);
    if (result < 0)
        return result;
    trace_take_function *own = expander->take;
    expander->take = NULL;
    expander->instructions = before;
    result = part ? trace_expand_part(expander, part, entries + count, instructions)
                  : trace_expand(expander, entries, count);
    expander->take = own;
    return result;
}

static void loaded(void *context, const struct modules *modules)
{
    functions_set_modules(((struct twin *)context)->functions, modules);
}

/* Takes what the profiler has off the twin's counts. False: calls differ. */
static bool take_off(struct twin *twin)
{
    bool same = true;
    for (unsigned t = 0; t < profiler_threads(twin->profiler); t++)
        for (const struct profile_block *block = profiler_thread(twin->profiler, t)->blocks; block;
             block = block->next) {
            uint64_t calls = 0;
            struct counted *counted = NULL;
            for (unsigned i = 0; i < block->instruction_count; i++) {
                counted = counted_at(twin->table, block->instructions[i].address);
                counted->fetches -= block->count;
                counted->reads -= block->count * block->instructions[i].reads;
                counted->writes -= block->count * block->instructions[i].writes;
                counted->reads -= block->more ? block->more[i].reads : 0;
                counted->writes -= block->more ? block->more[i].writes : 0;
            }
            for (const struct profile_call *call = block->calls; call; call = call->next)
                calls += call->count;
            /* those of stubs are counted where the stub leads, and jumps are calls at times */
            if (counted && counted->calls && block->stub_instructions == 0 &&
                block->function != FUNCTION_NONE && calls != block->count)
                same = false;
        }
    return same;
}

struct call {
    const char *path;
    enum exec_trace trace;
};

/* In a child; the exit status says what was different. */
static void run(void *context)
{
    const struct call *call = context;
    static const char *const environment[] = {"LC_ALL=C", NULL};
    static const struct process_operations operations = {
        .put = put, .take = take, .loaded = loaded};
    struct bt_error error = {.message = ""};
    struct process_end end;
    struct twin twin = {.functions = functions_new(),
                        .table = calloc(SLOTS, sizeof(struct counted))};
    twin.profiler = profiler_new(twin.functions, &error);
    struct process_settings settings = {.trace = call->trace,
                                        .buffer_bytes = 65536,
                                        .cache_bytes = 256 << 10, /* so that it is flushed */
                                        .stack = {.environment = environment},
                                        .operations = &operations,
                                        .context = &twin};
    struct process *process =
        process_new(call->path, (const char *const[]){call->path, NULL}, &settings, &error);
    if (!process || process_run(process, &end, &error) != 0)
        _exit(10);
    if (end.is_child)
        _exit(0);
    if (profiler_threads(twin.profiler) != 1 || twin.instructions == 0 ||
        profiler_thread(twin.profiler, 0)->instructions != twin.instructions)
        _exit(11);
    if (!take_off(&twin))
        _exit(12);
    for (size_t i = 0; i < SLOTS; i++)
        if (twin.table[i].fetches || twin.table[i].reads || twin.table[i].writes)
            _exit(13);
    process_free(process);
    profiler_free(twin.profiler);
    functions_free(twin.functions);
    free(twin.table);
    _exit(0);
}

static void check(const char *folder, const char *source, const char *options)
{
    static struct exec_child child;
    char program[FOLDER_PATH_BYTES + 16];
    snprintf(program, sizeof program, "%s/program", folder);
    CU_ASSERT_FATAL(exec_child_compile(program, source, options));
    for (int trace = EXEC_TRACE_FETCHES; trace <= EXEC_TRACE_ALL; trace++) {
        struct call call = {program, (enum exec_trace)trace};
        exec_child_run(&child, run, &call);
        CU_ASSERT_EQUAL(child.status, 0);
        if (child.status != 0)
            printf("%s %s, trace %d: wait status %x\n", source, options, trace,
                   (unsigned)child.status);
    }
}

static void test_twin(void)
{
    char folder[FOLDER_PATH_BYTES];
    if (!EXEC_CHILD_LOW_MEMORY)
        return;
    folder_make_for_programs(folder);
    check(folder, "tests/tools/programs/profiled.c", "-O2");
    check(folder, "tests/tools/programs/profiled.c", "-O0 -no-pie");
    check(folder, "tests/capture/programs/faults.c", "-O1");
    check(folder, "tests/e2e/programs/strings.c", "-O2");
    check(folder, "tests/e2e/programs/switches.c", "-O2");
    folder_remove(folder);
}

static const struct test_case cases[] = {{"every instruction and call", test_twin}, {NULL, NULL}};
TEST_SUITE_XSAVE(profiler, cases)
