#include "host/runner.h"

#include "capture/board_capture.h"
#include "capture/filter_report.h"
#include "formats/base/clock.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SECOND_NS     1000000000ll
#define WATCH_MS      250              /* interval of checks of a capture */
#define SETTLED_NS    (60 * SECOND_NS) /* a capture this long resets the retry interval */
#define RETRY_MAX_NS  (600 * SECOND_NS)
#define SNAPSHOT_MS   20               /* interval while a snapshot is pending */
#define BACKLOG_PART  4u               /* of the queue, may be in use without a backlog */
#define FLUSH_POLL_NS 10000000         /* interval of checks whether a capture has been flushed */
#define SNAPSHOT_NS   (30 * SECOND_NS) /* time limit; the file of an open window takes longer */

struct runner {
    const struct config_capture *settings;
    const struct journal *journal;
    struct file_command *command; /* for complete files; NULL: none */
    pthread_mutex_t *files_lock;
    int wake;
    pthread_t thread;
    pthread_mutex_t mutex; /* everything below */
    pthread_cond_t changed;
    bool quit;
    bool wanted; /* the capture should run */
    bool again;  /* and should not wait for the next attempt */
    enum runner_state state;
    struct capture *capture; /* NULL unless it runs */
    uint64_t starts;
    unsigned failures;     /* consecutive captures that failed soon after their start */
    int64_t down_since_ns; /* CLOCK_MONOTONIC; 0: not down, or as requested */
    int64_t gap_ns;
    struct bt_error error;
    uint64_t snapshot;    /* number of the last one requested from the capture; 0: none */
    uint64_t snapshots;   /* number of those that are complete */
    int64_t snapshot_end; /* CLOCK_MONOTONIC, ns: then it is no longer pending */
    bool has_status;
    struct capture_status status; /* of the last capture; of the current one while it is watched */
    struct {
        char from[sizeof((struct capture_status *)NULL)->snapshot_file];
        char to[sizeof((struct capture_status *)NULL)->snapshot_file];
    } moved; /* the last snapshot's file, if it was packed */
};

static void wake(const struct runner *runner)
{
    static const uint64_t one = 1;
    /* the eventfd is never full: its owner empties it, and it counts to 2^64 */
    if (write(runner->wake, &one, sizeof one) < 0)
        return;
}

static void set_state(struct runner *runner, enum runner_state state)
{
    runner->state = state;
    pthread_cond_broadcast(&runner->changed);
    wake(runner);
}

/* A missing board is retried at a constant interval; a capture that keeps failing (a full disk)
 * leaves a file each time, so its interval grows. */
static int64_t retry_after(const struct runner *runner)
{
    int64_t delay = runner->settings->retry_ns;
    for (unsigned i = 1; i < runner->failures && delay < RETRY_MAX_NS / 2; i++)
        delay *= 2;
    return delay;
}

/* Waits until the next attempt is due, or a command ends the wait. */
static void wait_to_retry(struct runner *runner)
{
    int64_t until = clock_monotonic_ns() + retry_after(runner);
    struct timespec time = {(time_t)(until / SECOND_NS), (long)(until % SECOND_NS)};
    set_state(runner, RUNNER_WAITING);
    int result = 0;
    while (runner->wanted && !runner->again && !runner->quit && result == 0)
        result = pthread_cond_timedwait(&runner->changed, &runner->mutex, &time);
    if (!runner->wanted)
        set_state(runner, RUNNER_STOPPED);
}

/* Handles a capture that could not start, or failed. Reports it once, not at every attempt. */
static void fail(struct runner *runner, const struct bt_error *error)
{
    const char *name = runner->settings->name;
    bool usage = error->code == BT_USAGE;
    if (runner->down_since_ns == 0)
        runner->down_since_ns = clock_monotonic_ns();
    if (!bt_same_reason(runner->error.message, error->message)) {
        if (usage)
            journal_write(runner->journal, JOURNAL_ERROR, "capture %s: %s", name, error->message);
        else
            journal_write(runner->journal, JOURNAL_WARNING,
                          "capture %s: %s; trying again in %.3g s", name, error->message,
                          (double)retry_after(runner) / SECOND_NS);
    }
    runner->error = *error;
    if (usage || !runner->wanted) {
        runner->wanted = false;
        set_state(runner, RUNNER_STOPPED);
    } else {
        wait_to_retry(runner);
    }
}

static void tell_files(const struct runner *runner, struct capture *capture)
{
    char name[sizeof((struct capture_status *)NULL)->file];
    while (capture_take_name(capture, name, sizeof name))
        journal_write(runner->journal, JOURNAL_INFO, "capture %s: wrote %s", runner->settings->name,
                      name);
}

/* Reports a sentence about the capture's settings, files or command. */
static void tell_warning(void *context, const char *sentence)
{
    const struct runner *runner = context;
    journal_write(runner->journal, JOURNAL_WARNING, "capture %s: %s", runner->settings->name,
                  sentence);
}

static void tell_notes(struct runner *runner, struct capture *capture)
{
    char note[CAPTURE_NOTE_BYTES];
    while (capture_take_note(capture, note, sizeof note))
        tell_warning(runner, note);
}

static void tell_started(struct runner *runner)
{
    const struct config_capture *settings = runner->settings;
    if (runner->starts++ == 0)
        config_report_doubts(settings, tell_warning, runner);
    runner->error = (struct bt_error){0};
    if (runner->starts > 1 && runner->down_since_ns) {
        int64_t gap = clock_monotonic_ns() - runner->down_since_ns;
        runner->gap_ns += gap;
        journal_write(runner->journal, JOURNAL_WARNING,
                      "capture %s: runs again on %s; nothing was captured for %.1f s",
                      settings->name, settings->board, (double)gap / SECOND_NS);
    } else {
        journal_write(runner->journal, JOURNAL_INFO, "capture %s: runs on %s, files %s_*",
                      settings->name, settings->board, settings->settings.prefix);
    }
    runner->down_since_ns = 0;
}

static bool snapshot_is_pending(const struct runner *runner)
{
    return runner->capture && runner->snapshots < runner->snapshot &&
           clock_monotonic_ns() < runner->snapshot_end;
}

/* Wakes the main thread when a pending snapshot is complete or late. */
static void watch_snapshot(struct runner *runner)
{
    if (runner->snapshots >= runner->snapshot)
        return;
    capture_get_status(runner->capture, &runner->status);
    runner->snapshots = runner->status.snapshots;
    if (!snapshot_is_pending(runner))
        wake(runner);
}

/* Watches a capture to its end. */
static void watch(struct runner *runner, struct capture *capture)
{
    runner->capture = capture;
    runner->again = false;
    tell_started(runner);
    if (!runner->wanted)
        capture_stop(capture);
    set_state(runner, runner->wanted ? RUNNER_RUNNING : RUNNER_STOPPING);
    bool ended = false;
    while (!ended) {
        int interval_ms = snapshot_is_pending(runner) ? SNAPSHOT_MS : WATCH_MS;
        pthread_mutex_unlock(&runner->mutex);
        ended = capture_wait(capture, interval_ms);
        tell_files(runner, capture);
        tell_notes(runner, capture);
        pthread_mutex_lock(&runner->mutex);
        watch_snapshot(runner);
    }
    runner->snapshot = runner->snapshots = 0;
    capture_get_status(capture, &runner->status);
    runner->has_status = true;
    runner->capture = NULL;
}

/* "source ended after 20000 records, 7 lost; why it is not known whether that is all" */
static void tell_end(const struct runner *runner)
{
    const struct capture_status *status = &runner->status;
    bool odd = status->error.code;
    char lost[40] = "";
    struct loss loss = {.count = 0};
    for (int stage = 0; stage < LOSS_STAGES; stage++)
        loss.count[stage] = status->lost[stage];
    if (loss_total(&loss) > 0)
        snprintf(lost, sizeof lost, ", %llu lost", (unsigned long long)loss_total(&loss));
    char windows[60] = "";
    if (status->selects)
        snprintf(windows, sizeof windows, " in %llu window%s",
                 (unsigned long long)status->trigger.windows,
                 status->trigger.windows == 1 ? "" : "s");
    journal_write(runner->journal, odd || lost[0] ? JOURNAL_WARNING : JOURNAL_INFO,
                  "capture %s: %s after %llu records%s%s%s%s%s", runner->settings->name,
                  capture_end_name(status->end), (unsigned long long)status->records, windows, lost,
                  status->trigger.stopped ? ", by a match of stop-on" : "", odd ? "; " : "",
                  status->error.message);
}

static void tell_filter(const struct runner *runner)
{
    char text[FILTER_REPORT_BYTES];
    if (filter_report(text, &runner->status)[0])
        journal_write(runner->journal, JOURNAL_INFO, "capture %s: %s", runner->settings->name,
                      text);
}

/* Determines the next state after a capture's end. */
static void conclude(struct runner *runner)
{
    const struct capture_status *status = &runner->status;
    if (status->failed) {
        runner->failures = status->elapsed_ns < SETTLED_NS ? runner->failures + 1 : 1;
        fail(runner, &status->error);
        return;
    }
    runner->failures = 0;
    runner->error = status->error; /* a simulated bus that ended early */
    tell_end(runner);
    tell_filter(runner);
    if (status->end != CAPTURE_END_STOPPED) {
        runner->wanted = false;
        set_state(runner, RUNNER_FINISHED);
    } else {
        set_state(runner, runner->wanted ? RUNNER_STARTING : RUNNER_STOPPED);
    }
}

static void attempt(struct runner *runner)
{
    const struct config_capture *settings = runner->settings;
    struct session_settings session = settings->session;
    struct capture_settings capture_settings = settings->settings;
    capture_settings.on_file = runner->command;
    capture_settings.files_lock = runner->files_lock;
    session.filter_text = settings->filter;
    struct bt_error error = {0};
    runner->again = false;
    set_state(runner, RUNNER_STARTING);
    pthread_mutex_unlock(&runner->mutex);
    struct capture *capture =
        board_capture_new(settings->board, &session, &capture_settings, &error);
    pthread_mutex_lock(&runner->mutex);
    if (!capture) {
        fail(runner, &error);
        return;
    }
    watch(runner, capture);
    pthread_mutex_unlock(&runner->mutex);
    capture_free(capture);
    pthread_mutex_lock(&runner->mutex);
    conclude(runner);
}

static void *run(void *context)
{
    struct runner *runner = context;
    pthread_mutex_lock(&runner->mutex);
    while (!runner->quit) {
        if (runner->wanted)
            attempt(runner);
        else if (runner->state == RUNNER_STOPPING) /* before the capture started */
            set_state(runner, RUNNER_STOPPED);
        else
            pthread_cond_wait(&runner->changed, &runner->mutex);
    }
    pthread_mutex_unlock(&runner->mutex);
    return NULL;
}

/* A command that cannot be found now is reported; the capture runs. */
static int make_command(struct runner *runner, struct bt_error *error)
{
    const char *text = runner->settings->exec_on_file;
    const struct file_command_settings settings = {
        .command = text, .report = tell_warning, .context = runner};
    struct bt_error missing;
    if (!text[0])
        return 0;
    if (file_command_check(text, &missing) < 0)
        journal_write(runner->journal, JOURNAL_WARNING, "capture %s: exec-on-file: %s",
                      runner->settings->name, missing.message);
    runner->command = file_command_new(&settings, error);
    return runner->command ? 0 : error->code;
}

struct runner *runner_new(const struct config_capture *settings, const struct journal *journal,
                          pthread_mutex_t *files_lock, int wake, struct bt_error *error)
{
    struct runner *runner = calloc(1, sizeof *runner);
    if (!runner) {
        bt_fail(error, BT_MEMORY, "no memory for capture %s", settings->name);
        return NULL;
    }
    runner->settings = settings;
    runner->journal = journal;
    runner->files_lock = files_lock;
    runner->wake = wake;
    runner->wanted = settings->automatic;
    runner->state = settings->automatic ? RUNNER_STARTING : RUNNER_STOPPED;
    if (make_command(runner, error) < 0) {
        free(runner);
        return NULL;
    }
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&runner->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    pthread_mutex_init(&runner->mutex, NULL);
    if (pthread_create(&runner->thread, NULL, run, runner) != 0) {
        bt_fail(error, BT_MEMORY, "cannot start a thread for capture %s", settings->name);
        pthread_cond_destroy(&runner->changed);
        pthread_mutex_destroy(&runner->mutex);
        file_command_free(runner->command);
        free(runner);
        return NULL;
    }
    return runner;
}

void runner_free(struct runner *runner)
{
    if (!runner)
        return;
    runner_stop(runner);
    pthread_mutex_lock(&runner->mutex);
    runner->quit = true;
    pthread_cond_broadcast(&runner->changed);
    pthread_mutex_unlock(&runner->mutex);
    pthread_join(runner->thread, NULL);
    file_command_free(runner->command);
    pthread_cond_destroy(&runner->changed);
    pthread_mutex_destroy(&runner->mutex);
    free(runner);
}

void runner_start(struct runner *runner)
{
    pthread_mutex_lock(&runner->mutex);
    runner->wanted = true;
    switch (runner->state) {
    case RUNNER_WAITING:
    case RUNNER_STOPPED: /* perhaps just now, and the thread still waits */
    case RUNNER_FINISHED:
        runner->again = true;
        runner->down_since_ns = runner->state == RUNNER_WAITING ? runner->down_since_ns : 0;
        set_state(runner, RUNNER_STARTING);
        break;
    default:
        break;
    }
    pthread_mutex_unlock(&runner->mutex);
}

void runner_stop(struct runner *runner)
{
    pthread_mutex_lock(&runner->mutex);
    runner->wanted = false;
    switch (runner->state) {
    case RUNNER_RUNNING:
    case RUNNER_STARTING:
        if (runner->capture)
            capture_stop(runner->capture);
        set_state(runner, RUNNER_STOPPING);
        break;
    case RUNNER_WAITING:
        set_state(runner, RUNNER_STOPPED);
        break;
    default:
        break;
    }
    pthread_mutex_unlock(&runner->mutex);
}

void runner_poke(struct runner *runner)
{
    pthread_mutex_lock(&runner->mutex);
    int code = runner->error.code;
    bool board = code != BT_FULL && code != BT_IO && code != BT_MEMORY;
    /* a full disk is not retried for it; an attempt in progress may have been too early */
    if (runner->state == RUNNER_STARTING || (runner->state == RUNNER_WAITING && board)) {
        runner->again = true;
        pthread_cond_broadcast(&runner->changed);
    }
    pthread_mutex_unlock(&runner->mutex);
}

bool runner_rotate(struct runner *runner)
{
    pthread_mutex_lock(&runner->mutex);
    bool running = runner->capture != NULL;
    if (running)
        capture_rotate(runner->capture);
    pthread_mutex_unlock(&runner->mutex);
    return running;
}

int runner_snapshot(struct runner *runner, struct bt_error *error)
{
    const char *name = runner->settings->name;
    int result = 0;
    pthread_mutex_lock(&runner->mutex);
    uint64_t number = runner->capture ? capture_snapshot(runner->capture) : 0;
    if (!runner->capture)
        result = bt_fail(error, BT_USAGE, "capture %s does not run", name);
    else if (number == 0)
        result =
            bt_fail(error, BT_USAGE,
                    "capture %s keeps no records for a snapshot: set ring in its section", name);
    if (number > 0) {
        runner->snapshot = number;
        runner->snapshot_end = clock_monotonic_ns() + SNAPSHOT_NS;
    }
    pthread_mutex_unlock(&runner->mutex);
    return result;
}

bool runner_snapshot_pending(struct runner *runner)
{
    pthread_mutex_lock(&runner->mutex);
    bool pending = snapshot_is_pending(runner);
    pthread_mutex_unlock(&runner->mutex);
    return pending;
}

bool runner_flush(struct runner *runner, int64_t until_ms)
{
    const struct timespec pause = {0, FLUSH_POLL_NS};
    bool runs = true;
    for (;;) {
        /* the thread that holds the mutex may be blocked */
        if (pthread_mutex_trylock(&runner->mutex) == 0) {
            runs = runner->capture != NULL;
            runner->wanted = false;
            if (runs)
                capture_abandon(runner->capture);
            pthread_mutex_unlock(&runner->mutex);
        }
        if (!runs || clock_monotonic_ms() >= until_ms)
            return !runs;
        nanosleep(&pause, NULL);
    }
}

uint64_t runner_commands_left(struct runner *runner)
{
    return runner->command ? file_command_counts(runner->command).waiting : 0;
}

bool runner_has_capture(struct runner *runner)
{
    pthread_mutex_lock(&runner->mutex);
    const bool has = runner->capture != NULL;
    pthread_mutex_unlock(&runner->mutex);
    return has;
}

bool runner_has_backlog(struct runner *runner)
{
    pthread_mutex_lock(&runner->mutex);
    bool backlog = runner->state == RUNNER_STOPPING;
    if (runner->capture) {
        capture_get_status(runner->capture, &runner->status);
        const uint32_t fill = runner->status.queue_fill;
        /* one block is being filled, also without any backlog */
        backlog = backlog || (fill > 1 && fill > runner->status.queue_size / BACKLOG_PART);
    }
    pthread_mutex_unlock(&runner->mutex);
    return backlog;
}

/* The file of a last snapshot. */
static const char *snapshot_file(const struct runner *runner, const struct capture_status *status)
{
    const char *file = status->snapshot_file;
    return strcmp(file, runner->moved.from) == 0 ? runner->moved.to : file;
}

void runner_file_moved(struct runner *runner, const char *from, const char *to)
{
    pthread_mutex_lock(&runner->mutex);
    if (runner->capture)
        capture_get_status(runner->capture, &runner->status);
    if (strcmp(snapshot_file(runner, &runner->status), from) == 0) {
        snprintf(runner->moved.from, sizeof runner->moved.from, "%s", runner->status.snapshot_file);
        snprintf(runner->moved.to, sizeof runner->moved.to, "%s", to);
    }
    pthread_mutex_unlock(&runner->mutex);
}

enum runner_state runner_state(struct runner *runner)
{
    pthread_mutex_lock(&runner->mutex);
    enum runner_state state = runner->state;
    pthread_mutex_unlock(&runner->mutex);
    return state;
}

void runner_report(struct runner *runner, struct runner_report *report)
{
    pthread_mutex_lock(&runner->mutex);
    report->state = runner->state;
    report->starts = runner->starts;
    report->gap_ns = runner->gap_ns;
    report->error = runner->error;
    report->snapshot = runner->snapshot;
    report->has_status = runner->has_status || runner->capture;
    if (runner->capture)
        capture_get_status(runner->capture, &report->status);
    else if (runner->has_status)
        report->status = runner->status;
    if (runner->command) /* it may run after the capture's end */
        report->status.command = file_command_counts(runner->command);
    if (report->status.snapshot_file[0] &&
        snapshot_file(runner, &report->status) == runner->moved.to)
        memcpy(report->status.snapshot_file, runner->moved.to, sizeof runner->moved.to);
    pthread_mutex_unlock(&runner->mutex);
}

const struct config_capture *runner_settings(const struct runner *runner)
{
    return runner->settings;
}

const char *runner_state_name(enum runner_state state)
{
    static const char *const names[RUNNER_STATES] = {"stopped",  "starting", "running",
                                                     "stopping", "finished", "waiting"};
    return names[state];
}
