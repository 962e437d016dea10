#include "tools/common/commands.h"

#include "formats/base/power.h"
#include "formats/base/printable.h"
#include "formats/base/quantity.h"
#include "tools/input/capture_follow.h"
#include "tools/top/top_live.h"

#include <errno.h>
#include <glob.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ROWS_DEFAULT    20u
#define ENTRIES_DEFAULT 100000u
#define ENTRIES_MAX     (UINT64_C(1) << 29)
#define LINE_SHIFT      6u  /* 64 bytes */
#define PAGE_SHIFT      12u /* 4 KiB */
#define SECOND_NS       1000000000
#define INTERVAL_MIN_NS 10000000

struct top_request {
    struct top_key key;
    bool line_given, page_given;
    uint64_t rows;
    uint64_t entries, memory;
    bool csv, json, follow;
    const char *prefix;  /* of a running capture, which is followed; NULL: files are read */
    int64_t interval_ns; /* below 0: not given */
    struct record_input_settings input;
};

static int take_by(void *settings, const char *argument, struct bt_error *error)
{
    return top_key_take(&((struct top_request *)settings)->key, argument, error);
}

static int take_size(unsigned *shift, const char *argument, struct bt_error *error)
{
    uint64_t bytes;
    if (quantity_bytes(&bytes, argument, error) < 0)
        return error->code;
    if (!power_is(bytes) || bytes >= UINT64_C(1) << 32)
        return bt_fail(error, BT_USAGE, "'%.40s' is not a power of two below 4G", argument);
    *shift = (unsigned)__builtin_ctzll(bytes);
    return 0;
}

static int take_line(void *settings, const char *argument, struct bt_error *error)
{
    struct top_request *request = settings;
    request->line_given = true;
    return take_size(&request->key.line_shift, argument, error);
}

static int take_page(void *settings, const char *argument, struct bt_error *error)
{
    struct top_request *request = settings;
    request->page_given = true;
    return take_size(&request->key.page_shift, argument, error);
}

static int take_approximate(void *settings, const char *argument, struct bt_error *error)
{
    struct top_request *request = settings;
    request->entries = ENTRIES_DEFAULT;
    if (argument && quantity_count(&request->entries, argument, error) < 0)
        return error->code;
    if (request->entries == 0 || request->entries > ENTRIES_MAX)
        return bt_fail(error, BT_USAGE, "from 1 to %" PRIu64 " entries are possible", ENTRIES_MAX);
    return 0;
}

static const struct option_row top_options[] = {
    {OPTION_CALL, 0, "by",
     "LIST , address line page instruction processor type symbol function source",
     "count by address, line (the default), page, instruction, processor, type, symbol, function "
     "or source",
     0, take_by},
    {OPTION_CALL, 0, "line", "SIZE", "bytes of a line: a power of two (default: 64)", 0, take_line},
    {OPTION_CALL, 0, "page", "SIZE", "bytes of a page: a power of two (default: 4K)", 0, take_page},
    {OPTION_POSITIVE, 'n', "count", "N", "print the N most frequent (default: 20)",
     offsetof(struct top_request, rows), NULL},
    {OPTION_OPTIONAL, 0, "approximate", "ENTRIES",
     "count in bounded memory, with errors of at most 1/ENTRIES of all", 0, take_approximate},
    {OPTION_BYTES, 0, "max-memory", "SIZE", "the same, with the entries that fit into this memory",
     offsetof(struct top_request, memory), NULL},
    MODULE_OPTIONS(struct top_request, input.modules),
    {OPTION_FLAG, 0, "follow", NULL, "show what is counted while it is counted",
     offsetof(struct top_request, follow), NULL},
    {OPTION_DURATION, 0, "delay", "TIME",
     "show it each TIME (default: 1s), without a terminal, too",
     offsetof(struct top_request, interval_ns), NULL},
    OPTION_CSV_ROW(struct top_request, csv),
    OPTION_JSON_ROW(struct top_request, json),
    RECORD_INPUT_OPTIONS(struct top_request, input),
    {OPTION_END, 0, NULL, NULL, NULL, 0, NULL}};

/* --- the reports --- */

static int print(void *context, const struct top_report *report, struct bt_error *error)
{
    const struct top_request *request = context;
    int result = 0;
    if (request->json)
        result = top_report_json(report, stdout, error);
    else if (request->csv)
        top_report_csv(report, stdout);
    else
        top_report_text(report, stdout);
    if (result == 0 && request->interval_ns > 0) {
        if (!request->json && !request->csv)
            putchar('\n');
        errno = 0;
        result = fflush(stdout) == 0 ? 0
                 : errno == EPIPE
                     ? bt_fail(error, BT_CLOSED, "the reader of standard output is gone")
                     : bt_fail_errno(error, "cannot write standard output");
    }
    return result;
}

/* Prints what was counted. 0 or a negative code. */
static int print_last(struct top_request *request, struct top_study *study,
                      struct top_report *report, struct bt_error *error)
{
    struct top_snapshot snapshot;
    struct progress progress;
    progress_begin(&progress, !request->follow);
    progress_step(&progress, "sorting");
    int result = top_study_snapshot(study, (size_t)request->rows, false, &snapshot, error);
    progress_clear(&progress);
    if (result < 0)
        return result;
    report->snapshot = &snapshot;
    request->interval_ns = 0;
    result = print(request, report, error);
    report->snapshot = NULL;
    top_snapshot_clear(&snapshot);
    return result;
}

/* --- counting --- */

/* On a bus behind caches, a read does not follow the fetch of its instruction. */
static void note_instructions(const struct top_key *key, const struct capture_info *info)
{
    if (info && info->bus[0] && strcmp(info->bus, CAPTURE_BUS_PROGRAM) != 0 &&
        top_key_needs_instruction(key))
        fprintf(stderr,
                "bustap: a capture of the bus '%s': the last fetch of a processor is not the "
                "instruction that reads or writes\n",
                PRINTABLE(info->bus));
}

static int count_all(const struct top_request *request, struct record_input *input,
                     struct top_study *study, struct bt_error *error)
{
    const struct batch *batch;
    int result;
    for (bool first = true; (result = record_input_next(input, &batch, error)) == 1;
         first = false) {
        if (first)
            note_instructions(&request->key, record_input_info(input));
        result = top_study_put(study, batch, error);
        if (result < 0)
            return result;
    }
    return result;
}

/* Ends the process as a signal does. */
static void end_by_signal(int number)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, number);
    signal(number, SIG_DFL);
    raise(number);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

/* Counts while it shows. Returns the exit status, or a negative code. */
static int run_live(struct top_request *request, const struct invocation *call,
                    struct top_study *study, struct top_report *report, struct bt_error *error)
{
    struct input_report *input_report = calloc(1, sizeof *input_report);
    sigset_t before;
    if (!input_report)
        return bt_fail(error, BT_MEMORY, "no memory to read records");
    struct top_live live = {.study = study,
                            .report = *report,
                            .rows = (size_t)request->rows,
                            .interval_ns = request->interval_ns,
                            .screen = isatty(STDOUT_FILENO) && !request->json && !request->csv,
                            .print = print,
                            .context = request};
    input_report_begin(input_report, false);
    input_report->progress.wanted = false;
    request->input.report = input_report;
    top_live_block(&before);
    int result = request->prefix ? capture_follow_open(&live.source, request->prefix, error)
                                 : record_input_open(&live.input, call->count, call->arguments,
                                                     &request->input, error);
    if (result == 0)
        result = top_live_run(&live, error);
    else
        live.ended = true;
    if (live.signal == 0 && result == 0)
        result = print_last(request, study, report, error);
    int status = input_report->status;
    status = live.status > status ? live.status : status;
    if (live.ended) {
        record_input_close(live.input);
        source_close(live.source);
        input_report_end(input_report);
        free(input_report);
        top_study_free(study);
    }
    fflush(stdout); /* its failure is reported at the end */
    top_live_forget();
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (live.signal != 0)
        end_by_signal(live.signal);
    return result < 0 ? result : status;
}

/* Returns the exit status, or a negative code. */
static int run_once(struct top_request *request, const struct invocation *call,
                    struct top_study *study, struct top_report *report, struct bt_error *error)
{
    struct record_input *input;
    int result = record_input_open(&input, call->count, call->arguments, &request->input, error);
    int status = 0;
    if (result == 0) {
        result = count_all(request, input, study, error);
        status = record_input_close(input);
    }
    if (result == 0)
        result = print_last(request, study, report, error);
    top_study_free(study);
    return result < 0 ? result : status;
}

/* Reads the names of the programs that are known. They are optional unless a field needs them. */
static int find_places(struct top_request *request, const struct invocation *call,
                       struct bt_error *error)
{
    const struct module_settings *modules = &request->input.modules;
    const struct module_captures captures = {call->arguments, call->count};
    const bool needed = top_key_needs_names(&request->key);
    int result = places_new(&request->key.places, modules, &captures, error);
    if (result < 0 && !needed && !module_settings_given(modules)) {
        fprintf(stderr, "bustap: addresses have no names: %s\n", error->message);
        result = 0;
    }
    if (result < 0)
        return result;
    if (request->key.places)
        places_print_refused(request->key.places, stderr);
    if (needed && !request->key.places)
        return bt_fail(error, BT_USAGE,
                       "symbol, function and source need the program: there is no list of modules "
                       "beside the capture (bustap exec writes one); name it with --modules FILE, "
                       "or the program with --image ELF[@LOAD]");
    return 0;
}

static int run(struct top_request *request, const struct invocation *call, struct bt_error *error)
{
    int result = find_places(request, call, error);
    if (result < 0)
        return result;
    struct top_study *study = top_study_new(
        &(struct top_study_settings){
            .key = request->key, .entries = request->entries, .rates = request->follow},
        error);
    struct top_report report = {.key = &request->key,
                                .entries = request->entries,
                                .input = &request->input,
                                .places = request->key.places};
    if (!study)
        return error->code;
    return request->follow ? run_live(request, call, study, &report, error)
                           : run_once(request, call, study, &report, error);
}

/* --- the command line --- */

/* Whether there is a file of a capture to this prefix, complete or not. */
static bool has_capture(const char *prefix)
{
    static const char *const endings[] = {"byu.gz", "byb"};
    char pattern[PATH_MAX];
    glob_t files;
    bool found = false;
    for (size_t i = 0; !found && i < sizeof endings / sizeof *endings; i++) {
        if (snprintf(pattern, sizeof pattern, "%s_*.%s*", prefix, endings[i]) >=
            (int)sizeof pattern)
            return false;
        found = glob(pattern, GLOB_NOSORT, NULL, &files) == 0;
        if (found)
            globfree(&files);
    }
    return found;
}

/* An operand that is no file is the prefix of a capture: with --follow, one that may begin later.
 */
static void find_prefix(struct top_request *request, const struct invocation *call)
{
    if (call->count != 1 || strcmp(call->arguments[0], "-") == 0 ||
        access(call->arguments[0], F_OK) == 0)
        return;
    if (request->follow || has_capture(call->arguments[0])) {
        request->prefix = call->arguments[0];
        request->follow = true;
    }
}

/* Completes the settings and checks them. 0 or BT_USAGE. */
static int check(struct top_request *request, const struct invocation *call, struct bt_error *error)
{
    struct top_key *key = &request->key;
    char only[RECORD_INPUT_ONLY_BYTES];
    if (request->csv && request->json)
        return bt_fail(error, BT_USAGE, "--csv and --json exclude each other");
    if (request->entries > 0 && request->memory > 0)
        return bt_fail(error, BT_USAGE, "--approximate and --max-memory exclude each other");
    if (key->count == 0)
        key->fields[key->count++] =
            request->page_given && !request->line_given ? TOP_PAGE : TOP_LINE;
    if (request->memory > 0) {
        request->entries = frequent_entries(request->memory);
        if (request->entries == 0)
            return bt_fail(error, BT_USAGE, "--max-memory: at least %" PRIu64 " bytes",
                           frequent_bytes(1));
    }
    if (request->line_given && !top_key_has(key, TOP_LINE))
        return bt_fail(error, BT_USAGE, "--line is for --by line");
    if (request->page_given && !top_key_has(key, TOP_PAGE))
        return bt_fail(error, BT_USAGE, "--page is for --by page");
    if (request->interval_ns >= 0)
        request->follow = true;
    find_prefix(request, call);
    if (request->prefix && record_input_only(only, &request->input)[0])
        return bt_fail(error, BT_USAGE,
                       "a running capture is counted whole: bustap follow -f EXPR -o - PREFIX | "
                       "bustap top --follow");
    if (request->follow && request->interval_ns < 0)
        request->interval_ns = SECOND_NS;
    if (request->follow && request->interval_ns < INTERVAL_MIN_NS)
        return bt_fail(error, BT_USAGE, "--delay: at least 10ms");
    if (input_trace_check(&request->input.trace, error) < 0)
        return error->code;
    return top_key_pack(key, error);
}

static int top_main(struct invocation *call)
{
    struct top_request request = {.key = {.line_shift = LINE_SHIFT, .page_shift = PAGE_SHIFT},
                                  .rows = ROWS_DEFAULT,
                                  .interval_ns = -1,
                                  .input = {.quiet_output = true, .count = UINT64_MAX}};
    struct bt_error error;
    int status;
    if (command_options(call, &request, &status)) {
        if (check(&request, call, &error) < 0)
            status = command_usage(call, "%s", error.message);
        else
            status = run(&request, call, &error);
        if (status < 0)
            status = status == BT_CLOSED ? STATUS_GOOD : command_failure(&error);
        if (!request.follow) /* another thread may still use them */
            places_free(request.key.places);
    }
    return status;
}

const struct command top_command = {
    .name = "top",
    .operands = "[CAPTURE...]",
    .summary = "count the most frequent addresses, lines, pages, symbols",
    .details = "Counts the requests of captures by address, line, page, instruction, processor, "
               "type, symbol, function or source line, or by several of them, and prints the most "
               "frequent ones. A running capture is followed: CAPTURE is then its prefix. Without "
               "CAPTURE, or if it is -, standard input is read.",
    .options = top_options,
    .run = top_main,
    .group = NULL,
    .reads_captures = true};
