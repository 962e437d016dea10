#include "tools/common/commands.h"

#include "formats/base/quantity.h"
#include "formats/base/standard_streams.h"
#include "formats/base/suggestion.h"
#include "tools/common/own_stream.h"
#include "tools/exec/exec_program.h"
#include "tools/rondo/rondo_report.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

#define DEPTH_MAX 1000000u
#define TOP_ROWS  20u
#define TOP_USUAL UINT32_MAX /* not given */

struct rondo {
    struct front_end_settings front_end;
    const char *names[FRONT_END_PREDICTORS_MAX];
    const char *follow;
    const char *wrong_path_name;
    const char *output; /* NULL: standard error */
    uint64_t skip, limit, quantum;
    uint32_t depth, top;
    bool json, csv, store_buffer;

    const char *const *arguments;
    FILE *messages; /* standard error, protected from the program */
    FILE *report;   /* messages, or the file of --output */
    struct aria *aria;
    struct front_end *engine;
    struct wrong_path *wrong_path;
    struct rondo_results results;
    bool is_child; /* a child that the program forked, which is not reported */
    bool reported; /* a report has been written already */
};

/* --- options --------------------------------------------------------------------------------- */

static int take_predictor(void *settings, const char *argument, struct bt_error *error)
{
    struct rondo *rondo = settings;
    const size_t count = rondo->front_end.predictor_count;
    if (count == FRONT_END_PREDICTORS_MAX)
        return bt_fail(error, BT_USAGE, "%u predictors are enough at a time",
                       FRONT_END_PREDICTORS_MAX);
    for (size_t i = 0; i < count; i++)
        if (strcmp(rondo->names[i], argument) == 0)
            return bt_fail(error, BT_USAGE, "'%.60s' is given twice", argument);
    int result = predictor_settings_read(&rondo->front_end.predictors[count], argument, error);
    if (result == 0)
        rondo->names[rondo->front_end.predictor_count++] = argument;
    return result;
}

/* "4096:4" */
static int take_pair(uint32_t *first, uint32_t *second, const char *argument,
                     struct bt_error *error)
{
    char text[64];
    uint64_t values[2];
    const char *colon = strchr(argument, ':');
    if (!colon || strlen(argument) >= sizeof text)
        return bt_fail(error, BT_USAGE, "can be two numbers with a colon between, not '%.40s'",
                       argument);
    snprintf(text, sizeof text, "%.*s", (int)(colon - argument), argument);
    int result = quantity_bytes(&values[0], text, error);
    if (result == 0)
        result = quantity_bytes(&values[1], colon + 1, error);
    if (result == 0 && (values[0] == 0 || values[1] == 0))
        result = bt_fail(error, BT_USAGE, "'%.40s' has a number that is not above 0", argument);
    if (result == 0 && (values[0] > UINT32_MAX || values[1] > UINT32_MAX))
        result = bt_fail(error, BT_USAGE, "'%.40s' is too large", argument);
    if (result < 0)
        return result;
    *first = (uint32_t)values[0];
    *second = (uint32_t)values[1];
    return 0;
}

static int take_buffer(void *settings, const char *argument, struct bt_error *error)
{
    struct targets_settings *targets = &((struct rondo *)settings)->front_end.targets;
    targets->buffer_entries = 0;
    if (strcmp(argument, "none") == 0)
        return 0;
    int result = take_pair(&targets->buffer_entries, &targets->buffer_ways, argument, error);
    return result < 0 ? result : targets_check(targets, error);
}

static int take_cache(void *settings, const char *argument, struct bt_error *error)
{
    struct targets_settings *targets = &((struct rondo *)settings)->front_end.targets;
    int result = take_pair(&targets->cache_entries, &targets->cache_histories, argument, error);
    return result < 0 ? result : targets_check(targets, error);
}

#define OPTION(member) offsetof(struct rondo, member)

static const struct option_row rondo_options[] = {
    {OPTION_CALL, 'p', "predictor", "SPEC " PREDICTOR_NAMES,
     "taken, not-taken, backward, bimodal, gshare, local, tournament, tage or perceptron; "
     "parameters follow a colon, as in tage:tables=7,history=5..130; may repeat",
     0, take_predictor},
    {OPTION_TEXT, 0, "follow-predictor", "SPEC " PREDICTOR_NAMES,
     "predictor whose wrong paths are followed (default: the first)", OPTION(follow), NULL},
    {OPTION_NUMBER, 0, "return-stack", "N", "entries of the return stack (default: 16)",
     OPTION(front_end.targets.return_stack), NULL},
    {OPTION_CALL, 0, "target-buffer", "N:WAYS none",
     "entries and ways of the target buffer, or none (default: 4096:4)", 0, take_buffer},
    {OPTION_CALL, 0, "target-cache", "N:TARGETS",
     "entries of a target cache, indexed by the last TARGETS targets of indirect jumps", 0,
     take_cache},
    {OPTION_NUMBER, 'd', "depth", "N",
     "instructions to follow on a wrong path; 0: none (default: 64)", OPTION(depth), NULL},
    {OPTION_FILE, 0, "wrong-path", "FILE", "write the references of wrong paths as a capture",
     OPTION(wrong_path_name), NULL},
    {OPTION_FLAG, 0, "store-buffer", NULL, "loads on a wrong path see the stores of that path",
     OPTION(store_buffer), NULL},
    {OPTION_COUNT, 0, "skip", "N", "skip the first N instructions: run them without predicting",
     OPTION(skip), NULL},
    {OPTION_POSITIVE, 'n', "count", "N",
     "predict during N instructions; the program then runs to its end without predicting",
     OPTION(limit), NULL},
    OPTION_QUANTUM_ROW(struct rondo, quantum),
    {OPTION_FLAG, 0, "by-branch", NULL, "report each branch, the most mispredicted first",
     OPTION(front_end.by_branch), NULL},
    {OPTION_NUMBER, 0, "top", "N", "number of branches to report, 0: all (default: 20)",
     OPTION(top), NULL},
    {OPTION_FLAG, 0, "csv", NULL,
     "one table as comma separated values: predictors, or branches with --by-branch", OPTION(csv),
     NULL},
    OPTION_JSON_ROW(struct rondo, json),
    {OPTION_FILE, 'o', "output", "OUT", "write the report to OUT, not to standard error",
     OPTION(output), NULL},
    {OPTION_END, '+', NULL, NULL, NULL, 0, NULL}};

/* --- check and completion of the settings ---------------------------------------------------- */

static int fail_followed(const struct rondo *rondo, struct bt_error *error)
{
    struct suggestion suggestion;
    suggestion_begin(&suggestion, rondo->follow);
    for (size_t i = 0; i < rondo->front_end.predictor_count; i++) {
        suggestion_try(&suggestion, rondo->names[i]);
        suggestion_try(&suggestion, predictor_kind_name(rondo->front_end.predictors[i].kind));
    }
    bt_fail(error, BT_USAGE, "--follow-predictor: '%.60s' is none of the predictors (-p)",
            rondo->follow);
    return suggestion_add(error, suggestion.nearest);
}

/* By the text given; without parameters, by the name of the kind. */
static int find_followed(struct rondo *rondo, struct bt_error *error)
{
    struct front_end_settings *settings = &rondo->front_end;
    for (size_t i = 0; rondo->follow && i < settings->predictor_count; i++)
        if (strcmp(rondo->names[i], rondo->follow) == 0) {
            settings->followed = i;
            return 0;
        }
    for (size_t i = 0; rondo->follow && i < settings->predictor_count; i++)
        if (strcmp(predictor_kind_name(settings->predictors[i].kind), rondo->follow) == 0) {
            settings->followed = i;
            return 0;
        }
    return rondo->follow ? fail_followed(rondo, error) : 0;
}

static int complete(struct rondo *rondo, struct bt_error *error)
{
    static const char *const usual[] = {"tage",  "perceptron", "tournament", "gshare",
                                        "local", "bimodal",    "backward"};
    int result = 0;
    if (rondo->front_end.predictor_count == 0)
        for (size_t i = 0; result == 0 && i < sizeof usual / sizeof *usual; i++)
            result = take_predictor(rondo, usual[i], error);
    if (result < 0)
        return result;
    if (rondo->top != TOP_USUAL && !rondo->front_end.by_branch)
        return bt_fail(error, BT_USAGE, "--top needs --by-branch");
    if (rondo->top == TOP_USUAL)
        rondo->top = TOP_ROWS;
    if (rondo->csv && rondo->json)
        return bt_fail(error, BT_USAGE, "--csv and --json exclude each other");
    if (rondo->wrong_path_name && rondo->depth == 0)
        return bt_fail(error, BT_USAGE, "--wrong-path needs a --depth above 0");
    if (rondo->store_buffer && rondo->depth == 0)
        return bt_fail(error, BT_USAGE, "--store-buffer needs a --depth above 0");
    if (rondo->depth > DEPTH_MAX)
        return bt_fail(error, BT_USAGE, "--depth: at most %u", DEPTH_MAX);
    result = targets_check(&rondo->front_end.targets, error);
    return result < 0 ? bt_fail_within(error, "--return-stack") : find_followed(rondo, error);
}

/* --- running --------------------------------------------------------------------------------- */

/* On a terminal the report is separated from the program's output. */
static bool is_watched(void)
{
    return isatty(STDERR_FILENO) && !isatty(STDOUT_FILENO);
}

static int open_outputs(struct rondo *rondo, const char *program, struct bt_error *error)
{
    const char *path = rondo->wrong_path_name;
    const struct own_output own[] = {{.path = rondo->output, .what = "the report"},
                                     {.path = path, .what = path ? "wrong paths" : NULL}};
    struct bt_error unheard; /* ignored: there may be no standard error */
    rondo->messages = own_stream_on(STDERR_FILENO, &unheard);
    if (own_stream_check(own, 2, program, error) < 0)
        return error->code;
    rondo->report = rondo->output ? own_stream_open(rondo->output, error) : rondo->messages;
    return rondo->report || !rondo->output ? 0 : error->code;
}

/* Keeps the existing file if the program cannot be executed. */
static int begin_outputs(struct rondo *rondo, struct bt_error *error)
{
    const char *path = rondo->wrong_path_name;
    if (path && wrong_path_new(&rondo->wrong_path, path, rondo->arguments, error) < 0)
        return error->code;
    return rondo->output ? own_stream_empty(rondo->report, rondo->output, error) : 0;
}

/* Our own descriptors; -1 for those not open. */
static void descriptors(const struct rondo *rondo, int list[3])
{
    list[0] = rondo->messages ? fileno(rondo->messages) : -1;
    list[1] = rondo->report && rondo->report != rondo->messages ? fileno(rondo->report) : -1;
    list[2] = rondo->wrong_path ? wrong_path_file(rondo->wrong_path) : -1;
}

/* Closes what the program's child must not use. */
static void let_go(void *context, bool shares_files)
{
    struct rondo *rondo = context;
    int list[3];
    rondo->is_child = true;
    descriptors(rondo, list);
    for (unsigned i = 0; i < 3 && !shares_files; i++)
        if (list[i] >= 0)
            close(list[i]);
}

static int hide(struct rondo *rondo, struct bt_error *error)
{
    int list[3], result = 0;
    descriptors(rondo, list);
    for (unsigned i = 0; i < 3 && result == 0; i++)
        if (list[i] >= 0)
            result = aria_hide(rondo->aria, list[i], error);
    return result;
}

/* The file holds the last report only. */
static int print_report(struct rondo *rondo, struct bt_error *error)
{
    struct rondo_report report = {.settings = &rondo->front_end,
                                  .names = rondo->names,
                                  .totals = front_end_totals(rondo->engine),
                                  .results = &rondo->results,
                                  .depth = rondo->depth,
                                  .store_buffer = rondo->store_buffer,
                                  .quantum = rondo->quantum,
                                  .switches = aria_switches(rondo->aria),
                                  .branches = front_end_branches(rondo->engine),
                                  .top = rondo->top};
    if (!rondo->report)
        return bt_fail(error, BT_IO, "there is no standard error for the report");
    if (rondo->reported && rondo->output &&
        own_stream_empty(rondo->report, rondo->output, error) < 0)
        return error->code;
    rondo->reported = true;
    if (report.branches) {
        report.functions = functions_new();
        if (!report.functions)
            return bt_fail(error, BT_MEMORY, "no memory for the names of code");
        functions_set_modules(report.functions, aria_modules(rondo->aria));
    }
    int result = rondo->json  ? rondo_report_json(&report, rondo->report, error)
                 : rondo->csv ? rondo_report_csv(&report, rondo->report, error)
                              : rondo_report_text(&report, rondo->report, error);
    if (report.functions)
        functions_print_refused(report.functions, rondo->messages);
    functions_free(report.functions);
    return result < 0 ? result
                      : own_stream_finish(rondo->report,
                                          rondo->output ? rondo->output : "standard error", error);
}

static int print(struct rondo *rondo, struct bt_error *error)
{
    struct own_signals signals;
    own_stream_hold(&signals);
    int result = print_report(rondo, error);
    own_stream_release(&signals);
    return result;
}

/* Prints an error; returns the exit status. */
static int complain(const struct rondo *rondo, const struct bt_error *error)
{
    own_stream_say(rondo->messages, "%s", error->message);
    return bt_exit_status(error->code);
}

static void tell_notice(void *context, const char *what)
{
    const struct rondo *rondo = context;
    if (!rondo->is_child)
        own_stream_notice(rondo->messages, what);
}

/* The program executes another one. If that fails, there will be another report, but the capture of
 * wrong paths ends here. */
static void conclude(void *context, const char *path)
{
    struct rondo *rondo = context;
    struct bt_error error;
    if (rondo->is_child)
        return;
    snprintf(rondo->results.executed, sizeof rondo->results.executed, "%s",
             *path ? path : "another program");
    if (rondo->wrong_path && wrong_path_close(rondo->wrong_path, CAPTURE_END_SOURCE, &error) < 0)
        complain(rondo, &error);
    if (print(rondo, &error) < 0)
        complain(rondo, &error);
    rondo->results.executed[0] = '\0';
}

static const struct aria_operations operations = {
    .forked = let_go, .executing = conclude, .notice = tell_notice};

/* Does everything that can fail because of the user's input, before any instruction of the program
 * runs. */
static int begin(struct rondo *rondo, struct bt_error *error)
{
    char path[EXEC_PROGRAM_BYTES];
    const struct aria_settings settings = {.stack.environment = (const char *const *)environ,
                                           .quantum = rondo->quantum,
                                           .only_fetches = rondo->depth == 0,
                                           .store_buffer = rondo->store_buffer,
                                           .operations = &operations,
                                           .context = rondo};
    int result = exec_program_find(path, rondo->arguments[0], error);
    if (result < 0)
        return result;
    rondo->engine = front_end_new(&rondo->front_end, error);
    if (!rondo->engine)
        return BT_MEMORY;
    result = open_outputs(rondo, path, error);
    if (result < 0)
        return result;
    command_restore_signals();
    rondo->aria = aria_new(path, rondo->arguments, &settings, error);
    if (!rondo->aria)
        return BT_USAGE;
    result = begin_outputs(rondo, error);
    return result == 0 ? hide(rondo, error) : result;
}

/* Runs the program and reports. Returns our exit status, 0 without errors. */
static int run(struct rondo *rondo, struct process_end *end)
{
    const struct rondo_run_settings settings = {.skip = rondo->skip,
                                                .limit = rondo->limit,
                                                .depth = rondo->depth,
                                                .wrong_path = rondo->wrong_path,
                                                .progress = is_watched() ? rondo->messages : NULL};
    struct rondo_results *results = &rondo->results;
    struct bt_error error;
    int status = 0;
    standard_streams_let_go();
    if (rondo_run(rondo->aria, rondo->engine, &settings, results, &error) < 0) {
        bt_fail_within(&error, "%s", rondo->arguments[0]);
        status = complain(rondo, &error);
    }
    *end = results->end;
    if (results->error.code != 0)
        status = complain(rondo, &results->error);
    else if (rondo->wrong_path &&
             wrong_path_close(rondo->wrong_path,
                              results->limited ? CAPTURE_END_LIMIT : CAPTURE_END_SOURCE,
                              &error) < 0)
        status = complain(rondo, &error);
    if (print(rondo, &error) < 0)
        status = complain(rondo, &error);
    return status;
}

static void clear(struct rondo *rondo)
{
    aria_free(rondo->aria);
    wrong_path_free(rondo->wrong_path);
    front_end_free(rondo->engine);
    if (rondo->report && rondo->report != rondo->messages)
        fclose(rondo->report);
    if (rondo->messages)
        fclose(rondo->messages);
}

/* Exits as the program did, by status or by signal. */
static int run_program(struct rondo *rondo)
{
    struct process_end end = {.ending = PROCESS_UNABLE};
    struct bt_error error;
    int status;
    bool ran = begin(rondo, &error) == 0;
    if (ran) {
        status = run(rondo, &end);
    } else {
        status = exec_program_failure(&error);
    }
    clear(rondo);
    if (!ran || end.ending == PROCESS_UNABLE)
        return status;
    if (end.ending == PROCESS_KILLED || end.value != 0)
        process_exit(&end);
    return status;
}

static int rondo_main(struct invocation *call)
{
    struct rondo rondo = {
        .front_end.targets = {.return_stack = 16, .buffer_entries = 4096, .buffer_ways = 4},
        .depth = 64,
        .quantum = PROCESS_QUANTUM,
        .top = TOP_USUAL};
    struct bt_error error;
    int status;
    if (!command_options(call, &rondo, &status))
        return status;
    if (call->count == 0)
        return command_usage(call, "PROGRAM is missing");
    rondo.arguments = (const char *const *)call->arguments;
    if (complete(&rondo, &error) < 0)
        return command_usage(call, "%s", error.message);
    return run_program(&rondo);
}

const struct command rondo_command = {
    .name = "rondo",
    .operands = "[--] PROGRAM [ARGUMENT...]",
    .summary = "run a program and simulate branch predictors on it",
    .details = "Runs a program for x86-64 Linux, simulates branch predictors on its branches "
               "and reports how often they mispredict. Mispredicted paths are also executed "
               "for some instructions, without any effect. The program keeps its own streams, "
               "exit status and signals. Without --, options end where PROGRAM begins.",
    .options = rondo_options,
    .run = rondo_main,
    .group = NULL};
