#include "tools/common/commands.h"

#include "formats/base/printable.h"
#include "formats/base/quantity.h"
#include "formats/base/standard_streams.h"
#include "tools/common/command_group.h"
#include "tools/common/own_stream.h"
#include "tools/exec/exec_program.h"
#include "tools/exec/exec_report.h"
#include "tools/wet/record/record_file.h"
#include "tools/wet/record/record_history.h"
#include "tools/wet/record/record_run.h"

#include <inttypes.h>
#include <signal.h>
#include <unistd.h>

struct command_settings {
    struct record_run_settings run;
    const char *output;
    bool no_values;
    uint64_t history; /* number of dependences; 0: a file is written */
};

/* --- options ---------------------------------------------------------------------------------- */

#define OPTION(member) offsetof(struct command_settings, member)

static int take_history(void *field, const char *argument, struct bt_error *error)
{
    uint64_t *dependences = field;
    *dependences = HISTORY_RING_DEPENDENCES;
    const int result = argument ? quantity_count(dependences, argument, error) : 0;
    return result == 0 && *dependences == 0
               ? bt_fail(error, BT_USAGE, "the history needs at least one dependence")
               : result;
}

static const struct option_row wet_options[] = {
    {OPTION_FILE, 'o', "output", "OUT", "write the trace, or the history, to OUT", OPTION(output),
     NULL},
    {OPTION_FLAG, 0, "no-values", NULL, "record dependences only, not what instructions computed",
     OPTION(no_values), NULL},
    {OPTION_OPTIONAL, 0, "history", "[N]",
     "write no trace, but the last N dependences (default: 100000) as text, to standard error or "
     "-o",
     OPTION(history), take_history},
    REGION_OPTION_ROWS(struct command_settings, run.region),
    OPTION_QUANTUM_ROW(struct command_settings, run.quantum),
    OPTION_NO_CACHE_ROW(struct command_settings, run.no_cache),
    {OPTION_POSITIVE, 0, "chunk", "N", "blocks in a chunk of the file (default: 1048576)",
     OPTION(run.chunk_blocks), NULL},
    {OPTION_END, '+', NULL, NULL, NULL, 0, NULL}};

/* --- one call --------------------------------------------------------------------------------- */

struct call {
    struct command_settings *settings;
    struct record_run run;
    struct record_file file;
    struct record_history history;
    struct wet_header header;
    char path[EXEC_PROGRAM_BYTES];
};

static int open_file(struct call *call, struct bt_error *error)
{
    call->file.stream = own_stream_open(call->settings->output, error);
    if (call->file.stream && isatty(fileno(call->file.stream)))
        return bt_fail(error, BT_USAGE, "a trace is not for a terminal: name a file");
    return call->file.stream ? 0 : error->code;
}

static int open_history(struct call *call, struct bt_error *error)
{
    call->history.path = call->settings->output;
    call->history.stream = call->settings->output ? own_stream_open(call->settings->output, error)
                                                  : own_stream_on(STDERR_FILENO, error);
    return call->history.stream ? 0 : error->code;
}

static int open_output(struct call *call, struct bt_error *error)
{
    const bool is_history = call->settings->history > 0;
    const struct own_output own = {.path = call->settings->output,
                                   .what = is_history ? "the history" : "the trace"};
    if (own_stream_check(&own, 1, call->path, error) < 0)
        return error->code;
    return is_history ? open_history(call, error) : open_file(call, error);
}

static int begin_output(struct call *call, struct bt_error *error)
{
    return call->settings->history > 0
               ? record_history_begin(&call->history, call->settings->history, error)
               : record_file_begin(&call->file, call->settings->output, &call->header, error);
}

/* Does everything that can fail before the program runs. */
static int begin(struct call *call, const char *const *arguments, struct bt_error *error)
{
    struct bt_error unheard; /* ignored: there may be no standard error */
    int result = open_output(call, error);
    if (result < 0)
        return result;
    FILE *output = call->history.stream ? call->history.stream : call->file.stream;
    call->run.messages = own_stream_on(STDERR_FILENO, &unheard);
    result = record_run_begin(&call->run, call->path, arguments, error);
    if (result == 0 && call->run.messages)
        result = process_hide(call->run.process, fileno(call->run.messages), error);
    if (result == 0)
        result = process_hide(call->run.process, fileno(output), error);
    return result == 0 ? begin_output(call, error) : result;
}

static void say_history(const struct call *call, const struct recorder_totals *totals)
{
    const struct history_ring_totals *printed = &call->history.totals;
    own_stream_say(call->run.messages,
                   "the last %" PRIu64 " dependences of %" PRIu64 " instructions", printed->printed,
                   totals->instructions);
    if (printed->before > 0)
        own_stream_say(call->run.messages,
                       "what %" PRIu64 " operands depend on was before the recorded part",
                       printed->before);
}

static void say_result(const struct call *call)
{
    const struct recorder_totals totals = recorder_totals(call->run.recorder);
    if (call->settings->history > 0) {
        say_history(call, &totals);
        record_run_say(&call->run);
        return;
    }
    const uint64_t bytes = record_file_bytes(&call->file);
    own_stream_say(call->run.messages,
                   "%" PRIu64 " instruction%s of %zu thread%s in %" PRIu64
                   " bytes, %.3f bytes an instruction",
                   totals.instructions, totals.instructions == 1 ? "" : "s", totals.threads,
                   totals.threads == 1 ? "" : "s", bytes,
                   totals.instructions > 0 ? (double)bytes / (double)totals.instructions : 0.0);
    record_run_say(&call->run);
}

/* Exits as the program did; with our own status only if the program has none. */
_Noreturn static void go(struct call *call)
{
    struct bt_error error = {0};
    struct process_end end;
    standard_streams_let_go();
    int result = process_run(call->run.process, &end, &error);
    exec_report_begin(&end);
    if (end.is_child)
        process_exit(&end);
    record_run_end(&call->run, &end);
    if (result < 0) {
        own_stream_say(call->run.messages, "%s: %s", PRINTABLE(call->path), error.message);
        end = (struct process_end){
            .ending = PROCESS_EXITED, .value = bt_exit_status(result), .is_child = false};
    }
    own_stream_note(call->run.messages, process_store_refusal(call->run.process));
    say_result(call);
    const struct bt_error *stopped = recorder_error(call->run.recorder);
    if (stopped && end.ending != PROCESS_KILLED && end.value == 0)
        end.value = bt_exit_status(stopped->code);
    process_exit(&end);
}

static void set_sink(struct call *call)
{
    struct record_run_settings *run = &call->settings->run;
    run->sink = (struct record_sink){
        .put = record_file_put, .close = record_file_close, .context = &call->file};
    if (call->settings->history == 0)
        return;
    run->sink = (struct record_sink){
        .put = record_history_put, .close = record_history_close, .context = &call->history};
    if (run->chunk_blocks == 0)
        run->chunk_blocks = RECORD_HISTORY_BLOCKS;
}

static int wet_main(struct invocation *invocation)
{
    struct command_settings settings = {.run = {.quantum = PROCESS_QUANTUM}};
    struct call call = {.settings = &settings};
    struct bt_error error = {0};
    int status;
    if (command_group_try(invocation, &status) || !command_options(invocation, &settings, &status))
        return status;
    if (invocation->count == 0)
        return command_usage(invocation, "PROGRAM is missing");
    const char *const *arguments = (const char *const *)invocation->arguments;
    if (exec_program_find(call.path, arguments[0], &error) < 0) {
        command_group_suggest(invocation, arguments[0], &error);
        return exec_program_failure(&error);
    }
    if (!settings.output && settings.history == 0)
        return command_usage(invocation, "-o is missing: the file for the trace");
    if (region_options_check(&settings.run.region, &error) < 0)
        return command_usage(invocation, "%s", error.message);
    exec_program_join(call.header.command, sizeof call.header.command, arguments);
    call.header.has_values = settings.run.has_values = !settings.no_values && settings.history == 0;
    set_sink(&call);
    call.run = (struct record_run){.settings = &settings.run};
    command_restore_signals();
    if (begin(&call, arguments, &error) == 0)
        go(&call);
    if (call.run.messages)
        fclose(call.run.messages);
    record_run_clear(&call.run);
    record_file_clear(&call.file);
    record_history_clear(&call.history);
    return exec_program_failure(&error);
}

/* They read WET files. */
static const struct command *const readers[] = {&wet_check_command, &wet_print_command,
                                                &wet_report_command, NULL};

const struct command wet_command = {
    .name = "wet",
    .operands = "-o OUT [--] PROGRAM [ARG...] | COMMAND FILE",
    .summary = "run a program and record what each instruction depended on",
    .details = "Runs a program and records its whole execution in a WET file (Whole Execution "
               "Trace). The program keeps its own streams, signals and exit status. 'bustap wet "
               "check', 'print' and 'report' read files; to run a program of such a name, give its "
               "path.",
    .options = wet_options,
    .run = wet_main,
    .group = readers};
