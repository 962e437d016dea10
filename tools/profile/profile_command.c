#define _GNU_SOURCE /* strsignal */
#include "tools/common/commands.h"

#include "capture/exec/kernel/process.h"
#include "formats/base/printable.h"
#include "formats/base/standard_streams.h"
#include "tools/common/own_stream.h"
#include "tools/exec/exec_program.h"
#include "tools/exec/exec_report.h"
#include "tools/profile/profile_callgrind.h"
#include "tools/profile/profile_report.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ROWS_FOR_PEOPLE 10u
#define TOP_USUAL       (UINT64_MAX - 1) /* not given */

extern char **environ;

struct profile_settings {
    struct profile_report report;
    const char *output, *callgrind;
    bool raw_names, no_cache;
};

/* --- options ---------------------------------------------------------------------------------- */

static int take_by(void *context, const char *argument, struct bt_error *error)
{
    struct profile_report *report = &((struct profile_settings *)context)->report;
    report->by_count = 0;
    for (const char *at = argument;; at++) {
        size_t length = strcspn(at, ",");
        unsigned by = 0;
        while (by < PROFILE_BYS && (strlen(profile_by_name((enum profile_by)by)) != length ||
                                    strncmp(profile_by_name((enum profile_by)by), at, length) != 0))
            by++;
        if (by == PROFILE_BYS)
            return bt_fail(error, BT_USAGE, "'%.*s' is not function, line, block or module",
                           (int)(length < 40 ? length : 40), at);
        for (unsigned i = 0; i < report->by_count; i++)
            if (report->by[i] == by)
                return bt_fail(error, BT_USAGE, "'%.40s' names one table twice", argument);
        report->by[report->by_count++] = by;
        at += length;
        if (*at == '\0')
            return 0;
    }
}

#define OPTION(member) offsetof(struct profile_settings, member)

static const struct option_row profile_options[] = {
    {OPTION_CALL, 0, "by", "LIST , function line block module",
     "tables to print: function, line, block, module (default: the first three)", 0, take_by},
    {OPTION_COUNT, 0, "top", "N", "rows per table, 0: all (default: 10; in CSV and JSON all)",
     OPTION(report.top), NULL},
    {OPTION_FLAG, 0, "data", NULL, "also count reads and writes", OPTION(report.data), NULL},
    {OPTION_FLAG, 0, "split-threads", NULL,
     "count each thread separately; a new thread reuses the number of an ended one",
     OPTION(report.threads), NULL},
    OPTION_QUANTUM_ROW(struct profile_settings, report.quantum),
    OPTION_NO_CACHE_ROW(struct profile_settings, no_cache),
    {OPTION_FLAG, 0, "raw-names", NULL, "do not demangle C++ names", OPTION(raw_names), NULL},
    {OPTION_FLAG, 0, "csv", NULL, "comma separated values, with a heading, of one table",
     OPTION(report.csv), NULL},
    OPTION_JSON_ROW(struct profile_settings, report.json),
    {OPTION_FILE, 'o', "output", "OUT", "write the tables to OUT, not to standard error",
     OPTION(output), NULL},
    {OPTION_FILE, 0, "callgrind", "FILE",
     "also write the profile in Callgrind's format, for KCachegrind", OPTION(callgrind), NULL},
    {OPTION_END, '+', NULL, NULL, NULL, 0, NULL}};

/* Without --by, the table of lines is omitted if no line is known. */
static int check(struct profile_report *report, struct bt_error *error)
{
    static const unsigned usual[] = {PROFILE_BY_FUNCTION, PROFILE_BY_LINE, PROFILE_BY_BLOCK};
    if (report->csv && report->json)
        return bt_fail(error, BT_USAGE, "--csv and --json exclude each other");
    if (report->csv && report->by_count > 1)
        return bt_fail(error, BT_USAGE, "--csv prints one table: choose it with --by");
    report->usual = report->by_count == 0;
    for (unsigned i = 0; report->usual && i < 3; i++)
        report->by[i] = usual[i];
    if (report->by_count == 0)
        report->by_count = report->csv ? 1 : 3;
    if (report->top == TOP_USUAL)
        report->top = report->csv || report->json ? 0 : ROWS_FOR_PEOPLE;
    if (report->top == 0)
        report->top = UINT64_MAX;
    return 0;
}

/* --- files ------------------------------------------------------------------------------------ */

/* Our own files that are open while the program runs; they must not collide with the program's
 * descriptors, and the program may close its standard error before we write to it. */
struct outputs {
    FILE *report, *callgrind;
};

static int open_outputs(struct outputs *outputs, const struct profile_settings *settings,
                        const char *program, struct bt_error *error)
{
    const struct own_output own[] = {
        {.path = settings->output, .what = "the tables"},
        {.path = settings->callgrind, .what = settings->callgrind ? "callgrind's format" : NULL}};
    if (own_stream_check(own, 2, program, error) < 0)
        return error->code;
    outputs->report = settings->output ? own_stream_open(settings->output, error)
                                       : own_stream_on(STDERR_FILENO, error);
    if (outputs->report && settings->callgrind)
        outputs->callgrind = own_stream_open(settings->callgrind, error);
    return outputs->report && (outputs->callgrind || !settings->callgrind) ? 0 : error->code;
}

/* Truncates the file for the next report. */
static int empty_outputs(const struct outputs *outputs, const struct profile_settings *settings,
                         struct bt_error *error)
{
    int result = 0;
    if (settings->output)
        result = own_stream_empty(outputs->report, settings->output, error);
    if (result == 0 && outputs->callgrind)
        result = own_stream_empty(outputs->callgrind, settings->callgrind, error);
    return result;
}

static void close_outputs(struct outputs *outputs)
{
    if (outputs->report)
        fclose(outputs->report);
    if (outputs->callgrind)
        fclose(outputs->callgrind);
}

/* --- running ---------------------------------------------------------------------------------- */

/* The state of one run. */
struct profile_run {
    struct profile_settings *settings;
    const char *const *arguments; /* arguments of the program, including its name */
    char path[EXEC_PROGRAM_BYTES];
    struct functions *functions;
    struct profiler *profiler;
    struct process *process;
    struct outputs outputs;
    FILE *messages; /* standard error, protected from the program; NULL: closed */
    bool is_child, written;
};

static void tell_functions(void *context, const struct modules *modules)
{
    functions_set_modules(((struct profile_run *)context)->functions, modules);
}

/* A child is not profiled and is not traced. */
static void let_go(void *context, bool shares_files)
{
    (void)shares_files;
    struct profile_run *run = context;
    run->is_child = true;
    profiler_stop(run->profiler);
    process_close_regions(run->process);
}

static void describe_end(const struct process_end *end, char *text, size_t size)
{
    if (end->ending == PROCESS_KILLED)
        snprintf(text, size, "signal %d (%s)", end->value, strsignal(end->value));
    else
        snprintf(text, size, "exit status %d", end->value);
}

/* Completes a file; result is that of printing. 0, or the code of the error, which is reported. */
static int finish_output(const struct profile_run *run, FILE *file, const char *name, int result,
                         struct bt_error *error)
{
    if (result == 0)
        result = own_stream_finish(file, name ? name : "standard error", error);
    if (result < 0)
        own_stream_say(run->messages, "%s", error->message);
    return result;
}

/* Writes all outputs; ended says how the program ended. Outputs are written whole, each
 * independently of errors of the other. 0, or the code of the first error, which is reported. */
static int write_report(struct profile_run *run, const char *ended)
{
    struct bt_error error;
    struct profile_report *report = &run->settings->report;
    report->functions = run->functions;
    report->profiler = run->profiler;
    report->program = run->arguments[0];
    report->ended = ended;
    report->switches = process_switches(run->process);
    if (run->written && empty_outputs(&run->outputs, run->settings, &error) < 0) {
        own_stream_say(run->messages, "%s", error.message);
        return error.code;
    }
    run->written = true;
    profiler_settle(run->profiler);
    if (!run->settings->raw_names)
        functions_demangle(run->functions);
    int result = finish_output(run, run->outputs.report, run->settings->output,
                               profile_report_print(report, run->outputs.report, &error), &error);
    FILE *callgrind = run->outputs.callgrind;
    if (callgrind) {
        int other = finish_output(run, callgrind, run->settings->callgrind,
                                  profile_callgrind_write(report, callgrind, &error), &error);
        result = result < 0 ? result : other;
    }
    functions_print_refused(run->functions, run->messages);
    return result;
}

/* The program executes another one, which is not profiled. If that fails, the profile continues and
 * is written again at the end. */
static void conclude(void *context, const char *path)
{
    struct profile_run *run = context;
    char ended[120];
    if (run->is_child)
        return;
    snprintf(ended, sizeof ended, "executes %.80s, which is not counted", *path ? path : "another");
    write_report(run, ended);
}

static int take(void *context, struct trace_expander *expander, const uint32_t *entries,
                size_t count, const struct block *part, unsigned instructions)
{
    struct profile_run *run = context;
    return profiler_take(run->profiler, expander, entries, count, part, instructions);
}

static void notice(void *context, const char *what)
{
    own_stream_notice(((struct profile_run *)context)->messages, what);
}

static const struct process_operations operations = {.take = take,
                                                     .forked = let_go,
                                                     .executing = conclude,
                                                     .loaded = tell_functions,
                                                     .notice = notice};

/* Does everything that can fail before the program runs. */
static int begin(struct profile_run *run, struct bt_error *error)
{
    struct bt_error unheard; /* ignored: there may be no standard error */
    int result = exec_program_find(run->path, run->arguments[0], error);
    if (result == 0)
        result = open_outputs(&run->outputs, run->settings, run->path, error);
    if (result < 0)
        return result;
    run->messages = own_stream_on(STDERR_FILENO, &unheard);
    run->functions = functions_new();
    run->profiler = run->functions ? profiler_new(run->functions, error) : NULL;
    if (!run->profiler)
        return bt_fail(error, BT_MEMORY, "no memory for a profile");
    const struct process_settings settings = {
        .trace = run->settings->report.data ? EXEC_TRACE_ALL : EXEC_TRACE_FETCHES,
        .quantum = run->settings->report.quantum,
        .stores = !run->settings->no_cache,
        .stack = {.environment = (const char *const *)environ},
        .operations = &operations,
        .context = run};
    run->process = process_new(run->path, run->arguments, &settings, error);
    if (!run->process)
        return error->code;
    result = process_hide(run->process, fileno(run->outputs.report), error);
    if (result == 0 && run->messages)
        result = process_hide(run->process, fileno(run->messages), error);
    if (result == 0 && run->outputs.callgrind)
        result = process_hide(run->process, fileno(run->outputs.callgrind), error);
    return result < 0 ? result : empty_outputs(&run->outputs, run->settings, error);
}

/* Exits as the program did; with our own status only if the program has none. */
_Noreturn static void go(struct profile_run *run)
{
    struct bt_error error = {0};
    struct process_end end;
    char ended[80];
    standard_streams_let_go();
    int result = process_run(run->process, &end, &error);
    exec_report_begin(&end);
    if (result < 0 && !end.is_child) {
        own_stream_say(run->messages, "%s: %s", PRINTABLE(run->path), error.message);
        end = (struct process_end){
            .ending = PROCESS_EXITED, .value = bt_exit_status(result), .is_child = false};
    }
    own_stream_note(run->messages, process_store_refusal(run->process));
    describe_end(&end, ended, sizeof ended);
    result = end.is_child ? 0 : write_report(run, ended);
    if (result < 0 && end.ending == PROCESS_EXITED && end.value == 0)
        end.value = bt_exit_status(result);
    process_exit(&end);
}

static int profile_main(struct invocation *call)
{
    struct profile_settings settings = {.report = {.top = TOP_USUAL, .quantum = PROCESS_QUANTUM}};
    struct profile_run run = {.settings = &settings};
    struct bt_error error = {0};
    int status;
    if (!command_options(call, &settings, &status))
        return status;
    if (call->count == 0)
        return command_usage(call, "PROGRAM is missing");
    if (check(&settings.report, &error) < 0)
        return command_usage(call, "%s", error.message);
    run.arguments = (const char *const *)call->arguments;
    command_restore_signals();
    if (begin(&run, &error) == 0)
        go(&run);
    process_free(run.process);
    profiler_free(run.profiler);
    functions_free(run.functions);
    close_outputs(&run.outputs);
    if (run.messages)
        fclose(run.messages);
    return exec_program_failure(&error);
}

const struct command profile_command = {
    .name = "profile",
    .operands = "[--] PROGRAM [ARGUMENT...]",
    .summary = "run a program and count its instructions by function and line",
    .details = "Runs a program and counts every executed instruction by function, with calls "
               "and their costs, by source line, by block and by module. The program keeps its "
               "own streams, signals and exit status.",
    .options = profile_options,
    .run = profile_main,
    .group = NULL};
