#include "driver/reconnect.h"

#include "driver/boards_watch.h"
#include "formats/base/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define RETRY_MS 1000 /* retry interval while no board is plugged in */
#define MS_NS    INT64_C(1000000)

struct reconnect {
    struct source source; /* first */
    reconnect_open *open;
    struct session *session;
    char specification[256]; /* selects exactly this board; empty: it cannot reconnect */
    int64_t patience_ms;     /* INT64_MAX: for ever */
    bool stopping;

    /* While the board is disconnected. */
    bool disconnected;
    struct boards_watch *watch;        /* NULL: no memory for it; only the timer retries */
    int64_t disconnected_ms, retry_ms; /* monotonic */
    struct bt_error why;               /* the error that disconnected it */
    struct bt_error tried;             /* the error of the last attempt */
};

static int disconnect(struct reconnect *self, const struct bt_error *why, struct bt_error *error)
{
    self->disconnected = true;
    self->disconnected_ms = self->retry_ms = clock_monotonic_ms();
    self->why = self->tried = *why;
    session_suspend(self->session);
    self->watch = boards_watch_new();
    return bt_fail(error, BT_NOTE, "%.400s; waiting for it to come back", why->message);
}

static int reconnected(struct reconnect *self, struct bt_error *error)
{
    int64_t missing_ms = clock_monotonic_ms() - self->disconnected_ms;
    self->disconnected = false;
    boards_watch_free(self->watch);
    self->watch = NULL;
    return bt_fail(error, BT_NOTE, "the board is back after %.1f s; the capture continues",
                   (double)missing_ms / 1000);
}

/* Tries to reconnect. BT_NOTE: the board is back, or the attempt failed for a new reason. */
static int attempt(struct reconnect *self, struct bt_error *error)
{
    struct stream *stream;
    struct bt_error failure = {0};
    int result = self->open(&stream, self->specification, &failure);
    if (result == 0)
        result = session_resume(self->session, stream, &failure);
    if (result == 0)
        return reconnected(self, error);
    self->retry_ms = clock_monotonic_ms() + RETRY_MS;
    bool news = !bt_same_reason(self->tried.message, failure.message);
    self->tried = failure;
    if (news)
        return bt_fail(error, BT_NOTE, "%s", failure.message);
    return bt_fail(error, BT_TIMEOUT, "%s", failure.message);
}

/* Waits until a device is plugged in or the retry interval ends. Returns whether to try. */
static bool wait_for_board(struct reconnect *self, int timeout_ms)
{
    int64_t left = self->retry_ms - clock_monotonic_ms();
    if (left <= 0)
        return true;
    int wait_ms = timeout_ms >= 0 && timeout_ms < left ? timeout_ms : (int)left;
    if (self->watch)
        return boards_watch_wait(self->watch, wait_ms) || clock_monotonic_ms() >= self->retry_ms;
    struct timespec pause = {.tv_sec = wait_ms / 1000, .tv_nsec = wait_ms % 1000 * MS_NS};
    nanosleep(&pause, NULL);
    return clock_monotonic_ms() >= self->retry_ms;
}

static int end_without_board(struct reconnect *self, struct bt_error *error)
{
    if (!self->why.code)
        return 0;
    bt_fail(error, BT_DATA,
            "the board was disconnected when the capture was stopped (%.200s): what it saw "
            "meanwhile is not known",
            self->why.message);
    self->why.code = 0;
    return BT_DATA;
}

static int wait_disconnected(struct reconnect *self, int timeout_ms, struct bt_error *error)
{
    do {
        if (self->stopping)
            return end_without_board(self, error);
        if (clock_monotonic_ms() - self->disconnected_ms >= self->patience_ms)
            return bt_fail(error, self->why.code, "%s", self->why.message);
        if (wait_for_board(self, timeout_ms)) {
            int result = attempt(self, error);
            if (result != BT_TIMEOUT)
                return result;
        }
    } while (timeout_ms < 0);
    return bt_fail(error, BT_TIMEOUT, "the board is disconnected");
}

static bool is_fatal(int result)
{
    return result < 0 && result != BT_TIMEOUT && result != BT_NOTE && result != BT_DATA;
}

static int reconnect_start(struct source *source, struct bt_error *error)
{
    return source_start(session_source(((struct reconnect *)source)->session), error);
}

static bool can_come_back(const struct reconnect *self)
{
    return self->specification[0] && self->patience_ms > 0;
}

static int reconnect_next(struct source *source, struct batch *batch, int timeout_ms,
                          struct bt_error *error)
{
    struct reconnect *self = (struct reconnect *)source;
    struct bt_error own = {0};
    error = error ? error : &own;
    if (self->disconnected) {
        batch_clear(batch);
        return wait_disconnected(self, timeout_ms, error);
    }
    int result = source_next(session_source(self->session), batch, timeout_ms, error);
    if (can_come_back(self) && is_fatal(result) && result != BT_USAGE && result != BT_MEMORY &&
        !self->stopping) {
        struct bt_error why = *error;
        return disconnect(self, &why, error);
    }
    return result;
}

static const struct capture_info *reconnect_info(struct source *source)
{
    return source_info(session_source(((struct reconnect *)source)->session));
}

static void reconnect_totals(struct source *source, struct source_totals *totals)
{
    source_totals(session_source(((struct reconnect *)source)->session), totals);
}

static int reconnect_stop(struct source *source, struct bt_error *error)
{
    struct reconnect *self = (struct reconnect *)source;
    self->stopping = true;
    return self->disconnected ? 0 : source_stop(session_source(self->session), error);
}

static int reconnect_absent(struct source *source, struct bt_error *error)
{
    const struct reconnect *self = (const struct reconnect *)source;
    if (!self->disconnected)
        return 0;
    return bt_fail(error, self->tried.code, "%s", self->tried.message);
}

static void reconnect_close(struct source *source)
{
    struct reconnect *self = (struct reconnect *)source;
    boards_watch_free(self->watch);
    session_free(self->session);
    free(self);
}

struct source *reconnect_source(reconnect_open *open, const char *specification,
                                const struct session_settings *settings, struct bt_error *error)
{
    static const struct source_operations operations = {.start = reconnect_start,
                                                        .next = reconnect_next,
                                                        .info = reconnect_info,
                                                        .totals = reconnect_totals,
                                                        .stop = reconnect_stop,
                                                        .absent = reconnect_absent,
                                                        .close = reconnect_close};
    struct stream *stream;
    if (open(&stream, specification, error) < 0)
        return NULL;
    const char *again = stream_specification(stream);
    struct reconnect *self = calloc(1, sizeof *self);
    if (!self) {
        stream_close(stream);
        bt_fail(error, BT_MEMORY, "no memory for a board");
        return NULL;
    }
    self->source.operations = &operations;
    self->open = open;
    self->patience_ms =
        settings->reconnect_ns == SESSION_RECONNECT_FOR_EVER
            ? INT64_MAX
            : settings->reconnect_ns / MS_NS + (settings->reconnect_ns % MS_NS != 0);
    snprintf(self->specification, sizeof self->specification, "%s", again ? again : "");
    self->session = session_new(stream, error);
    if (!self->session) {
        free(self);
        return NULL;
    }
    session_prepare(self->session, settings);
    self->source.backpressure = session_source(self->session)->backpressure;
    return &self->source;
}
