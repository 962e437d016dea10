/* A session whose stream broke goes on, on another stream to the same board. */
#include "driver/session_internal.h"

#include "formats/base/saturating.h"

#include <string.h>

#define MS_NS     INT64_C(1000000)
#define STATUS_MS 700 /* three tries make about two seconds */
#define TRIES     3

/* What a board that is there again says of the session. */
enum memory { MEMORY_KEPT, MEMORY_ENDED, MEMORY_GONE };

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

/* Whether the frame tells what became of the session; if it has ended, with which counters. */
static bool judge(struct session *session, uint32_t tag, enum memory *memory,
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
        if (session_told_before(session, frame))
            return false; /* the line may hold it still, whatever has become of the board */
        session->frame_waits = true;
        *memory = MEMORY_KEPT;
        return true;
    }
    if (wire_reply_get(&reply, frame->payload, frame->payload_bytes) < 0 || reply.tag != tag ||
        reply.code != WIRE_STATUS || reply.status != WIRE_OK ||
        wire_counters_get(counters, reply.body, reply.body_bytes) < 0)
        return false;
    *memory = MEMORY_GONE;
    if (session->id != 0 && counters->session == session->id)
        *memory = counters->state == 0 ? MEMORY_ENDED : MEMORY_KEPT;
    return true;
}

/* Asks the board whether it still has the session. 0 and what judge found, or a negative code. */
static int ask(struct session *session, enum memory *memory, struct wire_counters *counters,
               struct bt_error *error)
{
    for (int i = 0; i < TRIES; i++) {
        uint32_t tag;
        int64_t deadline = clock_monotonic_ms() + STATUS_MS;
        int result = session_send(session, WIRE_STATUS, NULL, 0, &tag, error);
        while (result >= 0 && clock_monotonic_ms() < deadline) {
            result = session_receive(session, deadline, error);
            if (result > 0 && judge(session, tag, memory, counters))
                return 0;
        }
        if (result < 0 && result != BT_TIMEOUT)
            return result;
    }
    return bt_fail(error, BT_DEVICE, "board %s is there but does not answer", session->name);
}

static bool same_board(const struct wire_identity *a, const struct wire_identity *b)
{
    return strcmp(a->name, b->name) == 0 && strcmp(a->serial, b->serial) == 0 &&
           a->clock_hz == b->clock_hz && a->bus == b->bus;
}

/* Who the board is, where no session's id proves it. 0 if it is the one that was armed. */
static int recognise(struct session *session, struct bt_error *error)
{
    struct wire_identity identity;
    int result = session_identify(session, &identity, error);
    if (result == 0 && !same_board(&identity, &session->identity))
        result =
            bt_fail(error, BT_DEVICE, "another board (%s %s) is where %s %s was", identity.name,
                    identity.serial, session->identity.name, session->identity.serial);
    return result;
}

static int64_t absence_ms(const struct session *session)
{
    return clock_monotonic_ms() - session->deaf_ms;
}

/* Ticks that an absence lasted, for a clock that was reset: about, the host knows no better. */
static uint64_t ticks_of(uint64_t clock_hz, int64_t milliseconds)
{
    uint64_t ticks;
    if (__builtin_mul_overflow(clock_hz / 1000, (uint64_t)milliseconds, &ticks))
        return UINT64_MAX / 2;
    return ticks;
}

/* What the board's next life counts goes behind what is known of this one. */
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
    before->accepted = session->position.index;
    base->index = session->position.index;
    base->tick = saturating_add(session->position.tick,
                                ticks_of(session->info.clock_hz, absence_ms(session)));
    session->counters = (struct wire_counters){0};
    session->uncounted = true;
}

/* The board has forgotten the session: a new one goes on where it was. */
static int begin_anew(struct session *session, struct bt_error *error)
{
    const struct session_base base = session->base;
    const struct wire_counters counters = session->counters;
    const bool uncounted = session->uncounted;
    move_base(session);
    int result = session_arm_again(session, error);
    if (result < 0) {
        session->base = base;
        session->counters = counters;
        session->uncounted = uncounted;
        session->id = 0; /* armed perhaps, but its START was not seen: nothing to go on with */
    }
    return result;
}

/* The board goes on with the session; or has ended it, with these counters. */
static void go_on(struct session *session, enum memory memory, const struct wire_counters *counters)
{
    if (memory == MEMORY_ENDED) {
        session->counters = *counters;
        session->counters_known = true;
    }
    session->phase = session->stops_sent > 0 ? SESSION_STOPPING : SESSION_ARMED;
    session->end_waits = memory == MEMORY_ENDED;
    session->stops_sent = session->statuses_sent = 0;
    session->stop_confirmed = false;
    session_heard(session);
    session->away_ms = session->asked_ms = session->heard_ms;
}

int session_resume(struct session *session, struct stream *stream, struct bt_error *error)
{
    enum memory memory = MEMORY_GONE;
    struct wire_counters counters;
    session->stream = stream;
    wire_reader_reset(session->reader);
    session->frame_waits = false;
    int result = ask(session, &memory, &counters, error);
    if (result == 0 && memory == MEMORY_GONE)
        result = recognise(session, error);
    if (result == 0 && memory == MEMORY_GONE)
        result = begin_anew(session, error);
    else if (result == 0)
        go_on(session, memory, &counters);
    if (result < 0) {
        session_suspend(session);
        return result;
    }
    struct gap gap = gap_of_ns(absence_ms(session) * MS_NS, memory == MEMORY_GONE);
    gap_add(&session->gap, &gap);
    session->broken = (struct bt_error){0};
    return 0;
}
