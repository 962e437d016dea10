#include "tools/common/commands.h"

#include "capture/board_capture.h"
#include "capture/settings_text.h"
#include "capture/signal_guard.h"
#include "capture/status_json.h"
#include "capture/stream_output.h"
#include "formats/base/clock.h"
#include "formats/base/printable.h"
#include "tools/capture/capture_options.h"
#include "tools/capture/capture_report.h"
#include "tools/common/filter_option.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define POLL_MS       50
#define OUTPUT_MS     5000 /* time limit for the reader of the output after a stop */
#define LAST_WORDS_MS 500
#define FLUSH_MS      2000 /* time limit for what is in memory after a second signal */

struct capture_options {
    struct capture_settings capture; /* first: capture_options.h */
    const char *board;
    struct session_settings session;
    const char *command; /* of --exec-on-file; NULL: none */
    bool print_names, json, quiet;
};

/* --- options --------------------------------------------------------------------------------- */

static int take_stop(void *settings, const char *argument, struct bt_error *error)
{
    return settings_text_stop(&((struct capture_options *)settings)->capture, argument, error);
}

static int take_output(void *settings, const char *argument, struct bt_error *error)
{
    if (!stream_output_is_named(argument))
        return capture_option_output(settings, argument, error);
    strcpy(((struct capture_options *)settings)->capture.prefix, argument);
    return 0;
}

static int take_filter(void *settings, const char *argument, struct bt_error *error)
{
    struct session_settings *session = &((struct capture_options *)settings)->session;
    size_t longest =
        sizeof((struct capture_info *)NULL)->filter - 1; /* files contain it unshortened */
    if (strlen(argument) > longest)
        return bt_fail(error, BT_USAGE, "the expression is too long: at most %zu bytes", longest);
    session->filter_text = argument;
    return filter_option_check(argument, NULL, error);
}

static int take_packing(void *settings, const char *argument, struct bt_error *error)
{
    int choice = capture_option_choose(argument, "plain", "delta", error);
    if (choice < 0)
        return choice;
    ((struct capture_options *)settings)->session.packing = choice == 0 ? WIRE_PLAIN : WIRE_DELTA;
    return 0;
}

static int take_when_full(void *settings, const char *argument, struct bt_error *error)
{
    int choice = capture_option_choose(argument, "wait", "drop", error);
    if (choice < 0)
        return choice;
    ((struct capture_options *)settings)->capture.when_full =
        choice == 0 ? CAPTURE_WAIT : CAPTURE_DROP;
    return 0;
}

static int take_reconnect(void *settings, const char *argument, struct bt_error *error)
{
    return settings_text_reconnect(&((struct capture_options *)settings)->session, argument, error);
}

#define OPTION(member) offsetof(struct capture_options, member)

static const struct option_row capture_rows[] = {
    {OPTION_TEXT, 'b', "board", "SPEC ftdi virtual:smp= virtual:replay=FILE program:FILE",
     "the board to capture from, as 'bustap boards' lists them", OPTION(board), NULL},
    {OPTION_CALL, 'o', "output", "PREFIX",
     "files are PREFIX_00001_20261120T224500Z.byu.gz; - is standard output", 0, take_output},
    CAPTURE_FILE_OPTIONS(struct capture_options),
    {OPTION_CALL, 's', "stop", "RULE time= records= size= files=",
     "stop at time=10s, records=N, size=S or files=N; may repeat", 0, take_stop},
    {OPTION_CALL, 'f', "filter", "EXPR",
     "capture only matching records: 'type=FETCH|MEMREAD and processor=0'", 0, take_filter},
    {OPTION_CALL, 0, "packing", "FORM plain delta",
     "encoding of records on the link: plain or delta (the default)", 0, take_packing},
    {OPTION_FLAG, 0, "stall", NULL,
     "stall the bus rather than lose requests: this slows the target", OPTION(session.stall), NULL},
    CAPTURE_TRIGGER_OPTIONS(struct capture_options),
    CAPTURE_QUEUE_OPTIONS(struct capture_options),
    {OPTION_NUMBER, 0, "block", "N", "records per block of a file (default: 87381)",
     OPTION(capture.block_records), NULL},
    {OPTION_DURATION, 0, "flush", "TIME",
     "longest time that a record waits for its block to fill (default: 1s)",
     OPTION(capture.flush_ns), NULL},
    {OPTION_CALL, 0, "engine", "NAME records columns programs blocks isa-l libdeflate zlib",
     "compressor: records (the default), columns (.byb files of half the size, not for gzip), "
     "isa-l, libdeflate or zlib",
     0, capture_option_engine},
    CAPTURE_LEVEL_OPTION,
    {OPTION_CALL, 0, "when-full", "WHAT wait drop",
     "on a full queue: wait (the default), or drop and count records", 0, take_when_full},
    CAPTURE_DISK_FULL_OPTION,
    {OPTION_CALL, 0, "reconnect", "TIME forever never",
     "how long to wait for a disconnected board: a time, never or forever (the default)", 0,
     take_reconnect},
    CAPTURE_COMMAND_OPTION(struct capture_options),
    {OPTION_FLAG, 0, "print-names", NULL, "print the name of each file when it is complete",
     OPTION(print_names), NULL},
    {OPTION_FLAG, 0, "json", NULL, "print the summary as one JSON object", OPTION(json), NULL},
    CAPTURE_QUIET_OPTION(struct capture_options),
    {OPTION_END, 0, NULL, NULL, NULL, 0, NULL}};

/* --- running --------------------------------------------------------------------------------- */

/* One call. */
struct capture_run {
    const struct capture_options *options;
    struct signal_guard *signals;
    struct capture_report report; /* on standard error */
    struct line_queue *output;    /* standard output; standard error if the capture goes there */
    struct capture *capture;
    struct file_command *command; /* NULL: none */
    atomic_bool began;            /* the capture has */
    atomic_bool complete;         /* the files are */
};

/* Runs in the signal guard's thread, which is never blocked by the other threads. The capture is
 * freed only after the guard. */
static void end_at_once(void *context, int number)
{
    struct capture_run *run = context;
    static const char flushed[] =
        "\r\033[Kbustap: stopped immediately; what was in memory is written, "
        "what the board had left is missing\n";
    static const char file_left[] =
        "\r\033[Kbustap: stopped immediately; the current file has no closing block, "
        "'bustap recover' adds it\n";
    static const char command_left[] = "\r\033[Kbustap: stopped; all files are complete, but "
                                       "--exec-on-file was not finished for all of them\n";
    const char *words = file_left;
    if (atomic_load(&run->complete)) {
        words = command_left;
    } else if (atomic_load(&run->began)) {
        capture_abandon(run->capture);
        words = capture_wait(run->capture, FLUSH_MS) ? flushed : file_left;
    }
    const char *line = run->report.wanted ? words : strchr(words, 'b');
    line_queue_put(run->report.lines, line, strlen(line));
    line_queue_wait(run->report.lines, LAST_WORDS_MS);
    signal_guard_die(number);
}

/* Acts on the signals received since the last call. A silent capture notices here that the reader
 * of its stream is gone. */
static void handle_signals(struct capture_run *run)
{
    bool hangup = signal_guard_take(run->signals, SIGHUP);
    if (signal_guard_take(run->signals, SIGUSR2) || hangup)
        capture_rotate(run->capture);
    if (signal_guard_take(run->signals, SIGUSR1))
        capture_report_line(&run->report, run->capture);
    bool stream = stream_output_is_named(run->options->capture.prefix);
    if (signal_guard_stops(run->signals) || (stream && stream_output_is_closed(STDOUT_FILENO)))
        capture_stop(run->capture);
}

/* Prints file names once the reader has read the previous ones, so that none is dropped. True: all
 * names so far are read. */
static bool print_names(struct capture_run *run)
{
    char name[4097];
    if (!line_queue_wait(run->output, 0))
        return false;
    size_t count = 0;
    while (count < LINE_QUEUE_LINES && capture_take_name(run->capture, name, sizeof name - 1)) {
        if (count++ == 0 && run->report.shown) { /* both may go to one terminal */
            capture_report_clear(&run->report);
            line_queue_wait(run->report.lines, POLL_MS);
        }
        if (isatty(STDOUT_FILENO))
            printable_make(name);
        strcat(name, "\n");
        line_queue_put(run->output, name, strlen(name));
    }
    return count == 0;
}

/* Reports until the capture has ended. */
static void follow(struct capture_run *run)
{
    bool ended;
    do {
        ended = capture_wait(run->capture, POLL_MS);
        handle_signals(run);
        if (run->options->print_names)
            print_names(run);
        capture_report_notes(&run->report, run->capture);
        capture_report_live(&run->report, run->capture);
    } while (!ended);
    capture_report_clear(&run->report);
}

/* A capture that waits for the command of --exec-on-file. */
struct command_wait {
    struct capture_run *run;
    bool stopped; /* a signal has ended the capture: the next one ends the process */
};

static bool is_enough(void *context)
{
    const struct command_wait *wait = context;
    if (wait->run->options->print_names)
        print_names(wait->run);
    return signal_guard_stops(wait->run->signals) != wait->stopped;
}

/* Waits until the command of --exec-on-file was run for all files. A signal ends the wait, and the
 * process if another one has ended the capture. */
static void wait_for_command(struct capture_run *run)
{
    struct command_wait wait = {.run = run, .stopped = signal_guard_stops(run->signals)};
    atomic_store(&run->complete, true);
    capture_report_wait(&run->report, run->command, POLL_MS, is_enough, &wait);
}

static int worse(int a, int b)
{
    return a > b ? a : b;
}

/* Waits until all output is read; after a stop, for at most OUTPUT_MS. Returns the exit status. */
static int finish_output(struct capture_run *run)
{
    struct bt_error error;
    int64_t until = INT64_MAX;
    bool read = false;
    while (!read && clock_monotonic_ms() < until) {
        bool names = !run->options->print_names || print_names(run);
        read = names && line_queue_wait(run->output, POLL_MS) &&
               line_queue_wait(run->report.lines, POLL_MS);
        if (until == INT64_MAX && signal_guard_stops(run->signals))
            until = clock_monotonic_ms() + OUTPUT_MS;
    }
    if (!line_queue_wait(run->output, 0)) {
        bt_fail(&error, BT_IO, "standard output is not read: its text is incomplete");
        return capture_report_failure(&run->report, &error);
    }
    errno = line_queue_errno(run->output);
    if (errno == 0 || errno == EPIPE)
        return 0;
    bt_fail_errno(&error, "cannot write standard output");
    return capture_report_failure(&run->report, &error);
}

/* Prints the summary. Returns the exit status. */
static int conclude(struct capture_run *run)
{
    struct capture_status status;
    capture_get_status(run->capture, &status);
    struct bt_error error;
    int exit_status = status_json_complete(&status) ? 0 : STATUS_DATA;
    if (capture_report_command_failed(&status.command))
        exit_status = worse(exit_status, STATUS_IO);
    if (status.error.code)
        exit_status = worse(exit_status, capture_report_failure(&run->report, &status.error));
    if (!run->options->quiet)
        capture_report_summary(&run->report, &status);
    if (run->options->json) {
        char *text = status_json_text(&status, &error);
        if (text) {
            line_queue_wait(run->report.lines, LAST_WORDS_MS); /* both may go to one file */
            line_queue_put(run->output, text, strlen(text));
            line_queue_put(run->output, "\n", 1);
        } else {
            exit_status = capture_report_failure(&run->report, &error);
        }
        free(text);
    }
    return worse(exit_status, finish_output(run));
}

static int begin(struct capture_run *run, struct bt_error *error)
{
    const struct signal_guard_rules rules = {.wake = -1, .end = end_at_once, .context = run};
    int result = capture_report_begin(&run->report, run->options->quiet, error);
    if (result < 0)
        return result;
    bool stream = stream_output_is_named(run->options->capture.prefix);
    run->output = line_queue_new(stream ? STDERR_FILENO : STDOUT_FILENO, "", error);
    if (!run->output)
        return error->code;
    run->signals = signal_guard_new(&rules, error);
    return run->signals ? 0 : error->code;
}

static int run_capture(struct capture_options *options)
{
    struct capture_run run = {.options = options};
    struct bt_error error = {0};
    int status = 0;
    int result = begin(&run, &error);
    if (result == 0)
        result = capture_option_start_command(&run.command, options->command, &run.report, &error);
    options->capture.on_file = run.command;
    if (result == 0) {
        run.capture =
            board_capture_new(options->board, &options->session, &options->capture, &error);
        result = run.capture ? 0 : error.code;
        atomic_store(&run.began, run.capture != NULL);
    }
    if (result < 0) {
        bool unread = error.code == BT_CLOSED && stream_output_is_named(options->capture.prefix) &&
                      stream_output_is_closed(STDOUT_FILENO);
        status = unread ? STATUS_GOOD : command_failure(&error);
    } else {
        follow(&run);
        wait_for_command(&run);
        status = conclude(&run);
    }
    signal_guard_free(run.signals);
    capture_free(run.capture);
    file_command_free(run.command);
    line_queue_free(run.output, 0);
    capture_report_end(&run.report, LAST_WORDS_MS);
    return status;
}

static int capture_main(struct invocation *call)
{
    struct capture_options options = {.capture = capture_settings_default(),
                                      .session = session_settings_default()};
    struct bt_error error;
    int status;
    if (!command_options(call, &options, &status))
        return status;
    options.capture.names = options.print_names;
    if (call->count > 0)
        return command_usage(call, "unexpected '%.60s'", call->arguments[0]);
    if (!options.board)
        return command_usage(call, "--board SPEC is missing");
    if (!options.capture.prefix[0])
        return command_usage(call, "-o PREFIX is missing");
    if (options.print_names && options.json)
        return command_usage(call, "--print-names and --json exclude each other");
    if (stream_output_is_named(options.capture.prefix)) {
        if (options.print_names)
            return command_usage(call, "--print-names needs a prefix: a stream has no names");
        if (options.command)
            return command_usage(call, "--exec-on-file needs a prefix: a stream has no files");
        if (isatty(STDOUT_FILENO))
            return command_usage(call, "a capture is not written to a terminal: redirect it to a "
                                       "file or a pipe, such as '| bustap dump -'");
    }
    if (options.command && file_command_check(options.command, &error) < 0)
        return command_usage(call, "--exec-on-file: %s", error.message);
    return run_capture(&options);
}

const struct command capture_command = {
    .name = "capture",
    .operands = "--board SPEC -o PREFIX",
    .summary = "capture from a board to compressed, rotated files",
    .details = "Captures until a stop rule, a signal or the board ends the capture. SIGINT and "
               "SIGTERM stop cleanly; another one, half a second later or more, stops at once; "
               "SIGHUP and SIGUSR2 start a "
               "new file; SIGUSR1 prints the status. Exit status 1 means that records were "
               "lost and counted.",
    .options = capture_rows,
    .run = capture_main,
    .takes_signals = true};
