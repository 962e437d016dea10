#include "tools/common/commands.h"

#include "capture/exec/kernel/process.h"
#include "capture/file_list.h"
#include "capture/program/bus_source.h"
#include "formats/base/printable.h"
#include "formats/base/quantity.h"
#include "tools/capture/capture_options.h"
#include "tools/common/filter_option.h"
#include "tools/common/own_stream.h"
#include "tools/common/words.h"
#include "tools/exec/exec_code.h"
#include "tools/exec/exec_debug.h"
#include "tools/exec/exec_places.h"
#include "tools/exec/exec_program.h"
#include "tools/exec/exec_supervise.h"
#include "tools/symbols/exec_symbol.h"
#include "tools/symbols/module_list_path.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

extern char **environ;

/* --- options --------------------------------------------------------------------------------- */

static int take_code(void *settings, const char *argument, struct bt_error *error)
{
    struct exec_code code;
    if (strlen(argument) >= EXEC_PLACE_BYTES)
        return bt_fail(error, BT_USAGE, "the place's name is too long");
    int result = exec_code_parse(&code, argument, error);
    if (result == 0)
        exec_code_clear(&code);
    ((struct exec_settings *)settings)->code = argument;
    return result;
}

static int take_filter(void *settings, const char *argument, struct bt_error *error)
{
    struct exec_settings *exec = settings;
    exec->filter = argument;
    if (strlen(argument) >= EXEC_FILTER_BYTES)
        return bt_fail(error, BT_USAGE, "the expression is too long: at most %u bytes",
                       EXEC_FILTER_BYTES - 1);
    struct expression *expression = NULL;
    int result = filter_option_parse(&expression, argument, NULL, error);
    if (result == 0)
        result = expression_clock(expression, 0, error);
    expression_free(expression);
    return result;
}

static int take_packing(void *settings, const char *argument, struct bt_error *error)
{
    int choice = capture_option_choose(argument, "plain", "delta", error);
    if (choice < 0)
        return choice;
    ((struct exec_settings *)settings)->session.packing = choice == 0 ? WIRE_PLAIN : WIRE_DELTA;
    ((struct exec_settings *)settings)->packing = true;
    return 0;
}

static int take_debug(void *settings, const char *argument, struct bt_error *error)
{
    return exec_debug_parse(&((struct exec_settings *)settings)->debug, argument, error);
}

#define OPTION(member) offsetof(struct exec_settings, member)

static const struct option_row exec_rows[] = {
    {OPTION_CALL, 'o', "output", "PREFIX",
     "files are PREFIX_00001_20261120T224500Z.byu.gz (default: the program's name)", 0,
     capture_option_output},
    REGION_OPTION_ROWS(struct exec_settings, region),
    {OPTION_FLAG, 0, "only-fetch", NULL, "capture instructions without their reads and writes",
     OPTION(only_fetch), NULL},
    {OPTION_FLAG, 0, "only-data", NULL, "capture reads and writes without instructions",
     OPTION(only_data), NULL},
    {OPTION_FLAG, 0, "rep", NULL,
     "fetch a string instruction with a repeat prefix for each of its repetitions",
     OPTION(repetitions), NULL},
    {OPTION_CALL, 0, "only-code", "WHERE module:FILE",
     "capture only instructions in FUNCTION, module:FILE or 0xLOW-0xHIGH, and their reads and "
     "writes",
     0, take_code},
    {OPTION_CALL, 'f', "filter", "EXPR",
     "capture only matching records: 'type=MEMREAD and address=0x1000-0x1fff'", 0, take_filter},
    {OPTION_FLAG, 0, "split-threads", NULL, "write a capture for each thread", OPTION(each), NULL},
    OPTION_QUANTUM_ROW(struct exec_settings, quantum),
    OPTION_NO_CACHE_ROW(struct exec_settings, no_cache),
    {OPTION_FLAG, 0, "follow", NULL, "also capture child processes and the programs they execute",
     OPTION(follow), NULL},
    {OPTION_FLAG, 0, "virtual-board", NULL,
     "send all records through a virtual board and capture from it", OPTION(board), NULL},
    {OPTION_CALL, 0, "packing", "FORM plain delta",
     "encoding of records on the link of --virtual-board: plain or delta (the default)", 0,
     take_packing},
    CAPTURE_FILE_OPTIONS(struct exec_settings),
    CAPTURE_TRIGGER_OPTIONS(struct exec_settings),
    CAPTURE_QUEUE_OPTIONS(struct exec_settings),
    {OPTION_CALL, 0, "engine", "NAME programs blocks columns records isa-l libdeflate zlib",
     "compressor: programs (the default), blocks (the smallest .byb files, not for gzip), columns, "
     "records, isa-l, libdeflate or zlib",
     0, capture_option_engine},
    CAPTURE_LEVEL_OPTION,
    CAPTURE_DISK_FULL_OPTION,
    CAPTURE_COMMAND_OPTION(struct exec_settings),
    {OPTION_FILE, 0, "modules", "FILE",
     "list the files that contained the executed code, as 'bustap dcfg build --image' takes them",
     OPTION(modules), NULL},
    {OPTION_FILE, 0, "summary", "FILE", "also write the summary, as one JSON object",
     OPTION(summary), NULL},
    {OPTION_CALL, 0, "debug", "WHAT , blocks signals system-calls",
     "print blocks (with their translation), signals, system-calls, or a list: blocks,signals", 0,
     take_debug},
    {OPTION_FILE, 0, "debug-file", "FILE", "print debug output to FILE, not to standard error",
     OPTION(debug_file), NULL},
    CAPTURE_QUIET_OPTION(struct exec_settings),
    {OPTION_END, '+', NULL, NULL, NULL, 0, NULL}};

/* --- running --------------------------------------------------------------------------------- */

/* One call. */
struct exec_run {
    struct exec_settings *settings;
    char path[EXEC_PROGRAM_BYTES];
    char command[EXEC_COMMAND_BYTES]; /* command line of the program */
    char modules[EXEC_PROGRAM_BYTES]; /* the list of modules beside the captures */
    struct exec_places places;        /* used in the child process */
    struct exec_child child;
    struct exec_outputs outputs;
    sigset_t mask; /* signal mask before all signals were blocked */
};

/* Leaves standard input and output to the program. True: the live line may be shown, because the
 * program's standard output is not a terminal. */
static bool leave_streams(void)
{
    bool live = !isatty(STDOUT_FILENO);
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null >= 0) {
        dup2(null, STDIN_FILENO);
        dup2(null, STDOUT_FILENO);
        close(null);
    }
    return live;
}

static struct exec_orders orders_of(const struct exec_settings *settings)
{
    struct exec_orders orders = {.only_fetch = settings->only_fetch,
                                 .only_data = settings->only_data,
                                 .repetitions = settings->repetitions,
                                 .each = settings->each,
                                 .follow = settings->follow,
                                 .ends = settings->region.ends,
                                 .debug = settings->debug,
                                 .quiet = settings->quiet,
                                 .no_cache = settings->no_cache,
                                 .skip = settings->region.skip,
                                 .limit = settings->region.limit,
                                 .on = settings->region.on,
                                 .off = settings->region.off,
                                 .repeats = settings->region.repeats,
                                 .calls = settings->region.calls != NULL,
                                 .markers = settings->region.markers,
                                 .quantum = settings->quantum,
                                 .numbers = settings->board ? BUS_SOURCE_AGENTS : 0};
    const struct region_options *region = &settings->region;
    if (region->from || region->calls)
        strcpy(orders.from, region->calls ? region->calls : region->from);
    if (region->until)
        strcpy(orders.until, region->until);
    if (settings->code)
        strcpy(orders.code, settings->code);
    if (settings->filter)
        strcpy(orders.filter, settings->filter);
    return orders;
}

/* Creates the lanes and claims the first one for the first thread. */
static int make_lanes(struct exec_run *run, struct bt_error *error)
{
    struct exec_orders orders = orders_of(run->settings);
    if (run->places.modules_option == run->modules &&
        exec_program_absolute(orders.lists, run->settings->capture.prefix, error) < 0)
        return error->code;
    struct exec_user user = {.process = 0};
    if (run->settings->debug_file &&
        exec_program_absolute(orders.debug_file, run->settings->debug_file, error) < 0)
        return error->code;
    run->outputs.lanes = exec_lanes_new(&orders, error);
    if (!run->outputs.lanes)
        return BT_MEMORY;
    words_command(run->command, sizeof run->command, run->settings->arguments);
    strcpy(user.command, run->command);
    user.process = exec_lanes_count_process(run->outputs.lanes);
    user.alive.number = getpid(); /* until the program's process exists */
    return exec_lanes_claim(run->outputs.lanes, &user, false) == 0
               ? 0
               : bt_fail(error, BT_MEMORY, "no lane for the program");
}

/* Default prefix without -o: the last part of the program's name, in the current folder. */
static int choose_prefix(struct exec_settings *settings, const char *program,
                         struct bt_error *error)
{
    struct capture_settings *capture = &settings->capture;
    int result = 0;
    if (!capture->prefix[0])
        result = capture_option_output(capture, words_file_name(program), error);
    if (result == 0 && !capture->append)
        result = file_list_check_unused(capture->prefix, true, error);
    return result;
}

/* Whether a capture to the prefix is running: this one will be refused. */
static bool is_busy(const struct exec_settings *settings)
{
    char path[FILE_SET_PATH_BYTES];
    const int bytes = snprintf(path, sizeof path, "%s%s_00001_20000101T000000Z.byu.gz",
                               settings->capture.prefix, settings->each ? "-t0" : "");
    return bytes > 0 && (size_t)bytes < sizeof path && file_list_is_held(path);
}

/* By default the list of modules is beside the captures, where studies of them find it. */
static int choose_modules(struct exec_run *run, struct bt_error *error)
{
    const struct exec_settings *settings = run->settings;
    run->places.modules_option = settings->modules ? settings->modules : run->modules;
    const int bytes = snprintf(run->modules, sizeof run->modules, "%s" MODULE_LIST_SUFFIX,
                               settings->capture.prefix);
    if (bytes < 0 || (size_t)bytes >= sizeof run->modules)
        return bt_fail(error, BT_USAGE, "the name %.60s... is too long", settings->capture.prefix);
    if (is_busy(settings)) {
        run->places.modules_option = NULL;
        return 0;
    }
    if (settings->capture.append && module_list_set_aside(settings->capture.prefix, error) < 0)
        return error->code;
    if (!settings->modules && !module_list_may_write(run->modules)) {
        fprintf(stderr, "bustap: %s is not a list of modules: it is kept, and no list is written\n",
                PRINTABLE(run->modules));
        run->places.modules_option = NULL;
    }
    return 0;
}

/* Removes the list of modules if there are no captures that it could be beside. */
static void remove_modules(const struct exec_run *run)
{
    const struct exec_settings *settings = run->settings;
    struct bt_error error;
    if (run->places.modules_option == run->modules &&
        file_list_check_unused(settings->capture.prefix, true, &error) == 0)
        unlink(run->modules);
}

static int check_outputs(const struct exec_run *run, struct bt_error *error)
{
    const struct exec_settings *settings = run->settings;
    const struct own_output own[] = {
        {.path = settings->modules, .what = settings->modules ? "the modules" : NULL},
        {.path = settings->summary, .what = settings->summary ? "the summary" : NULL},
        {.path = settings->debug_file, .what = settings->debug_file ? "the debug output" : NULL}};
    return own_stream_check(own, 3, run->path, error);
}

/* Empties the debug file, which the program's process has already opened for appending. */
static int empty_debug_file(const struct exec_run *run, struct bt_error *error)
{
    const char *path = run->settings->debug_file;
    int descriptor = path ? own_stream_descriptor(path, error) : -1;
    if (path && descriptor < 0)
        return descriptor;
    if (path)
        close(descriptor);
    return 0;
}

static int open_summary(struct exec_run *run, struct bt_error *error)
{
    const char *path = run->settings->summary;
    run->outputs.summary = path ? own_stream_open(path, error) : NULL;
    return run->outputs.summary || !path ? 0 : error->code;
}

/* Lets pending signals act on bustap: the program has not started, no file exists yet, and the
 * program's process ends with this one. */
static void let_signals_through(const struct exec_run *run)
{
    sigset_t all;
    sigprocmask(SIG_SETMASK, &run->mask, &all);
    sigprocmask(SIG_SETMASK, &all, NULL);
}

/* Performs all steps that may fail because of the command line or the files, then starts the
 * program. */
static int begin(struct exec_run *run, struct bt_error *error)
{
    struct exec_settings *settings = run->settings;
    const struct exec_program program = {.path = run->path,
                                         .arguments = settings->arguments,
                                         .environment = settings->environment,
                                         .command = run->command,
                                         .follows = settings->follow,
                                         .callbacks = &exec_places_callbacks,
                                         .context = &run->places};
    int result = exec_program_find(run->path, settings->arguments[0], error);
    if (result == 0)
        result = choose_prefix(settings, run->path, error);
    if (result == 0)
        result = choose_modules(run, error);
    if (result == 0)
        result = check_outputs(run, error);
    if (result == 0)
        result = make_lanes(run, error);
    if (result == 0)
        result = exec_child_new(&run->child, &program, run->outputs.lanes, 0, &run->mask, error);
    if (result < 0)
        return result;
    let_signals_through(run);
    result = open_summary(run, error);
    if (result == 0)
        result = capture_report_begin(&run->outputs.report, settings->quiet, error);
    if (result == 0)
        result = capture_option_start_command(&settings->capture.on_file, settings->command,
                                              &run->outputs.report, error);
    if (result == 0)
        result = exec_outputs_open(&run->outputs, 0, error);
    if (result == 0 && run->outputs.summary)
        result = own_stream_empty(run->outputs.summary, settings->summary, error);
    if (result == 0)
        result = empty_debug_file(run, error);
    if (result < 0) {
        exec_child_abandon(&run->child);
        exec_outputs_abandon(&run->outputs);
        return result;
    }
    exec_lanes_set_process(run->outputs.lanes, 0, run->child.process);
    if (!leave_streams())
        run->outputs.report.wanted = false;
    exec_child_go(&run->child);
    return 0;
}

/* Returns the program's exit status, or that of bustap if the program's is 0. */
static int supervise(struct exec_run *run)
{
    int wait_status = exec_supervise(&run->child, &run->outputs);
    struct bt_error error;
    if (run->outputs.summary && fclose(run->outputs.summary) != 0) {
        bt_fail_errno(&error, "cannot write %s", run->settings->summary);
        run->outputs.status = command_failure(&error);
    }
    if (exec_lanes_missed(run->outputs.lanes) && run->outputs.status == 0)
        run->outputs.status = STATUS_DATA;
    if (line_queue_errno(run->outputs.report.lines) && run->outputs.status == 0 &&
        fcntl(STDERR_FILENO, F_GETFD) >= 0)
        run->outputs.status = STATUS_IO; /* the summary was lost */
    int program = exec_supervise_end(wait_status);
    return program != 0 ? program : run->outputs.status;
}

static int run_program(struct exec_settings *settings)
{
    struct exec_run *run = calloc(1, sizeof *run);
    struct bt_error error;
    sigset_t all;
    int status;
    if (!run)
        return command_no_memory();
    run->settings = settings;
    run->outputs.settings = settings;
    run->outputs.path = run->path;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &run->mask);
    if (begin(run, &error) < 0) {
        status = exec_program_failure(&error);
        if (run->outputs.summary)
            fclose(run->outputs.summary);
        sigprocmask(SIG_SETMASK, &run->mask, NULL);
    } else {
        status = supervise(run); /* signals stay blocked: the exit status is the program's */
        remove_modules(run);
    }
    file_command_free(settings->capture.on_file);
    capture_report_end(&run->outputs.report, 0);
    exec_lanes_free(run->outputs.lanes);
    free(run);
    return status;
}

/* The default compressor: references of programs repeat more than those of buses. */
static void choose_engine(struct capture_settings *capture)
{
    if (capture->engine == RECORD_ENGINE_BEST && capture->level <= 0)
        capture->engine = RECORD_ENGINE_PROGRAMS;
}

static int check_regions(const struct exec_settings *settings, struct bt_error *error)
{
    const struct region_options *region = &settings->region;
    if (region_options_check(region, error) < 0)
        return error->code;
    if (settings->board && (region->repeats || region->calls || region->markers || region->off > 0))
        return bt_fail(
            error, BT_USAGE,
            "--virtual-board excludes --repeat, --calls, --markers and --sample: a bus cannot "
            "report a gap");
    return 0;
}

/* Checks combinations of options. */
static int check_together(const struct exec_settings *settings, struct bt_error *error)
{
    const struct capture_settings *capture = &settings->capture;
    bool rotates = capture->rotate_bytes || capture->rotate_ns || capture->rotate_every_ns;
    if (settings->only_fetch && settings->only_data)
        return bt_fail(error, BT_USAGE, "--only-fetch and --only-data exclude each other");
    if (settings->debug_file && !settings->debug)
        return bt_fail(error, BT_USAGE, "--debug-file needs --debug");
    if (settings->command && file_command_check(settings->command, error) < 0)
        return bt_fail_within(error, "--exec-on-file");
    if (settings->packing && !settings->board)
        return bt_fail(error, BT_USAGE, "--packing needs --virtual-board");
    if (check_regions(settings, error) < 0)
        return error->code;
    if (capture->keep && !rotates && !capture->append)
        return bt_fail(error, BT_USAGE, "--keep needs --rotate or --append");
    return 0;
}

/* Runs bustap in a followed process: EXEC_INSIDE, its argument, the program's path and arguments.
 */
_Noreturn static void run_followed(int count, const char *const *arguments)
{
    char command[EXEC_COMMAND_BYTES];
    struct exec_places places = {.modules_option = NULL};
    if (count < 4)
        _exit(STATUS_USAGE);
    words_command(command, sizeof command, arguments + 3);
    const struct exec_program program = {.path = arguments[2],
                                         .arguments = arguments + 3,
                                         .environment = (const char *const *)environ,
                                         .command = command,
                                         .callbacks = &exec_places_callbacks,
                                         .context = &places};
    command_restore_signals();
    exec_inside_main(arguments[1], &program);
}

static int exec_main(struct invocation *call)
{
    struct exec_settings *settings = calloc(1, sizeof *settings);
    struct bt_error error;
    int status;
    if (!settings)
        return command_no_memory();
    if (call->count > 1 && strcmp(call->arguments[1], EXEC_INSIDE) == 0)
        run_followed(call->count - 1, (const char *const *)call->arguments + 1);
    settings->capture = capture_settings_default();
    settings->session = session_settings_default();
    settings->quantum = PROCESS_QUANTUM;
    settings->environment = (const char *const *)environ;
    if (!command_options(call, settings, &status))
        goto out;
    settings->arguments = (const char *const *)call->arguments;
    choose_engine(&settings->capture);
    if (call->count == 0)
        status = command_usage(call, "PROGRAM is missing");
    else if (check_together(settings, &error) < 0)
        status = command_usage(call, "%s", error.message);
    else
        status = run_program(settings);
out:
    free(settings);
    return status;
}

const struct command exec_command = {
    .name = "exec",
    .operands = "[--] PROGRAM [ARGUMENT...]",
    .summary = "run a program and capture its references",
    .details = "Runs a program for x86-64 Linux and captures what each instruction fetches, "
               "reads and writes. Processors in the capture are the program's threads, ticks "
               "its instructions. The program keeps its own streams, exit status and signals. "
               "Without --, options end where PROGRAM begins.",
    .options = exec_rows,
    .run = exec_main,
    .group = NULL};
