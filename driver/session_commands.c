#include "driver/session_internal.h"

#include <sys/random.h>

#define WRITE_TIMEOUT_MS 1000
#define REPLY_TIMEOUT_MS 700 /* three tries make about two seconds */
#define TRIES            3

uint32_t session_random(void)
{
    uint32_t number = 0;
    /* if the kernel has no entropy yet, use the clock: the number only has to differ from the last
     */
    if (getrandom(&number, sizeof number, GRND_NONBLOCK) != (ssize_t)sizeof number)
        number = (uint32_t)(clock_realtime_ns() ^ clock_monotonic_ns() << 7);
    return number ? number : 1;
}

int session_send(struct session *session, enum wire_command_code code, const uint8_t *body,
                 size_t size, uint32_t *tag, struct bt_error *error)
{
    uint8_t bytes[WIRE_COMMAND_MAX];
    if (!session->stream)
        return bt_fail(error, BT_CLOSED, "board %s is disconnected", session->name);
    *tag = session_random();
    const struct wire_command command = {.version = WIRE_VERSION,
                                         .code = (uint8_t)code,
                                         .body_bytes = (uint16_t)size,
                                         .tag = *tag,
                                         .body = body};
    size_t whole = wire_command_put(bytes, &command);
    return stream_write(session->stream, bytes, whole, WRITE_TIMEOUT_MS, error);
}

int session_fill(struct session *session, int timeout_ms, struct bt_error *error)
{
    if (!session->stream)
        return bt_fail(error, BT_CLOSED, "board %s is disconnected", session->name);
    size_t capacity;
    uint8_t *space = wire_reader_space(session->reader, &capacity);
    long size = stream_read(session->stream, space, capacity, timeout_ms, error);
    int result = (int)size;
    if (size == 0)
        result = bt_fail(error, BT_TIMEOUT, "board %s sent nothing", session->name);
    if (result == BT_TIMEOUT && wire_reader_look_inside(session->reader))
        return 1;
    if (result < 0)
        return result;
    wire_reader_added(session->reader, (size_t)size);
    session->arrival_ns = clock_realtime_ns();
    return 1;
}

void session_heard(struct session *session)
{
    session->heard_ms = clock_monotonic_ms();
    if (session->phase == SESSION_ARMED)
        session->statuses_sent = 0;
    session->heard_bytes = wire_reader_statistics(session->reader)->bytes;
}

int session_receive(struct session *session, int64_t deadline_ms, struct bt_error *error)
{
    while (!wire_reader_next(session->reader, &session->frame)) {
        int64_t left = deadline_ms - clock_monotonic_ms();
        if (left <= 0)
            return bt_fail(error, BT_TIMEOUT, "board %s sent no answer in time", session->name);
        int result = session_fill(session, (int)left, error);
        if (result < 0 && result != BT_TIMEOUT)
            return result;
    }
    return 1;
}

int session_exchange(struct session *session, enum wire_command_code code, const uint8_t *body,
                     size_t size, int timeout_ms, struct wire_reply *reply, struct bt_error *error)
{
    uint32_t tag;
    int64_t deadline = clock_monotonic_ms() + timeout_ms;
    int result = session_send(session, code, body, size, &tag, error);
    while (result >= 0 && clock_monotonic_ms() < deadline) {
        result = session_receive(session, deadline, error);
        if (result < 0)
            break;
        const struct wire_frame *frame = &session->frame;
        if (frame->session != 0 && frame->kind != WIRE_REPLY)
            session->statistics.stale_frames++;
        if (frame->kind != WIRE_REPLY ||
            wire_reply_get(reply, frame->payload, frame->payload_bytes) < 0 || reply->tag != tag ||
            reply->code != code)
            continue;
        /* the start of a reply is the same in every version */
        return frame->version == WIRE_VERSION
                   ? 0
                   : session_other_protocol(session, frame->version, error);
    }
    return result < 0
               ? result
               : bt_fail(error, BT_TIMEOUT, "board %s sends data, but no answer", session->name);
}

int session_command(struct session *session, enum wire_command_code code, const uint8_t *body,
                    size_t size, struct wire_reply *reply, struct bt_error *error)
{
    static const char *const names[] = {
        [WIRE_IDENTIFY] = "identify", [WIRE_CONFIGURE] = "configure",
        [WIRE_ARM] = "arm",           [WIRE_STOP] = "stop",
        [WIRE_STATUS] = "status",     [WIRE_SELF_TEST] = "self-test"};
    for (int i = 0; i < TRIES; i++) {
        int result = session_exchange(session, code, body, size, REPLY_TIMEOUT_MS, reply, error);
        if (result == 0 && reply->status != WIRE_OK)
            return session_refused(session, reply, names[code], error);
        if (result != BT_TIMEOUT)
            return result;
    }
    return bt_fail(error, BT_DEVICE,
                   "board %s does not answer the %s command; unplug it, plug it in and try again",
                   session->name, names[code]);
}

int session_refused(struct session *session, const struct wire_reply *reply, const char *what,
                    struct bt_error *error)
{
    static const char *const reasons[] = {[WIRE_OK] = "it gives no reason",
                                          [WIRE_BAD_COMMAND] = "unknown command",
                                          [WIRE_BAD_BODY] = "a value is out of range",
                                          [WIRE_BAD_STATE] = "it is busy",
                                          [WIRE_BAD_VERSION] = "it speaks another protocol"};
    const char *reason = reply->status < sizeof reasons / sizeof reasons[0]
                             ? reasons[reply->status]
                             : "a reason unknown to this bustap";
    return bt_fail(error, BT_DEVICE, "board %s refuses the %s command: %s (status %u)",
                   session->name, what, reason, reply->status);
}

int session_other_protocol(struct session *session, unsigned version, struct bt_error *error)
{
    return bt_fail(error, BT_DEVICE, "board %s speaks protocol %u, this bustap speaks %u",
                   session->name, version, WIRE_VERSION);
}
