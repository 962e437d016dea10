#include "tools/capture.h"

#include "capture/board_capture.h"
#include "capture/settings_text.h"
#include "capture/status_json.h"
#include "formats/filter_text.h"
#include "tools/capture_options.h"
#include "tools/capture_report.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define POLL_MS 50

struct capture_options {
    struct capture_settings capture; /* first: capture_options.h */
    const char *board;
    struct session_settings session;
    bool print_names, json, quiet;
};

/* --- options --------------------------------------------------------------------------------- */

static int take_stop(void *settings, const char *argument, struct bt_error *error)
{
    return settings_text_stop(&((struct capture_options *)settings)->capture, argument, error);
}

static int take_filter(void *settings, const char *argument, struct bt_error *error)
{
    struct session_settings *session = &((struct capture_options *)settings)->session;
    size_t longest = sizeof((struct capture_info *)NULL)->filter - 1; /* files say it whole */
    if (strlen(argument) > longest)
        return bt_fail(error, BT_USAGE, "the expression is too long: at most %zu bytes", longest);
    session->filter_text = argument;
    return filter_parse(&session->filter, argument, error);
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
    {OPTION_TEXT, 'b', "board", "SPEC", "the board to capture from, as 'bustap boards' lists them",
     OPTION(board), NULL},
    {OPTION_CALL, 'o', "output", "PREFIX", "files are PREFIX_00001_20261120T224500Z.byu.gz", 0,
     capture_option_output},
    {OPTION_FLAG, 0, "append", NULL, "the prefix may have files of other captures: add to them",
     OPTION(capture.append), NULL},
    {OPTION_CALL, 'r', "rotate", "RULE",
     "begin a new file: size=64M, time=10m, every=1h; may repeat", 0, capture_option_rotate},
    {OPTION_NUMBER, 'k', "keep", "N", "keep the prefix's last N files, remove older ones",
     OPTION(capture.keep), NULL},
    {OPTION_CALL, 's', "stop", "RULE", "stop at time=10s, records=N, size=S, files=N; may repeat",
     0, take_stop},
    {OPTION_CALL, 'f', "filter", "EXPR", "only what matches: 'type=FETCH|MEMREAD and processor=0'",
     0, take_filter},
    {OPTION_CALL, 0, "packing", "FORM", "records on the link: plain, or delta (the default)", 0,
     take_packing},
    {OPTION_NUMBER, 0, "workers", "N", "compression threads; one for each processor unless given",
     OPTION(capture.workers), NULL},
    {OPTION_CALL, 0, "queue", "SIZE", "records that may wait for compression; 64M unless given", 0,
     capture_option_queue},
    {OPTION_NUMBER, 0, "block", "N", "records in a block of a file; 87381 unless given",
     OPTION(capture.block_records), NULL},
    {OPTION_DURATION, 0, "flush", "TIME", "no record waits longer for its block to fill; 1s",
     OPTION(capture.flush_ns), NULL},
    {OPTION_CALL, 0, "engine", "NAME",
     "compress with records, isa-l or zlib; records is the fastest", 0, capture_option_engine},
    {OPTION_CALL, 0, "level", "N", "compression level: zlib 1 to 9, isa-l 0 to 3; 0 alone: none", 0,
     capture_option_level},
    {OPTION_CALL, 0, "when-full", "WHAT",
     "with a full queue: wait (the default), or drop and count", 0, take_when_full},
    {OPTION_CALL, 0, "disk-full", "WHAT",
     "with a full disk: end (the default), or wait: lose, count, and go on with room", 0,
     capture_option_disk_full},
    {OPTION_CALL, 0, "reconnect", "TIME",
     "wait so long for a board that went away; never, or forever (the default)", 0, take_reconnect},
    {OPTION_FLAG, 0, "print-names", NULL, "print the name of each complete file",
     OPTION(print_names), NULL},
    {OPTION_FLAG, 0, "json", NULL, "print the summary as one JSON object", OPTION(json), NULL},
    {OPTION_FLAG, 'q', "quiet", NULL, "no live line, no summary", OPTION(quiet), NULL},
    {OPTION_END, 0, NULL, NULL, NULL, 0, NULL}};

/* --- running --------------------------------------------------------------------------------- */

static void handled_signals(sigset_t *signals)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};
    sigemptyset(signals);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        sigaddset(signals, numbers[i]);
}

/* Ends the process as the signal would have done. */
static void die_by(int number)
{
    sigset_t signals;
    fputs("bustap: stopped at once; the file being written has no end, 'bustap recover' gives it "
          "one\n",
          stderr);
    signal(number, SIG_DFL);
    sigemptyset(&signals);
    sigaddset(&signals, number);
    pthread_sigmask(SIG_UNBLOCK, &signals, NULL);
    raise(number);
}

/* Does what the signals that have come ask for. */
static void obey_signals(struct capture *capture, const sigset_t *signals,
                         struct capture_report *report, bool *stopping)
{
    static const struct timespec now = {0, 0};
    int number;
    while ((number = sigtimedwait(signals, NULL, &now)) > 0) {
        if (number == SIGHUP || number == SIGUSR2) {
            capture_rotate(capture);
        } else if (number == SIGUSR1) {
            capture_report_line(report, capture);
        } else if (*stopping) {
            capture_report_clear(report);
            die_by(number);
        } else {
            *stopping = true;
            capture_stop(capture);
        }
    }
}

static void print_names(struct capture *capture, struct capture_report *report)
{
    char name[4096];
    bool any = false;
    while (capture_take_name(capture, name, sizeof name)) {
        capture_report_clear(report); /* both may go to one terminal */
        puts(name);
        any = true;
    }
    if (any)
        fflush(stdout);
}

/* Goes on until the capture ends. */
static void attend(struct capture *capture, const struct capture_options *options,
                   const sigset_t *signals, struct capture_report *report)
{
    bool stopping = false;
    bool ended;
    do {
        ended = capture_wait(capture, POLL_MS);
        obey_signals(capture, signals, report, &stopping);
        if (options->print_names)
            print_names(capture, report);
        capture_report_notes(report, capture);
        capture_report_live(report, capture);
    } while (!ended);
    capture_report_clear(report);
}

/* Tells how it went. Returns the exit status. */
static int conclude(struct capture *capture, const struct capture_options *options)
{
    struct capture_status status;
    capture_get_status(capture, &status);
    struct bt_error error;
    int exit_status = status_json_complete(&status) ? 0 : STATUS_DATA;
    if (status.error.code && command_failure(&status.error) > exit_status)
        exit_status = bt_exit_status(status.error.code);
    if (!options->quiet)
        capture_report_summary(&status);
    if (options->json) {
        char *text = status_json_text(&status, &error);
        if (text)
            puts(text);
        else
            exit_status = command_failure(&error);
        free(text);
    }
    return exit_status;
}

static int run_capture(const struct capture_options *options)
{
    sigset_t signals;
    sigset_t before;
    struct bt_error error;
    struct capture_report report;
    /* before the capture's threads start, so that none of them is interrupted */
    handled_signals(&signals);
    pthread_sigmask(SIG_BLOCK, &signals, &before);
    int status;
    struct capture *capture =
        board_capture_new(options->board, &options->session, &options->capture, &error);
    if (!capture) {
        status = command_failure(&error);
    } else {
        capture_report_begin(&report, options->quiet);
        attend(capture, options, &signals, &report);
        status = conclude(capture, options);
        capture_free(capture);
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return status;
}

static int capture_main(struct invocation *call)
{
    struct capture_options options = {.capture = capture_settings_default(),
                                      .session = session_settings_default()};
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
    return run_capture(&options);
}

const struct command capture_command = {
    .name = "capture",
    .operands = "--board SPEC -o PREFIX",
    .summary = "capture from a board into rolling compressed files",
    .details =
        "Captures until a stop rule, a signal or the board ends it. SIGINT and SIGTERM stop "
        "cleanly, "
        "a\n"
        "second one at once; SIGHUP and SIGUSR2 begin a new file; SIGUSR1 prints the status.\n"
        "Exit status 1 means that something was lost, and was counted.",
    .options = capture_rows,
    .run = capture_main,
    .group = NULL};
