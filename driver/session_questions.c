/* Requests to a board that is not armed: its counters, and a test of the link. */
#include "driver/session_internal.h"

#define PATTERN_WAIT_MS           1000
#define PATTERN_WAIT_SIMULATED_MS 30000 /* its time is the machine's spare time */
#define PATTERN_FRAME_MS          10    /* a tenth of the slowest useful link's speed */

/* An armed board must not be asked: its replies would follow all its queued frames. */
static int idle_only(struct session *session, const char *what, struct bt_error *error)
{
    if (session->phase != SESSION_ARMED && session->phase != SESSION_STOPPING)
        return 0;
    return bt_fail(error, BT_USAGE, "board %s cannot do a %s while it captures", session->name,
                   what);
}

int session_status(struct session *session, struct wire_counters *counters, struct bt_error *error)
{
    struct wire_reply reply;
    int result = idle_only(session, "status request", error);
    if (result == 0)
        result = session_command(session, WIRE_STATUS, NULL, 0, &reply, error);
    if (result == 0 && wire_counters_get(counters, reply.body, reply.body_bytes) < 0)
        result = bt_fail(error, BT_DEVICE, "board %s sent counters of %zu bytes, not %u",
                         session->name, reply.body_bytes, WIRE_COUNTERS_BYTES_LEAST);
    if (result == 0)
        session->counters = *counters;
    return result;
}

/* Compares a frame with the pattern of its first index. */
static void compare(const struct wire_frame *frame, struct session_test_result *result)
{
    uint8_t expected[WIRE_PAYLOAD_MAX];
    wire_pattern_fill(expected, frame->payload_bytes, frame->first_index);
    result->frames++;
    result->bytes += frame->payload_bytes;
    for (size_t i = 0; i < frame->payload_bytes; i++)
        result->bad_bytes += frame->payload[i] != expected[i];
}

void session_watch_test(struct session *session,
                        void (*show)(void *argument, uint64_t done, uint64_t total), void *argument)
{
    session->test_show = show;
    session->test_argument = argument;
}

int session_self_test(struct session *session, uint32_t frames, struct session_test_result *result,
                      struct bt_error *error)
{
    uint8_t body[4];
    uint32_t tag;
    *result = (struct session_test_result){0};
    int code = idle_only(session, "self-test", error);
    if (code < 0)
        return code;
    bytes_put32(body, frames);
    int64_t started_ns = clock_monotonic_ns();
    int64_t last_ns = started_ns;
    const bool simulated = session->source.backpressure;
    const int wait = simulated ? PATTERN_WAIT_SIMULATED_MS : PATTERN_WAIT_MS;
    int64_t deadline = clock_monotonic_ms() + wait;
    const int64_t limit = simulated ? INT64_MAX : deadline + (int64_t)frames * PATTERN_FRAME_MS;
    code = session_send(session, WIRE_SELF_TEST, body, sizeof body, &tag, error);
    while (code >= 0 && result->frames < frames) {
        code = session_receive(session, deadline, error);
        struct wire_reply reply;
        if (code < 0)
            break;
        const struct wire_frame *frame = &session->frame;
        if (frame->kind == WIRE_PATTERN && frame->version == WIRE_VERSION) {
            compare(frame, result);
            if (session->test_show)
                session->test_show(session->test_argument, result->frames, frames);
            last_ns = clock_monotonic_ns();
            deadline = last_ns / 1000000 + wait;
            deadline = deadline < limit ? deadline : limit;
        } else if (frame->kind == WIRE_REPLY &&
                   wire_reply_get(&reply, frame->payload, frame->payload_bytes) == 0 &&
                   reply.tag == tag && reply.status != WIRE_OK) {
            return session_refused(session, &reply, "self-test", error);
        }
    }
    if (code < 0 && (code != BT_TIMEOUT || result->frames == 0))
        return code == BT_TIMEOUT
                   ? bt_fail(error, BT_DEVICE, "board %s sent no pattern", session->name)
                   : code;
    result->missing_frames = frames - result->frames;
    result->seconds = (double)(last_ns - started_ns) / 1e9;
    return 0;
}
