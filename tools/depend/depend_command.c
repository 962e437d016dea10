#define _GNU_SOURCE /* strsignal */
#include "tools/common/commands.h"

#include "formats/base/printable.h"
#include "formats/base/standard_streams.h"
#include "formats/dependences/dependences_options.h"
#include "formats/dependences/dependences_write.h"
#include "tools/common/command_group.h"
#include "tools/common/own_stream.h"
#include "tools/depend/depend_flags.h"
#include "tools/depend/depend_run.h"
#include "tools/exec/exec_program.h"
#include "tools/exec/exec_report.h"

#include <limits.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#define TOP_USUAL     (UINT64_MAX - 1) /* not given */
#define COMMAND_BYTES 4096u

struct command_settings {
    struct depend_run_settings run;
    enum dependences_by by;
    uint64_t top;
    const char *output, *trace;
    bool csv, json, dot;
    bool compiler_flags, linker_flags; /* print them, run nothing */
};

/* --- options ---------------------------------------------------------------------------------- */

#define OPTION(member) offsetof(struct command_settings, member)

static const struct option_row depend_options[] = {
    {OPTION_CALL, 0, "by", "WHAT line instruction function",
     "rows are about a line (the default), instruction or function", OPTION(by),
     dependences_take_by},
    {OPTION_CALL, 0, "kinds", "LIST , raw war waw",
     "raw (read after write), war, waw (default: all three)", OPTION(run.kinds),
     dependences_take_kinds},
    {OPTION_CALL, 0, "level", "LEVEL function access",
     "function (the default): only dependences with a reference of a DETAIL function in between, "
     "or to one; access: all",
     OPTION(run.level), dependences_take_level},
    {OPTION_FILE, 0, "detail", "FILE",
     "names of the DETAIL functions, one a line (default: bop.detail in the current folder, else "
     "all functions of the program's file)",
     OPTION(run.detail), NULL},
    {OPTION_FLAG, 'a', "all", NULL,
     "also report return addresses, and registers that functions save for their callers",
     OPTION(run.all), NULL},
    {OPTION_FILE, 0, "trace", "FILE",
     "also write each read after write as it happens, with entries and exits of DETAIL functions",
     OPTION(trace), NULL},
    {OPTION_COUNT, 0, "top", "N", "number of rows, 0: all (default: 20; in CSV, JSON and dot all)",
     OPTION(top), NULL},
    REGION_OPTION_ROWS(struct command_settings, run.region),
    OPTION_QUANTUM_ROW(struct command_settings, run.quantum),
    OPTION_NO_CACHE_ROW(struct command_settings, run.no_cache),
    {OPTION_BYTES, 0, "max-memory", "SIZE",
     "stop counting when this much memory is used; the program continues", OPTION(run.max_memory),
     NULL},
    {OPTION_FLAG, 0, "raw-names", NULL, "do not demangle C++ names", OPTION(run.raw_names), NULL},
    OPTION_CSV_ROW(struct command_settings, csv),
    OPTION_JSON_ROW(struct command_settings, json),
    {OPTION_FLAG, 0, "dot", NULL, "a graph for Graphviz", OPTION(dot), NULL},
    {OPTION_FILE, 'o', "output", "OUT", "write the report to OUT, not to standard error",
     OPTION(output), NULL},
    {OPTION_FLAG, 0, "cflags", NULL,
     "print what gcc needs to instrument a program, and end: gcc -g $(bustap depend --cflags) ...",
     OPTION(compiler_flags), NULL},
    {OPTION_FLAG, 0, "libs", NULL, "print what the instrumented program is linked with, and end",
     OPTION(linker_flags), NULL},
    {OPTION_END, '+', NULL, NULL, NULL, 0, NULL}};

static int check(struct command_settings *settings, struct bt_error *error)
{
    if (settings->csv + settings->json + settings->dot > 1)
        return bt_fail(error, BT_USAGE, "--csv, --json and --dot exclude each other");
    if (settings->top == TOP_USUAL)
        settings->top =
            settings->csv || settings->json || settings->dot ? 0 : DEPENDENCES_TEXT_ROWS;
    if (settings->top == 0)
        settings->top = SIZE_MAX;
    return region_options_check(&settings->run.region, error);
}

/* --- one call --------------------------------------------------------------------------------- */

struct call {
    struct command_settings *settings;
    struct depend_run run;
    struct depend_trace trace;
    FILE *report;
    char path[EXEC_PROGRAM_BYTES], command[COMMAND_BYTES];
    bool written;
};

static int open_outputs(struct call *call, struct bt_error *error)
{
    const struct command_settings *settings = call->settings;
    const struct own_output own[] = {
        {.path = settings->output, .what = "the report"},
        {.path = settings->trace, .what = settings->trace ? "the trace" : NULL}};
    if (own_stream_check(own, 2, call->path, error) < 0)
        return error->code;
    call->report = settings->output ? own_stream_open(settings->output, error)
                                    : own_stream_on(STDERR_FILENO, error);
    if (call->report && settings->trace)
        call->trace.out = own_stream_open(settings->trace, error);
    return call->report && (call->trace.out || !settings->trace) ? 0 : error->code;
}

static void close_outputs(struct call *call)
{
    if (call->report)
        fclose(call->report);
    if (call->trace.out)
        fclose(call->trace.out);
    if (call->run.messages)
        fclose(call->run.messages);
}

static int print_result(struct call *call, const char *ended, struct bt_error *error)
{
    const struct command_settings *settings = call->settings;
    struct dependences *all = depend_run_result(&call->run, ended, error);
    if (!all)
        return error->code;
    struct dependences *grouped =
        dependences_group(all, settings->by, (size_t)settings->top, error);
    dependences_free(all);
    const enum dependences_format format = settings->csv    ? DEPENDENCES_CSV
                                           : settings->json ? DEPENDENCES_JSON
                                           : settings->dot  ? DEPENDENCES_DOT
                                                            : DEPENDENCES_TEXT;
    int result = grouped ? dependences_write(grouped, format, call->report, error) : error->code;
    dependences_free(grouped);
    return result;
}

/* Writes report and trace. 0, or the code of the first error, which is reported. */
static int write_outputs(struct call *call, const char *ended)
{
    struct bt_error error;
    const struct command_settings *settings = call->settings;
    int result = 0;
    if (call->written && settings->output)
        result = own_stream_empty(call->report, settings->output, &error);
    call->written = true;
    if (result == 0)
        result = print_result(call, ended, &error);
    if (result == 0)
        result = own_stream_finish(call->report,
                                   settings->output ? settings->output : "standard error", &error);
    if (result < 0)
        own_stream_say(call->run.messages, "%s", error.message);
    if (call->trace.out && own_stream_finish(call->trace.out, settings->trace, &error) < 0) {
        own_stream_say(call->run.messages, "%s", error.message);
        result = result < 0 ? result : error.code;
    }
    depend_run_say(&call->run);
    return result;
}

/* The program executes another one, which is not traced. If that fails, counting continues and the
 * report is written again at the end. */
static void conclude(void *context, const char *path)
{
    char ended[120];
    snprintf(ended, sizeof ended, "executes %.80s, which is not traced", *path ? path : "another");
    write_outputs(context, ended);
}

static int hide(struct call *call, FILE *stream, struct bt_error *error)
{
    return stream ? process_hide(call->run.process, fileno(stream), error) : 0;
}

/* Does everything that can fail before the program runs. */
static int begin(struct call *call, const char *const *arguments, struct bt_error *error)
{
    struct bt_error unheard; /* ignored: there may be no standard error */
    int result = open_outputs(call, error);
    if (result < 0)
        return result;
    call->run.messages = own_stream_on(STDERR_FILENO, &unheard);
    result = depend_run_begin(&call->run, call->path, arguments,
                              call->trace.out ? &call->trace : NULL, error);
    if (result == 0)
        result = hide(call, call->report, error);
    if (result == 0)
        result = hide(call, call->run.messages, error);
    if (result == 0)
        result = hide(call, call->trace.out, error);
    if (result == 0 && call->settings->output)
        result = own_stream_empty(call->report, call->settings->output, error);
    if (result == 0 && call->trace.out)
        result = own_stream_empty(call->trace.out, call->settings->trace, error);
    return result;
}

static void describe_end(const struct process_end *end, char *text, size_t size)
{
    if (end->ending == PROCESS_KILLED)
        snprintf(text, size, "signal %d (%s)", end->value, strsignal(end->value));
    else
        snprintf(text, size, "exit status %d", end->value);
}

/* Exits as the program did; with our own status only if the program has none. */
_Noreturn static void go(struct call *call)
{
    struct bt_error error = {0};
    struct process_end end;
    char ended[80];
    standard_streams_let_go();
    int result = process_run(call->run.process, &end, &error);
    exec_report_begin(&end);
    if (result < 0 && !end.is_child) {
        own_stream_say(call->run.messages, "%s: %s", PRINTABLE(call->path), error.message);
        end = (struct process_end){
            .ending = PROCESS_EXITED, .value = bt_exit_status(result), .is_child = false};
    }
    own_stream_note(call->run.messages, process_store_refusal(call->run.process));
    describe_end(&end, ended, sizeof ended);
    result = end.is_child ? 0 : write_outputs(call, ended);
    if (result < 0 && end.ending == PROCESS_EXITED && end.value == 0)
        end.value = bt_exit_status(result);
    process_exit(&end);
}

/* Prints the flags for compiler and linker. The exit status. */
static int print_flags(const struct command_settings *settings)
{
    char folder[PATH_MAX];
    struct bt_error error = {0};
    int result = depend_flags_folder(folder, sizeof folder, &error);
    if (result == 0 && settings->compiler_flags)
        result = depend_flags_compiler(folder, stdout, &error);
    if (result == 0 && settings->linker_flags)
        result = depend_flags_linker(folder, stdout, &error);
    return result < 0 ? command_failure(&error) : STATUS_GOOD;
}

static int depend_main(struct invocation *invocation)
{
    struct command_settings settings = {
        .by = DEPENDENCES_BY_LINE,
        .top = TOP_USUAL,
        .run = {.kinds = (1u << DEPEND_KINDS) - 1, .quantum = PROCESS_QUANTUM}};
    struct call call = {.settings = &settings};
    struct bt_error error = {0};
    int status;
    if (command_group_try(invocation, &status) || !command_options(invocation, &settings, &status))
        return status;
    if (settings.compiler_flags || settings.linker_flags)
        return invocation->count > 0
                   ? command_usage(invocation, "--cflags and --libs run no program")
                   : print_flags(&settings);
    if (invocation->count == 0)
        return command_usage(invocation, "PROGRAM is missing");
    if (check(&settings, &error) < 0)
        return command_usage(invocation, "%s", error.message);
    const char *const *arguments = (const char *const *)invocation->arguments;
    if (exec_program_find(call.path, arguments[0], &error) < 0) {
        command_group_suggest(invocation, arguments[0], &error);
        return exec_program_failure(&error);
    }
    exec_program_join(call.command, sizeof call.command, arguments);
    call.run = (struct depend_run){.settings = &settings.run,
                                   .program = call.command,
                                   .executing = conclude,
                                   .context = &call};
    command_restore_signals();
    if (begin(&call, arguments, &error) == 0)
        go(&call);
    depend_run_clear(&call.run);
    depend_trace_clear(&call.trace);
    close_outputs(&call);
    return exec_program_failure(&error);
}

static const struct command *const readers[] = {&depend_check_command, NULL};

const struct command depend_command = {
    .name = "depend",
    .operands = "[--] PROGRAM [ARGUMENT...] | check FILE",
    .summary = "run a program and find which lines and loops depend on what",
    .details = "Runs a program and finds its data dependences: reads after writes, writes after "
               "reads and writes after writes, by source line, with the loops that carry them and "
               "a verdict on each loop. The program keeps its own streams, signals and exit "
               "status. 'bustap depend check FILE' checks a file of dependences; to run a program "
               "named check, give its path.",
    .options = depend_options,
    .run = depend_main,
    .group = readers};
