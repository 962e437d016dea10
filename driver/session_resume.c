/* Resumes a session whose stream broke on a new stream to the same board. */
#include "driver/session_internal.h"

#include "formats/base/saturating.h"

#include <string.h>

#define MS_NS     INT64_C(1000000)
#define STATUS_MS 700 /* three tries make about two seconds */
#define TRIES     3

/* What the board has kept of the session after the reconnect. */
enum session_state { STATE_KEPT, STATE_ENDED, STATE_FORGOTTEN };

void session_rebase(const struct session *session, struct wire_frame *frame)
{
    const struct session_base *base = &session->base;
    frame->first_index = saturating_add(frame->first_index, base->index);
    frame->first_tick = saturating_add(frame->first_tick, base->tick);
    if (frame->lost > 0) {
        frame->lost_first_tick = saturating_add(frame->lost_first_tick, base->tick);
        frame->lost_last_tick = saturating_add(frame->lost_last_tick, base->tick);
    }
}

void session_suspend(struct session *session)
{
    stream_close(session->stream);
    session->stream = NULL;
    session->phase = SESSION_BROKEN;
}

static bool is_ours(const struct session *session, const struct wire_frame *frame)
{
    return session->id != 0 && frame->session == session->id;
}

/* Whether the frame shows the session's state; if it has ended, its last counters. */
static bool judge(struct session *session, uint32_t tag, enum session_state *state,
                  struct wire_counters *counters)
{
    const struct wire_frame *frame = &session->frame;
    struct wire_reply reply;
    if (frame->version != WIRE_VERSION)
        return false;
    if (frame->kind != WIRE_REPLY) {
        if (!is_ours(session, frame))
            return false;
        session_rebase(session, &session->frame);
        if (session_is_duplicate(session, frame))
            return false; /* may be left over from before the disconnect */
        session->frame_pending = true;
        *state = STATE_KEPT;
        return true;
    }
    if (wire_reply_get(&reply, frame->payload, frame->payload_bytes) < 0 || reply.tag != tag ||
        reply.code != WIRE_STATUS || reply.status != WIRE_OK ||
        wire_counters_get(counters, reply.body, reply.body_bytes) < 0)
        return false;
    *state = STATE_FORGOTTEN;
    if (session->id != 0 && counters->session == session->id)
        *state = counters->state == 0 ? STATE_ENDED : STATE_KEPT;
    return true;
}

/* Asks the board for the session's state. 0 and *state, *counters; or a negative code. */
static int query_state(struct session *session, enum session_state *state,
                       struct wire_counters *counters, struct bt_error *error)
{
    for (int i = 0; i < TRIES; i++) {
        uint32_t tag;
        int64_t deadline = clock_monotonic_ms() + STATUS_MS;
        int result = session_send(session, WIRE_STATUS, NULL, 0, &tag, error);
        while (result >= 0 && clock_monotonic_ms() < deadline) {
            result = session_receive(session, deadline, error);
            if (result > 0 && judge(session, tag, state, counters))
                return 0;
        }
        if (result < 0 && result != BT_TIMEOUT)
            return result;
    }
    return bt_fail(error, BT_DEVICE, "board %s is connected but does not answer", session->name);
}

static bool same_board(const struct wire_identity *a, const struct wire_identity *b)
{
    return strcmp(a->name, b->name) == 0 && strcmp(a->serial, b->serial) == 0 &&
           a->clock_hz == b->clock_hz && a->bus == b->bus;
}

/* Checks by its identity that this is the board that was armed. 0 if so. */
static int recognise(struct session *session, struct bt_error *error)
{
    struct wire_identity identity;
    int result = session_identify(session, &identity, error);
    if (result == 0 && !same_board(&identity, &session->identity))
        result = bt_fail(error, BT_DEVICE, "another board (%s %s) is connected in place of %s %s",
                         identity.name, identity.serial, session->identity.name,
                         session->identity.serial);
    return result;
}

static int64_t disconnected_ms(const struct session *session)
{
    return clock_monotonic_ms() - session->disconnected_since_ms;
}

/* Estimated ticks of a disconnection whose board reset its clock, from the host's clock. */
static uint64_t ticks_of(uint64_t clock_hz, int64_t milliseconds)
{
    uint64_t ticks;
    if (__builtin_mul_overflow(clock_hz / 1000, (uint64_t)milliseconds, &ticks))
        return UINT64_MAX / 2;
    return ticks;
}

/* The board restarted: makes its new counts continue the known ones. */
static void move_base(struct session *session)
{
    struct session_base *base = &session->base;
    struct wire_counters *before = &base->counters;
    const struct wire_counters *last = &session->counters;
    before->seen += last->seen;
    before->filtered += last->filtered;
    before->above_4gib += last->above_4gib;
    before->undecoded += last->undecoded;
    before->lost += last->lost;
    before->stalled = saturating_add(before->stalled, last->stalled);
    before->stalls = saturating_add(before->stalls, last->stalls);
    before->accepted = session->position.index;
    base->index = session->position.index;
    base->tick = saturating_add(session->position.tick,
                                ticks_of(session->info.clock_hz, disconnected_ms(session)));
    session->counters = (struct wire_counters){0};
    session->uncounted = true;
}

/* The board has forgotten the session: arms it again, and continues the capture's counts. */
static int restart(struct session *session, struct bt_error *error)
{
    const struct session_base base = session->base;
    const struct wire_counters counters = session->counters;
    const bool uncounted = session->uncounted;
    move_base(session);
    int result = session_rearm(session, error);
    if (result < 0) {
        session->base = base;
        session->counters = counters;
        session->uncounted = uncounted;
        session->id = 0; /* the board may be armed, but its START was not received */
    }
    return result;
}

/* The board continues the session, or has ended it with these counters. */
static void continue_session(struct session *session, enum session_state state,
                             const struct wire_counters *counters)
{
    if (state == STATE_ENDED) {
        session->counters = *counters;
        session->counters_known = true;
    }
    session->phase = session->stops_sent > 0 ? SESSION_STOPPING : SESSION_ARMED;
    session->end_pending = state == STATE_ENDED;
    session->stops_sent = session->statuses_sent = 0;
    session->stop_written = session->stop_confirmed = false;
    session_heard(session);
    session->returned_ms = session->asked_ms = session->heard_ms;
}

int session_resume(struct session *session, struct stream *stream, struct bt_error *error)
{
    enum session_state state = STATE_FORGOTTEN;
    struct wire_counters counters;
    session->stream = stream;
    wire_reader_reset(session->reader);
    session->frame_pending = false;
    int result = query_state(session, &state, &counters, error);
    if (result == 0 && state == STATE_FORGOTTEN)
        result = recognise(session, error);
    if (result == 0 && state == STATE_FORGOTTEN)
        result = restart(session, error);
    else if (result == 0)
        continue_session(session, state, &counters);
    if (result < 0) {
        session_suspend(session);
        return result;
    }
    struct gap gap = gap_of_ns(disconnected_ms(session) * MS_NS, state == STATE_FORGOTTEN);
    gap_add(&session->gap, &gap);
    session->broken = session->unsent = (struct bt_error){0};
    return 0;
}
