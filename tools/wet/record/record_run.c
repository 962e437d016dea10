#include "tools/wet/record/record_run.h"

#include "capture/exec/kernel/signals.h"
#include "tools/common/own_stream.h"

#include <inttypes.h>
#include <signal.h>

extern char **environ;

/* --- callbacks ---------------------------------------------------------------------------------
 */

static int read_memory(void *context, void *bytes, uint64_t address, size_t size)
{
    return process_read(((struct record_run *)context)->process, bytes, address, size);
}

/* Adds the modules that are new. */
static int add_modules(const struct record_run *run, struct wet_code *code)
{
    const size_t count = run->modules ? modules_count(run->modules) : 0;
    int64_t result = 0;
    for (size_t i = code->module_count; i < count && result >= 0; i++) {
        const struct module *module = modules_get(run->modules, i);
        const struct wet_module one = {.path = (char *)(uintptr_t)module->path,
                                       .load_address = module->load_address,
                                       .start = module->start,
                                       .end = module->end};
        result = wet_code_add_module(code, &one);
    }
    return result < 0 ? (int)result : 0;
}

static int describe(void *context, struct wet_code *code)
{
    struct record_run *run = context;
    const int result = add_modules(run, code);
    return result < 0 ? result : record_places_describe(&run->places, code);
}

static int take(void *context, struct trace_expander *expander, const uint32_t *entries,
                size_t count, const struct block *part, unsigned instructions)
{
    struct record_run *run = context;
    return run->is_child
               ? 0
               : recorder_take(run->recorder, expander, entries, count, part, instructions);
}

static void note_block(void *context, unsigned processor, const struct block *block)
{
    struct record_run *run = context;
    (void)processor;
    if (!run->is_child && !process_is_in_child(run->process))
        recorder_translated(run->recorder, block);
}

static void note_gap(void *context, int processor)
{
    (void)processor; /* memory is shared: what any thread reads may be of unrecorded instructions */
    recorder_gap(((struct record_run *)context)->recorder);
}

static void note_event(void *context, unsigned processor, enum record_event event)
{
    if (event == EVENT_THREAD)
        recorder_thread_ended(((struct record_run *)context)->recorder, processor);
}

static void note_end(void *context, unsigned processor)
{
    recorder_thread_ended(((struct record_run *)context)->recorder, processor);
}

static void look(void *context, const struct modules *modules)
{
    struct record_run *run = context;
    uint64_t from, until;
    run->modules = modules;
    functions_set_modules(run->functions, modules);
    region_places_look(&run->region, modules);
    region_places_addresses(&run->region, &from, &until);
    process_set_region(run->process, from, until);
}

static void note_call(void *context, unsigned processor, const struct system_call *call,
                      bool returned)
{
    struct record_run *run = context;
    if (!run->is_child && !process_is_in_child(run->process))
        recorder_called(run->recorder, processor, call, returned,
                        process_registers(run->process)[DECODE_RSP]);
}

/* Notes the instruction that has raised the signal which ends the program. */
static void note_fault(struct record_run *run, const struct signal_report *signal)
{
    struct wet_instruction *fault = &run->closing.fault;
    struct decode_instruction decoded;
    size_t size = sizeof fault->bytes;
    *fault = (struct wet_instruction){.address = process_instruction(run->process)};
    run->closing.has_fault =
        signal->code > 0 &&
        (signal->number == SIGSEGV || signal->number == SIGBUS || signal->number == SIGFPE ||
         signal->number == SIGILL || signal->number == SIGTRAP);
    if (!run->closing.has_fault)
        return;
    while (size > 0 && process_read(run->process, fault->bytes, fault->address, size) != 0)
        size--; /* the last page of a mapping */
    decode(&decoded, fault->bytes, size, fault->address);
    fault->size = size > 0 ? decoded.size : 0;
    if (record_places_find(&run->places, recorder_code(run->recorder), fault) < 0)
        fault->function = fault->file = fault->line = 0;
}

static void note_signal(void *context, unsigned processor, const struct signal_report *signal)
{
    struct record_run *run = context;
    if (run->is_child || process_is_in_child(run->process))
        return;
    if (signal->handler) {
        recorder_signal(run->recorder, processor, signal->stack);
        return;
    }
    note_fault(run, signal);
    run->closing.thread = recorder_thread(run->recorder, processor);
}

/* A child is not traced. */
static void let_go(void *context, bool shares_files)
{
    struct record_run *run = context;
    (void)shares_files;
    run->is_child = true;
    process_close_regions(run->process);
}

/* If the execve fails nevertheless, recording continues, and the closing is replaced. */
static void conclude(void *context, const char *path)
{
    struct record_run *run = context;
    struct wet_closing closing = {.ending = WET_EXECUTED,
                                  .thread = recorder_thread(run->recorder, UINT32_MAX)};
    (void)path;
    if (!run->is_child)
        recorder_close(run->recorder, &closing);
}

static void notice(void *context, const char *what)
{
    own_stream_notice(((struct record_run *)context)->messages, what);
}

static const struct process_operations operations = {.take = take,
                                                     .gap = note_gap,
                                                     .event = note_event,
                                                     .thread_ended = note_end,
                                                     .forked = let_go,
                                                     .executing = conclude,
                                                     .loaded = look,
                                                     .translated = note_block,
                                                     .signalled = note_signal,
                                                     .called = note_call,
                                                     .notice = notice};

/* --- the run -----------------------------------------------------------------------------------
 */

int record_run_begin(struct record_run *run, const char *path, const char *const *arguments,
                     struct bt_error *error)
{
    const struct record_run_settings *settings = run->settings;
    const struct region_options *region = &settings->region;
    const struct recorder_settings recorder = {.has_values = settings->has_values,
                                               .chunk_blocks = settings->chunk_blocks,
                                               .sink = settings->sink,
                                               .read = read_memory,
                                               .describe = describe,
                                               .context = run};
    int result = region_places_parse(&run->region, region->calls ? region->calls : region->from,
                                     region->until, error);
    if (result < 0)
        return result;
    run->functions = functions_new();
    if (!run->functions)
        return bt_fail(error, BT_MEMORY, "no memory for the program's functions");
    run->places =
        (struct record_places){.functions = run->functions, .read = read_memory, .context = run};
    run->recorder = recorder_new(&recorder, error);
    if (!run->recorder)
        return error->code;
    const struct process_settings process = {.trace = settings->has_values ? EXEC_TRACE_VALUES
                                                                           : EXEC_TRACE_OUTCOMES,
                                             .regions = region_options_regions(region),
                                             .quantum = settings->quantum,
                                             .stores = !settings->no_cache,
                                             .stack = {.environment = (const char *const *)environ},
                                             .operations = &operations,
                                             .context = run};
    run->process = process_new(path, arguments, &process, error);
    return run->process ? 0 : error->code;
}

void record_run_clear(struct record_run *run)
{
    process_free(run->process);
    recorder_free(run->recorder);
    record_places_clear(&run->places);
    functions_free(run->functions);
    region_places_clear(&run->region);
}

void record_run_end(struct record_run *run, const struct process_end *end)
{
    struct wet_closing *closing = &run->closing;
    closing->value = (uint32_t)end->value;
    switch (end->ending) {
    case PROCESS_EXITED:
        closing->ending = WET_EXITED;
        break;
    case PROCESS_KILLED:
        closing->ending = WET_KILLED;
        break;
    case PROCESS_LIMITED:
        closing->ending = WET_LIMITED;
        break;
    case PROCESS_UNABLE:
        closing->ending = WET_FAILED;
        closing->value = (uint32_t)-BT_USAGE;
        break;
    }
    if (end->ending != PROCESS_KILLED) {
        closing->has_fault = false;
        closing->thread = recorder_thread(run->recorder, UINT32_MAX);
    }
    recorder_close(run->recorder, closing);
}

void record_run_say(const struct record_run *run)
{
    const struct recorder_totals totals = recorder_totals(run->recorder);
    const struct bt_error *error = recorder_error(run->recorder);
    if (run->process)
        region_places_report(&run->region, process_has_opened(run->process),
                             run->settings->region.markers, run->messages);
    functions_print_refused(run->functions, run->messages);
    if (totals.unknown_calls > 0)
        own_stream_say(run->messages,
                       "%" PRIu64 " system calls whose writes to memory are not known: what reads "
                       "them depends on earlier writers",
                       totals.unknown_calls);
    if (error)
        own_stream_say(run->messages, "recording has stopped after %" PRIu64 " instructions: %s",
                       totals.instructions, error->message);
}
