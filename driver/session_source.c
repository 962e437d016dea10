/* A session as a source: waits for bytes and returns batches. */
#include "driver/session_internal.h"

#include "formats/base/saturating.h"

#define STOP_CHECK_MS 100 /* interval of checks while stopping */

/* One call of source_next. */
struct source_call {
    struct batch *batch;
    int64_t deadline_ms; /* INT64_MAX: none */
    bool has_read;
};

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int pause_ms(const struct session *session, const struct source_call *call, int64_t now)
{
    int64_t wait = call->deadline_ms - now;
    if (call->deadline_ms == INT64_MAX && call->batch->count > 0)
        wait = 0; /* without a time limit, return the first records at once */
    if (session->phase == SESSION_STOPPING)
        wait = least(wait, STOP_CHECK_MS);
    else if (session_detects_silence(session))
        wait = least(wait, session_silence_due(session) - now);
    return (int)least(wait < 0 ? 0 : wait, 60000);
}

/* The bytes since the last good frame are more than enough for another frame. */
static bool sends_noise(const struct session *session)
{
    uint64_t bytes = wire_reader_statistics(session->reader)->bytes;
    return bytes - session->heard_bytes > 2 * WIRE_FRAME_MAX;
}

static void fall_silent(struct session *session, const char *what)
{
    if (!session_fail_unsent(session))
        bt_fail(&session->broken, BT_DEVICE,
                "board %s has stopped answering: it sent %s for %d.%03d s", session->name, what,
                session->settings.silence_ms / 1000, session->settings.silence_ms % 1000);
    (void)session_break(session);
    session->disconnected_since_ms = session->heard_ms;
}

/* Extends the time limits if the process was not scheduled for longer than it meant to wait. */
static void extend_limits(struct session *session, int64_t until_ms)
{
    int64_t late = clock_monotonic_ms() - until_ms;
    session->heard_ms += late > 0 ? late : 0;
    session->stop_ms += late > 0 ? late : 0;
    session->asked_ms += late > 0 ? late : 0;
}

/* Waits for bytes. 0: check again; 1: return the batch; BT_TIMEOUT. A failure breaks the session,
 * which the next check reports. */
static int wait_for_bytes(struct session *session, struct source_call *call, struct bt_error *error)
{
    if (session->phase == SESSION_STOPPING && session_check_stop(session) < 0)
        return 0;
    bool silent = session_check_silence(session);
    if (silent && sends_noise(session))
        fall_silent(session, "only noise");
    if (session->phase == SESSION_BROKEN)
        return 0;
    int64_t now = clock_monotonic_ms();
    if (call->has_read && now >= call->deadline_ms)
        return call->batch->count > 0
                   ? 1
                   : bt_fail(error, BT_TIMEOUT, "board %s sent no requests", session->name);
    call->has_read = true;
    int pause = pause_ms(session, call, now);
    int result = session_fill(session, pause, &session->broken);
    if (result > 0 || result == BT_TIMEOUT)
        extend_limits(session, now + pause);
    if (result > 0)
        return 0;
    if (result != BT_TIMEOUT) {
        if (session->broken.code != result)
            bt_fail(&session->broken, result, "board %s does not respond", session->name);
        (void)session_break(session);
        return 0;
    }
    if (call->batch->count > 0 && call->deadline_ms == INT64_MAX)
        return 1;
    if (silent)
        fall_silent(session, "nothing");
    return 0;
}

/* The session has ended: returns the batch, then the reason, then the end. */
static int over(struct session *session, const struct batch *batch, struct bt_error *error)
{
    if (batch->count > 0)
        return 1;
    if (session->reason.code < 0) {
        int code = session->reason.code;
        session->reason.code = 0;
        return bt_fail(error, code, "%s", session->reason.message);
    }
    if (session->phase == SESSION_BROKEN)
        return bt_fail(error, session->broken.code, "%s", session->broken.message);
    return 0;
}

static bool next_frame(struct session *session)
{
    if (!wire_reader_next(session->reader, &session->frame))
        return false;
    if (session->frame.session == session->id)
        session_rebase(session, &session->frame);
    return true;
}

static int next_batch(struct session *session, struct source_call *call, struct bt_error *error)
{
    for (;;) {
        int result;
        if (session->spare_count > 0) {
            session_take_spare(session, call->batch);
            return 1;
        }
        if (session->phase != SESSION_ARMED && session->phase != SESSION_STOPPING)
            return over(session, call->batch, error);
        if (session->end_pending) {
            result = session_take_late_end(session, call->batch);
        } else if (session->frame_pending || next_frame(session)) {
            session->frame_pending = false;
            result = session_take_frame(session, call->batch, error);
        } else {
            result = wait_for_bytes(session, call, error);
        }
        if (result != 0)
            return result;
    }
}

static int source_next_batch(struct source *source, struct batch *batch, int timeout_ms,
                             struct bt_error *error)
{
    struct session *session = (struct session *)source;
    batch_clear(batch);
    if (batch->capacity == 0)
        return bt_fail(error, BT_USAGE, "a batch without room for records");
    int64_t now = clock_monotonic_ms();
    /* time outside source_next does not count as silence */
    session->heard_ms += now - session->returned_ms;
    session->stop_ms += now - session->returned_ms;
    session->asked_ms += now - session->returned_ms;
    struct source_call call = {.batch = batch,
                               .deadline_ms = timeout_ms < 0 ? INT64_MAX : now + timeout_ms};
    int result = next_batch(session, &call, error);
    session->returned_ms = clock_monotonic_ms();
    return result;
}

static const struct capture_info *source_describe(struct source *source)
{
    return &((struct session *)source)->info;
}

static void source_count(struct source *source, struct source_totals *totals)
{
    const struct session *session = (const struct session *)source;
    const struct wire_counters *counters = &session->counters;
    bool running = session->phase == SESSION_ARMED || session->phase == SESSION_STOPPING;
    const struct wire_counters *before = &session->base.counters;
    bool known = running ? session->counters_known : session->totals_final;
    *totals = (struct source_totals){.known = known && !session->uncounted,
                                     .seen = before->seen + counters->seen,
                                     .accepted = before->accepted + counters->accepted,
                                     .filtered = before->filtered + counters->filtered,
                                     .above_4gib = before->above_4gib + counters->above_4gib,
                                     .undecoded = before->undecoded + counters->undecoded,
                                     .lost_bus = before->lost + counters->lost,
                                     .stalled = saturating_add(before->stalled, counters->stalled),
                                     .stalls = saturating_add(before->stalls, counters->stalls)};
}

static int source_begin(struct source *source, struct bt_error *error)
{
    return session_start((struct session *)source, error);
}

static void source_free(struct source *source)
{
    session_free((struct session *)source);
}

const struct source_operations *session_source_operations(void)
{
    static const struct source_operations operations = {.start = source_begin,
                                                        .next = source_next_batch,
                                                        .info = source_describe,
                                                        .totals = source_count,
                                                        .stop = session_stop,
                                                        .close = source_free};
    return &operations;
}
