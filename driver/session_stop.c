/* The end of a session: on request, by the board, or because the board or its link failed. */
#include "driver/session_internal.h"

#define REPEAT_MS  500 /* an unanswered STOP is repeated */
#define OVERDUE_MS 700 /* END is overdue after this silence */
#define TRIES      3u

void session_ended(struct session *session, bool counters_are_final, bool bus_ended)
{
    /* where no STOP was sent the stream may know the reason: a program's exit status */
    bool unasked = bus_ended || session->phase != SESSION_STOPPING;
    session->phase = SESSION_ENDED;
    session->totals_final = counters_are_final;
    session->reason.code = 0;
    if (!unasked || stream_diagnose(session->stream, &session->reason) == 0)
        session->reason.code = 0;
    else if (session->reason.code == BT_DEVICE)
        session->reason.code = BT_DATA; /* the board's counts are valid all the same */
}

int session_break(struct session *session)
{
    session->phase = SESSION_BROKEN;
    session->disconnected_since_ms = clock_monotonic_ms();
    session->reason.code = 0;
    if (stream_diagnose(session->stream, &session->reason) == 0)
        session->reason.code = 0;
    /* a reader continues after these codes, which a failed stream does not allow */
    int code = session->broken.code;
    if (code >= 0 || code == BT_DATA || code == BT_NOTE || code == BT_TIMEOUT)
        session->broken.code = BT_DEVICE;
    return session->broken.code;
}

/* The commands below are repeated. A failure of the link does not end the session, so that what
 * arrived before it is read; it is the reason if reading reports no other. */
static int send_command(struct session *session, enum wire_command_code code, uint32_t *tag)
{
    session->asked_ms = clock_monotonic_ms();
    int result = session_send(session, code, NULL, 0, tag, &session->unsent);
    if (result == 0 || result == BT_TIMEOUT)
        session->unsent.code = 0;
    return result;
}

static void send_stop(struct session *session)
{
    uint32_t tag;
    session->stops_sent++;
    if (send_command(session, WIRE_STOP, &tag) == 0)
        session->stop_written = true;
}

static void send_status(struct session *session)
{
    session->statuses_sent++;
    (void)send_command(session, WIRE_STATUS, &session->status_tag);
}

bool session_fail_unsent(struct session *session)
{
    if (session->unsent.code < 0)
        session->broken = session->unsent;
    return session->unsent.code < 0;
}

int session_stop(struct source *source, struct bt_error *error)
{
    struct session *session = (struct session *)source;
    (void)error;
    if (session->phase != SESSION_ARMED)
        return 0;
    session->phase = SESSION_STOPPING;
    session->statuses_sent = 0;
    session->stop_ms = clock_monotonic_ms();
    send_stop(session);
    return 0;
}

int session_check_stop(struct session *session)
{
    int64_t now = clock_monotonic_ms();
    int64_t quiet_since =
        session->heard_ms > session->asked_ms ? session->heard_ms : session->asked_ms;
    int result = 0;
    if (now - session->stop_ms >= session->settings.stop_ms) {
        const char *advice = session->stream->operations->program
                                 ? "check that the program reads its standard input"
                                 : "unplug it";
        result = bt_fail(&session->broken, BT_DEVICE,
                         "board %s still sends %.3g s after the stop command; %s", session->name,
                         (double)session->settings.stop_ms / 1000, advice);
    } else if (!session->stop_confirmed && session->stops_sent < TRIES) {
        if (now - session->asked_ms >= REPEAT_MS)
            send_stop(session);
    } else if (!session->stop_written && now - session->asked_ms >= REPEAT_MS &&
               session_fail_unsent(session)) {
        result = session->broken.code;
    } else if (now - quiet_since >= OVERDUE_MS) {
        if (session->statuses_sent < TRIES)
            send_status(session);
        else if (session_fail_unsent(session))
            result = session->broken.code;
        else
            result = bt_fail(&session->broken, BT_DEVICE,
                             "board %s does not report how its capture ended; its last requests "
                             "may be missing",
                             session->name);
    }
    return result < 0 ? session_break(session) : 0;
}

bool session_detects_silence(const struct session *session)
{
    return session->phase == SESSION_ARMED && session->settings.silence_ms > 0 &&
           session->settings.heartbeat_ms > 0;
}

/* STATUS requests begin after half of silence_ms. */
int64_t session_silence_due(const struct session *session)
{
    int silence = session->settings.silence_ms;
    return session->statuses_sent == 0 ? session->heard_ms + silence / 2
                                       : session->asked_ms + silence / (int)(2 * TRIES);
}

bool session_check_silence(struct session *session)
{
    if (!session_detects_silence(session) || clock_monotonic_ms() < session_silence_due(session))
        return false;
    if (session->statuses_sent >= TRIES)
        return true;
    send_status(session);
    return false;
}

bool session_take_reply(struct session *session, const struct wire_frame *frame)
{
    struct wire_reply reply;
    if (wire_reply_get(&reply, frame->payload, frame->payload_bytes) < 0 || reply.status != WIRE_OK)
        return false;
    if (reply.code == WIRE_STOP)
        session->stop_confirmed = true;
    struct wire_counters counters;
    if (reply.code != WIRE_STATUS || reply.tag != session->status_tag ||
        session->statuses_sent == 0 ||
        wire_counters_get(&counters, reply.body, reply.body_bytes) < 0 ||
        counters.session != session->id)
        return false;
    session->counters = counters;
    session->counters_known = true;
    return counters.state == 0;
}
