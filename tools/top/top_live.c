#include "tools/top/top_live.h"

#include "formats/base/clock.h"
#include "formats/base/printable.h"
#include "formats/base/thread.h"
#include "formats/capture/capture_file.h"
#include "tools/top/terminal.h"

#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#define WAIT_MS       200
#define HEADING_LINES 4u /* of the screen: totals, keys, an empty line, the table's heading */

/* The thread that counts, and what it shares with the one that shows. It frees nothing: it may be
 * blocked in a read when the process ends. */
struct counting {
    struct record_input *input;
    struct source *source; /* NULL: input */
    struct batch batch;    /* of source */
    struct top_study *study;
    pthread_mutex_t mutex; /* of study, and of: */
    bool ended;
    int status;             /* of the source's records */
    struct bt_error reason; /* for status: the first one */
    struct bt_error error;  /* code 0: none */
    int event;              /* readable once it has ended */
};

struct screen {
    struct top_live *live;
    struct counting *counting;
    struct terminal terminal;
    int signals;
    bool by_recent, paused;
    bool quit;
    int64_t shown_ns;          /* time of the last snapshot, */
    struct top_snapshot shown; /* which a paused screen keeps, */
    double seconds;            /* and length of the time that its rates are for */
};

static void handled(sigset_t *set)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGWINCH};
    sigemptyset(set);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        sigaddset(set, signals[i]);
}

void top_live_block(sigset_t *before)
{
    sigset_t set;
    handled(&set);
    pthread_sigmask(SIG_BLOCK, &set, before);
}

void top_live_forget(void)
{
    static const struct timespec now = {0, 0};
    sigset_t set;
    handled(&set);
    while (sigtimedwait(&set, NULL, &now) > 0)
        continue;
}

/* Notes what is wrong with records of the source. */
static void note(struct counting *counting, const struct bt_error *error)
{
    pthread_mutex_lock(&counting->mutex);
    if (counting->status == 0)
        counting->reason = *error;
    counting->status = bt_exit_status(error->code);
    pthread_mutex_unlock(&counting->mutex);
}

/* The next batch of what is counted; 0: the end; or a negative code. */
static int next_batch(struct counting *counting, const struct batch **batch, struct bt_error *error)
{
    int result;
    if (!counting->source)
        return record_input_next(counting->input, batch, error);
    do {
        result = source_next(counting->source, &counting->batch, WAIT_MS, error);
        if (result == BT_DATA)
            note(counting, error);
    } while (result == BT_TIMEOUT || result == BT_NOTE || result == BT_DATA);
    *batch = &counting->batch;
    return result;
}

static void *count_all(void *argument)
{
    struct counting *counting = argument;
    const struct batch *batch;
    struct bt_error error = {.code = 0};
    int result;
    thread_set_name("counting");
    while ((result = next_batch(counting, &batch, &error)) == 1) {
        pthread_mutex_lock(&counting->mutex);
        result = top_study_put(counting->study, batch, &error);
        pthread_mutex_unlock(&counting->mutex);
        if (result < 0)
            break;
    }
    pthread_mutex_lock(&counting->mutex);
    counting->ended = true;
    if (result < 0)
        counting->error = error;
    pthread_mutex_unlock(&counting->mutex);
    eventfd_write(counting->event, 1);
    return NULL;
}

/* --- showing --- */

static void put_heading(const struct screen *screen, const struct top_report *report, FILE *out)
{
    const struct top_totals *totals = &report->snapshot->totals;
    fprintf(out, "bustap top: %" PRIu64 " requests, %.3f M/s", totals->records,
            (double)report->snapshot->recent / report->seconds / 1e6);
    fprintf(out, ", %" PRIu64 " lost, %" PRIu64 " keys\n", totals->lost, totals->held);
    fprintf(out, "by %s%s; q quits, r orders by %s, p %s\n\n",
            screen->by_recent ? "requests per second" : "count", screen->paused ? ", paused" : "",
            screen->by_recent ? "count" : "requests per second",
            screen->paused ? "continues" : "pauses");
}

static int show(const struct screen *screen, const struct top_report *report,
                struct bt_error *error)
{
    const unsigned height = terminal_size(&screen->terminal).rows;
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return bt_fail(error, BT_MEMORY, "no memory for a screen");
    put_heading(screen, report, out);
    if (height > HEADING_LINES + 1)
        top_report_table(report, height - HEADING_LINES - 1, out);
    int result = fclose(out) == 0 ? 0 : bt_fail(error, BT_MEMORY, "no memory for a screen");
    if (result == 0)
        result = terminal_show(&screen->terminal, text, error);
    free(text);
    return result;
}

/* Replaces the snapshot. */
static int take_snapshot(struct screen *screen, struct bt_error *error)
{
    struct top_live *live = screen->live;
    size_t rows = live->rows;
    if (live->screen && terminal_size(&screen->terminal).rows > rows)
        rows = terminal_size(&screen->terminal).rows;
    top_snapshot_clear(&screen->shown);
    pthread_mutex_lock(&screen->counting->mutex);
    const int64_t now = clock_monotonic_ns();
    int result = top_study_snapshot(live->study, rows, screen->by_recent, &screen->shown, error);
    pthread_mutex_unlock(&screen->counting->mutex);
    screen->seconds = (double)(now - screen->shown_ns + 1) / 1e9;
    screen->shown_ns = now;
    return result;
}

/* Takes a snapshot, or keeps that of a paused screen, and shows or prints it. */
static int refresh(struct screen *screen, struct bt_error *error)
{
    struct top_live *live = screen->live;
    int result = screen->paused ? 0 : take_snapshot(screen, error);
    if (result < 0)
        return result;
    struct top_report report = live->report;
    report.snapshot = &screen->shown;
    report.seconds = screen->seconds;
    return live->screen ? show(screen, &report, error) : live->print(live->context, &report, error);
}

/* --- events --- */

/* Stops the process as SIGTSTP does, with the terminal restored meanwhile. */
static void stop_for_shell(struct screen *screen)
{
    terminal_leave(&screen->terminal);
    kill(getpid(), SIGSTOP);
    terminal_enter(&screen->terminal);
}

static void take_signal(struct screen *screen)
{
    struct signalfd_siginfo info;
    if (read(screen->signals, &info, sizeof info) != (ssize_t)sizeof info)
        return;
    if (info.ssi_signo == SIGTSTP && screen->live->screen) {
        stop_for_shell(screen);
    } else if (info.ssi_signo == SIGTSTP) {
        kill(getpid(), SIGSTOP);
    } else if (info.ssi_signo == SIGINT) {
        screen->quit = true;
    } else if (info.ssi_signo != SIGWINCH) {
        screen->quit = true;
        screen->live->signal = (int)info.ssi_signo;
    }
}

static void take_keys(struct screen *screen)
{
    char key;
    while ((key = terminal_key(&screen->terminal)) != '\0') {
        screen->quit |= key == 'q' || key == 'Q';
        screen->by_recent ^= key == 'r';
        screen->paused ^= key == 'p';
        if (key == 'r' && screen->paused)
            top_snapshot_sort(&screen->shown, screen->by_recent);
    }
}

/* Waits for a signal, a key, the input's end, or the next time to show something. */
static int wait_and_act(struct screen *screen, struct bt_error *error)
{
    const int64_t next = screen->shown_ns + screen->live->interval_ns;
    const int64_t left = (next - clock_monotonic_ns() + 999999) / 1000000;
    struct pollfd ready[] = {{.fd = screen->signals, .events = POLLIN},
                             {.fd = screen->counting->event, .events = POLLIN},
                             {.fd = screen->terminal.keys, .events = POLLIN}};
    const int wait_ms = left < 0 ? 0 : left > INT32_MAX ? INT32_MAX : (int)left;
    if (poll(ready, 3, screen->paused ? -1 : wait_ms) < 0)
        return 0;
    bool shown = left <= 0 && !screen->paused;
    if (ready[0].revents) {
        take_signal(screen);
        shown |= screen->live->screen;
    }
    if (ready[2].revents) {
        take_keys(screen);
        shown = true;
    }
    if (ready[1].revents)
        screen->quit = true;
    return shown && !screen->quit ? refresh(screen, error) : 0;
}

static int run_screen(struct screen *screen, struct bt_error *error)
{
    int result = 0;
    screen->terminal.keys = -1;
    if (screen->live->screen) {
        result = terminal_open(&screen->terminal, STDOUT_FILENO, error);
        if (result < 0)
            return result;
        terminal_enter(&screen->terminal);
        result = refresh(screen, error);
    }
    while (result == 0 && !screen->quit)
        result = wait_and_act(screen, error);
    terminal_close(&screen->terminal);
    top_snapshot_clear(&screen->shown);
    return result;
}

int top_live_run(struct top_live *live, struct bt_error *error)
{
    struct counting *counting = calloc(1, sizeof *counting);
    struct screen screen = {.live = live, .counting = counting, .shown_ns = clock_monotonic_ns()};
    pthread_t thread;
    sigset_t set;
    if (!counting)
        return bt_fail(error, BT_MEMORY, "no memory for a screen");
    counting->input = live->input;
    counting->source = live->source;
    counting->batch.capacity = CAPTURE_BLOCK_RECORDS;
    counting->batch.records = calloc(CAPTURE_BLOCK_RECORDS, sizeof *counting->batch.records);
    counting->study = live->study;
    handled(&set);
    screen.signals = signalfd(-1, &set, SFD_CLOEXEC);
    counting->event = eventfd(0, EFD_CLOEXEC);
    pthread_mutex_init(&counting->mutex, NULL);
    if (!counting->batch.records || screen.signals < 0 || counting->event < 0 ||
        pthread_create(&thread, NULL, count_all, counting) != 0) {
        live->ended = true;
        free(counting->batch.records);
        free(counting);
        return bt_fail_errno(error, "cannot start a thread");
    }
    int result = run_screen(&screen, error);
    pthread_mutex_lock(&counting->mutex);
    live->ended = counting->ended;
    live->status = counting->status;
    if (counting->status != 0)
        fprintf(stderr, "bustap: %s\n", PRINTABLE(counting->reason.message));
    if (counting->error.code && result == 0) {
        *error = counting->error;
        result = error->code;
    }
    if (live->ended)
        pthread_mutex_unlock(&counting->mutex); /* else the study must not change any more */
    close(screen.signals);
    if (live->ended) {
        pthread_join(thread, NULL);
        close(counting->event);
        free(counting->batch.records);
        free(counting);
    } else {
        pthread_detach(thread);
    }
    return result;
}
