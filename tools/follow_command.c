#define _GNU_SOURCE /* sigandset */
/* bustap follow: the records of a running capture, while they are written. */
#include "tools/common/commands.h"

#include "formats/base/printable.h"
#include "formats/base/thread.h"
#include "formats/capture/capture_name.h"
#include "formats/capture/capture_writer.h"
#include "formats/record/expression.h"
#include "tools/common/overwrite.h"
#include "tools/common/record_print.h"
#include "tools/input/capture_follow.h"
#include "tools/input/record_input.h"
#include "tools/symbols/filter_symbols.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define WAIT_MS    200
#define SILENCE_MS 1000 /* a capture that is being started has a file by then */

struct follow_settings {
    bool csv, json, raw, force;
    const char *output;
    struct time_range time;
    uint64_t skip, count;
    const char *filter;
    struct module_settings modules;
};

static const struct option_row follow_options[] = {
    OPTION_CSV_ROW(struct follow_settings, csv),
    OPTION_JSON_LINES_ROW(struct follow_settings, json),
    {OPTION_FLAG, 0, "raw", NULL, "write records of 12 bytes, as BYU traces have them",
     offsetof(struct follow_settings, raw), NULL},
    {OPTION_FILE, 'o', "output", "OUT", "write a capture file; - is standard output",
     offsetof(struct follow_settings, output), NULL},
    {OPTION_FLAG, 0, "force", NULL, "replace an existing OUT",
     offsetof(struct follow_settings, force), NULL},
    RECORD_INPUT_TIME_OPTION(struct follow_settings, time),
    {OPTION_COUNT, 0, "skip", "N", "of that, skip the first N records",
     offsetof(struct follow_settings, skip), NULL},
    {OPTION_COUNT, 'n', "count", "N", "read N records, then stop",
     offsetof(struct follow_settings, count), NULL},
    {OPTION_TEXT, 'f', "filter", "EXPR",
     "of those, only matching records: 'type=FETCH and processor=0'",
     offsetof(struct follow_settings, filter), NULL},
    MODULE_OPTIONS(struct follow_settings, modules),
    {OPTION_END, 0, NULL, NULL, NULL, 0, NULL}};

struct follow {
    const struct follow_settings *settings;
    char *prefix;
    struct source *source;
    struct expression *filter;          /* NULL: every record */
    struct record_selection *selection; /* of the time */
    bool clocked;                       /* filter and selection know the clock */
    uint64_t *selected;                 /* bits of the batch's records */
    struct batch batch;
    struct record_print print;     /* text and raw records; without output: -o */
    int file;                      /* -o */
    struct capture_writer *writer; /* -o; NULL before the first batch */
    struct record_encoder *encoder;
    uint8_t *member;
    struct capture_totals totals; /* of what -o has written */
    sigset_t signals;             /* that are blocked until the file of -o is closed */
    uint64_t skip, left;
    unsigned waited_ms; /* for a first file; at most about SILENCE_MS */
    int status;
};

static void report(struct follow *follow, const struct bt_error *error)
{
    int status = error->code == BT_NOTE ? 0 : bt_exit_status(error->code);
    fprintf(stderr, "bustap: %s\n", PRINTABLE(error->message));
    follow->status = status > follow->status ? status : follow->status;
}

/* --- a capture file -------------------------------------------------------------------------- */

/* Makes the file of -o; with --force in the place of an existing one, which keeps its contents for
 * those that read it. */
static int make_file(struct follow *follow, struct bt_error *error)
{
    const char *path = follow->settings->output;
    follow->file = STDOUT_FILENO;
    if (!path || strcmp(path, "-") == 0)
        return 0;
    if (follow->settings->force && unlink(path) != 0 && errno != ENOENT)
        return bt_fail_errno(error, "cannot replace %s", path);
    follow->file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    return follow->file < 0 ? bt_fail_errno(error, "cannot make %s", path) : 0;
}

/* Reports now that the file cannot be made. It is made with the first record: before, nothing
 * remains of a call that is interrupted, and an existing file stays. */
static int try_file(struct follow *follow, struct bt_error *error)
{
    const char *path = follow->settings->output;
    struct stat there;
    follow->file = STDOUT_FILENO;
    if (!path)
        return 0;
    int result = overwrite_check_held(path, error);
    if (result == 0)
        result = overwrite_check_exists(path, follow->settings->force, error);
    if (result < 0)
        return result;
    if (strcmp(path, "-") != 0 && lstat(path, &there) == 0)
        return S_ISREG(there.st_mode)
                   ? 0
                   : bt_fail(error, BT_IO,
                             "%s is not a regular file and is not replaced; -o - writes to "
                             "standard output",
                             path);
    result = make_file(follow, error);
    if (result == 0 && follow->file != STDOUT_FILENO) {
        unlink(path);
        close(follow->file);
        follow->file = STDOUT_FILENO;
    }
    return result;
}

static int begin_file(struct follow *follow, struct bt_error *error)
{
    if (follow->writer)
        return 0;
    if (make_file(follow, error) < 0)
        return error->code;
    follow->encoder =
        record_encoder_new(capture_name_asks_coded(follow->settings->output) ? RECORD_ENGINE_COLUMNS
                                                                             : RECORD_ENGINE_BEST,
                           -1, error);
    follow->member = malloc(capture_data_member_bound(follow->batch.capacity));
    if (!follow->encoder || !follow->member)
        return follow->encoder ? bt_fail(error, BT_MEMORY, "no memory for a block") : BT_MEMORY;
    struct capture_info info = *source_info(follow->source);
    info.version = (uint8_t)record_encoder_version(follow->encoder);
    follow->writer = capture_writer_new(follow->file, follow->settings->output, &info, error);
    return follow->writer ? 0 : error->code;
}

static int put_member(struct follow *follow, const struct batch *batch, struct bt_error *error)
{
    size_t size;
    int result = begin_file(follow, error);
    if (result == 0)
        result = capture_put_data_member(follow->encoder, batch, follow->member,
                                         capture_data_member_bound(follow->batch.capacity), &size,
                                         error);
    if (result == 0)
        result = capture_writer_put(follow->writer, follow->member, size, batch, error);
    follow->totals.capture_records += batch->count;
    for (int stage = 0; stage < LOSS_STAGES; stage++)
        follow->totals.capture_lost[stage] += batch->lost.count[stage];
    follow->totals.last_tick = batch->last_tick;
    return result;
}

/* Closes the file: with the totals of a capture that has ended, else as one that was stopped. */
static int end_file(struct follow *follow, struct bt_error *error)
{
    const struct capture_totals *totals = capture_follow_closing(follow->source);
    struct capture_totals own = follow->totals;
    own.end = CAPTURE_END_STOPPED;
    own.final = true;
    if (totals && totals->final)
        own = *totals;
    if (totals && begin_file(follow, error) < 0) /* a capture without records has a file, too */
        return error->code;
    memset(own.file_lost, 0, sizeof own.file_lost); /* the writer has them */
    return follow->writer ? capture_writer_close(follow->writer, &own, error) : 0;
}

/* --- following ------------------------------------------------------------------------------- */

/* Prepares filter and selection at the first batch: the capture, and the list of its modules, may
 * be younger than this command. */
static int prepare(struct follow *follow, struct bt_error *error)
{
    const struct follow_settings *settings = follow->settings;
    const uint64_t clock_hz = source_info(follow->source)->clock_hz;
    const struct module_captures captures = {&follow->prefix, 1};
    if (follow->clocked)
        return 0;
    follow->clocked = true;
    int result = settings->filter
                     ? filter_symbols_parse(&follow->filter, settings->filter, &settings->modules,
                                            &captures, false, error)
                     : 0;
    if (result == 0)
        result = record_selection_clock(follow->selection, clock_hz, error);
    if (result == 0 && follow->filter)
        result = expression_clock(follow->filter, clock_hz, error);
    return result;
}

/* Removes the records outside the time, those to be skipped, and those after the count. */
static void shorten(struct follow *follow, struct batch *batch)
{
    bool past;
    record_selection_trim(follow->selection, batch, &past);
    const size_t skip = follow->skip < batch->count ? (size_t)follow->skip : batch->count;
    if (follow->skip > 0 && batch->count == 0) {
        batch->lost = (struct loss){.first_tick = 0};
        batch->gap = (struct gap){.milliseconds = 0};
    }
    batch_drop(batch, skip);
    follow->skip -= skip;
    if (batch->count > follow->left)
        batch_shorten(batch, (size_t)follow->left);
    follow->left = past ? 0 : follow->left - batch->count;
}

static int put_batch(struct follow *follow, struct batch *batch, struct bt_error *error)
{
    int result = prepare(follow, error);
    if (result < 0)
        return result;
    shorten(follow, batch);
    if (loss_total(&batch->lost) > 0)
        follow->status = STATUS_DATA;
    if (follow->settings->output)
        return put_member(follow, batch, error);
    if (batch->gap.milliseconds > 0 || loss_total(&batch->lost) > 0)
        fprintf(stderr, "bustap: %" PRIu64 " requests before record %" PRIu64 " were lost\n",
                loss_total(&batch->lost), batch->first_index);
    if (follow->filter)
        expression_select(follow->filter, batch, batch->first_index, follow->selected);
    result =
        record_print_batch(&follow->print, batch, follow->filter ? follow->selected : NULL, error);
    return result < 0 ? result : output_flush(follow->print.output, error);
}

/* Blocks the signals that would end the process before the file of -o is closed. */
static void block_signals(struct follow *follow, sigset_t *before)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    const char *output = follow->settings->output;
    sigemptyset(&follow->signals);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct sigaction action;
        bool ignored = sigaction(numbers[i], NULL, &action) == 0 && action.sa_handler == SIG_IGN;
        /* the reader of a pipe may hold up this process: a signal ends it at once */
        if (output && strcmp(output, "-") != 0 && !ignored)
            sigaddset(&follow->signals, numbers[i]);
    }
    sigprocmask(SIG_BLOCK, &follow->signals, before);
}

static bool is_interrupted(const struct follow *follow)
{
    sigset_t pending;
    sigpending(&pending);
    sigandset(&pending, &pending, &follow->signals);
    return !sigisemptyset(&pending);
}

/* Whether the reader of standard output is gone: a silent capture does not notice it. */
static int check_reader(struct follow *follow, struct bt_error *error)
{
    return follow->print.output ? output_flush(follow->print.output, error) : 0;
}

/* Says once what is waited for, while there is nothing of a capture. */
static void say_waiting(struct follow *follow)
{
    if (follow->waited_ms > SILENCE_MS || source_info(follow->source)->started_ns != 0)
        return;
    follow->waited_ms += WAIT_MS;
    if (follow->waited_ms > SILENCE_MS)
        fprintf(stderr,
                "bustap: waiting for the first file of a capture to %s: there is none yet\n",
                PRINTABLE(follow->prefix));
}

static int follow_records(struct follow *follow, struct bt_error *error)
{
    struct bt_error trouble;
    while (follow->left > 0 && !is_interrupted(follow)) {
        struct batch batch = follow->batch;
        int result = source_next(follow->source, &batch, WAIT_MS, &trouble);
        if (result == 0)
            return 0;
        if (result == 1)
            result = put_batch(follow, &batch, error);
        else if (result == BT_TIMEOUT) {
            say_waiting(follow);
            result = check_reader(follow, error);
        } else
            report(follow, &trouble);
        if (result < 0 && result != BT_DATA && result != BT_NOTE)
            return result;
    }
    return 0;
}

static int allocate(struct follow *follow, const char *prefix, struct bt_error *error)
{
    const struct follow_settings *settings = follow->settings;
    follow->batch.capacity = CAPTURE_BLOCK_RECORDS;
    follow->batch.records = malloc(follow->batch.capacity * sizeof(struct record));
    follow->selected = calloc(follow->batch.capacity / 64 + 1, sizeof(uint64_t));
    if (!follow->batch.records || !follow->selected)
        return bt_fail(error, BT_MEMORY, "no memory for a block of records");
    follow->selection = record_selection_new(NULL, &settings->time, error);
    if (!follow->selection)
        return error->code;
    if (try_file(follow, error) < 0)
        return error->code;
    follow->print.raw = settings->raw;
    follow->print.form = settings->csv    ? RECORD_TEXT_CSV
                         : settings->json ? RECORD_TEXT_JSON
                                          : RECORD_TEXT_B2A;
    if (!settings->output) {
        follow->print.output = output_new(STDOUT_FILENO, "standard output", error);
        if (!follow->print.output)
            return error->code;
    }
    return capture_follow_open(&follow->source, prefix, error);
}

static int run_follow(struct follow *follow, const char *prefix)
{
    struct bt_error error = {0};
    sigset_t before;
    block_signals(follow, &before);
    int result = allocate(follow, prefix, &error);
    if (result == 0 && follow->print.output)
        result = record_print_heading(&follow->print, &error);
    if (result == 0)
        result = check_reader(follow, &error);
    if (result == 0)
        result = follow_records(follow, &error);
    if (result == 0 && follow->settings->output)
        result = end_file(follow, &error);
    if (result < 0 && error.code != BT_CLOSED)
        report(follow, &error);
    source_close(follow->source);
    capture_writer_free(follow->writer);
    if (follow->settings->output && follow->file > STDERR_FILENO)
        close(follow->file);
    record_encoder_free(follow->encoder);
    output_free(follow->print.output);
    free(follow->member);
    free(follow->selected);
    record_selection_free(follow->selection);
    free(follow->batch.records);
    sigprocmask(SIG_SETMASK, &before, NULL); /* a signal that is pending ends the process */
    return follow->status;
}

/* What excludes what. NULL: nothing. */
static const char *conflict(const struct follow_settings *settings)
{
    if (settings->csv + settings->json + settings->raw + (settings->output != NULL) > 1)
        return "--csv, --json, --raw and -o exclude each other";
    if (settings->output && (settings->filter || settings->skip || settings->time.given))
        return "-o copies all records: -f, --time and --skip are for text and --raw; pipe the copy "
               "to bustap cut";
    bool standard = settings->raw || (settings->output && strcmp(settings->output, "-") == 0);
    if (standard && isatty(STDOUT_FILENO))
        return "binary data is not written to a terminal: redirect it to a file or a pipe";
    return NULL;
}

static int follow_main(struct invocation *call)
{
    struct follow_settings settings = {.count = UINT64_MAX};
    struct bt_error error;
    int status;
    if (!command_options(call, &settings, &status))
        return status;
    if (call->count != 1)
        return command_usage(call, call->count ? "unexpected '%.60s'" : "PREFIX is missing",
                             call->count ? call->arguments[1] : "");
    if (strcmp(call->arguments[0], "-") == 0)
        return command_usage(call, "a PREFIX of files is followed; 'bustap dump -' prints a stream "
                                   "on standard input while it grows");
    const char *what = conflict(&settings);
    if (what)
        return command_usage(call, "%s", what);
    struct follow follow = {.settings = &settings, .skip = settings.skip, .left = settings.count};
    if (settings.filter && filter_symbols_check(settings.filter, &error) < 0)
        return command_usage(call, "%s", error.message);
    follow.prefix = call->arguments[0];
    status = run_follow(&follow, call->arguments[0]);
    expression_free(follow.filter);
    return status;
}

const struct command follow_command = {
    .name = "follow",
    .operands = "PREFIX",
    .summary = "print the records of a running capture while it writes them",
    .details = "Prints the records of the newest capture to PREFIX, from the first of its files "
               "that is still there, and what is added to them, across rotations, until the "
               "capture ends. Waits for the first file.",
    .options = follow_options,
    .run = follow_main,
    .group = NULL};
