#include "tests/support/exec_ways.h"

#include "capture/exec/kernel/process.h"
#include "tests/support/exec_child.h"
#include "tests/support/folder.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

const char *const exec_ways_environment[] = {"LC_ALL=C", "PATH=/usr/bin:/bin", NULL};

static int take(void *context, struct record *records, size_t count)
{
    uint64_t *instructions = context;
    for (size_t i = 0; i < count; i++)
        *instructions += records[i].time;
    return 0;
}

/* Expands the entries into records, as is done without this operation. */
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

/* those of enum exec_trace, and one that takes all entries */
#define WAYS 4

/* Does not return. The number of instructions in the records must equal the number executed. */
static void run_translated(const char *const *arguments, int way)
{
    enum exec_trace trace = way < 3 ? (enum exec_trace)way : EXEC_TRACE_ALL;
    static const struct process_operations records = {.put = take};
    static const struct process_operations entries = {.put = take, .take = take_entries};
    uint64_t instructions = 0;
    struct process_settings settings = {.trace = trace,
                                        .buffer_bytes = trace == EXEC_TRACE_ALL ? 65536 : 0,
                                        .stack = {.environment = exec_ways_environment},
                                        .operations = way == 3 ? &entries : &records,
                                        .context = &instructions};
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

bool exec_ways_compile(char *program, size_t room, const char *folder, const char *name,
                       const char *options)
{
    char source[128], all_options[128];
    snprintf(program, room, "%s/%s", folder, name);
    snprintf(source, sizeof source, "tests/capture/programs/%s.c", name);
    snprintf(all_options, sizeof all_options, "-O1 -pthread %s", options);
    return exec_child_compile(program, source, all_options);
}

static bool compare(const char *program, const char *argument)
{
    static struct exec_child native, child;
    const char *const arguments[] = {program, argument, NULL};
    bool agree = true;
    exec_child_native(&native, arguments, exec_ways_environment);
    for (int way = 0; way < WAYS; way++) {
        struct call call = {arguments, way};
        exec_child_run(&child, run, &call);
        if (child.status == native.status && strcmp(child.output, native.output) == 0)
            continue;
        agree = false;
        printf("%s %s, way %d: %x instead of %x\n%s\ninstead of\n%s\n", program,
               argument ? argument : "", way, (unsigned)child.status, (unsigned)native.status,
               child.output, native.output);
    }
    return agree;
}

bool exec_ways_agree(const char *name, const char *const *arguments)
{
    static const char *const ways[] = {"", "-static", "-no-pie"};
    static const char *const none[] = {NULL};
    char folder[FOLDER_PATH_BYTES], program[FOLDER_PATH_BYTES + 32];
    bool agree = true;
    if (!EXEC_CHILD_LOW_MEMORY)
        return true;
    folder_make_for_programs(folder);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        if (!exec_ways_compile(program, sizeof program, folder, name, ways[i])) {
            agree = agree && i > 0; /* static libraries may be missing */
            continue;
        }
        agree = compare(program, NULL) && agree;
        for (const char *const *argument = arguments ? arguments : none; *argument; argument++)
            agree = compare(program, *argument) && agree;
    }
    folder_remove(folder);
    return agree;
}
