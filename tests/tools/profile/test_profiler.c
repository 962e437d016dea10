/* Counts of blocks and calls against a slow twin that counts every record. */
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

/* The counts of an instruction. */
struct counted_instruction {
    uint32_t address; /* 0: unused */
    uint64_t fetches, reads, writes, calls;
};

struct profile_twin {
    struct profiler *profiler;
    struct functions *functions;
    struct counted_instruction *table; /* SLOTS */
    struct counted_instruction *last;
    uint64_t instructions;
};

static struct counted_instruction *counted_at(struct counted_instruction *table, uint32_t address)
{
    uint32_t slot = address * 0x9e3779b1u % SLOTS;
    while (table[slot].address != 0 && table[slot].address != address)
        slot = (slot + 1) % SLOTS;
    table[slot].address = address;
    return &table[slot];
}

static int put(void *context, struct record *records, size_t count)
{
    struct profile_twin *twin = context;
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

/* Passes all entries to the profiler and to the twin. */
static int take(void *context, struct trace_expander *expander, const uint32_t *entries,
                size_t count, const struct block *part, unsigned instructions)
{
    struct profile_twin *twin = context;
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
    functions_set_modules(((struct profile_twin *)context)->functions, modules);
}

/* Subtracts the profiler's counts from the twin's. False: calls differ. */
static bool subtract(struct profile_twin *twin)
{
    bool same = true;
    for (unsigned t = 0; t < profiler_threads(twin->profiler); t++)
        for (const struct profile_block *block = profiler_thread(twin->profiler, t)->blocks; block;
             block = block->next) {
            uint64_t calls = 0;
            struct counted_instruction *counted = NULL;
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
            /* calls of stubs count at their targets, and some jumps are calls */
            if (counted && counted->calls && block->stub_instructions == 0 &&
                block->function != FUNCTION_NONE && calls != block->count)
                same = false;
        }
    return same;
}

struct profile_run {
    const char *path;
    enum exec_trace trace;
};

/* Runs in a child; the exit status identifies the failed check. */
static void run(void *context)
{
    const struct profile_run *call = context;
    static const char *const environment[] = {"LC_ALL=C", NULL};
    static const struct process_operations operations = {
        .put = put, .take = take, .loaded = loaded};
    struct bt_error error = {.message = ""};
    struct process_end end;
    struct profile_twin twin = {.functions = functions_new(),
                                .table = calloc(SLOTS, sizeof(struct counted_instruction))};
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
    if (!subtract(&twin))
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
        struct profile_run call = {program, (enum exec_trace)trace};
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
