#include "driver/session_internal.h"

#include <stdio.h>
#include <stdlib.h>

#define QUIET_MS    20  /* the line is empty after this silence */
#define PURGE_MS    250 /* limit: a board that is still armed never falls silent */
#define PURGE_BYTES (16u << 20)
#define IDENTIFY_MS 650 /* three tries make about two seconds */
#define START_MS    1000
#define TRIES       3

struct session_settings session_settings_default(void)
{
    return (struct session_settings){.filter = filter_all(),
                                     .packing = WIRE_DELTA,
                                     .flush_us = 20000,
                                     .heartbeat_ms = 250,
                                     .stop_ms = 30000,
                                     .silence_ms = 5000,
                                     .reconnect_ns = SESSION_RECONNECT_FOR_EVER};
}

/* Discards data of an earlier session. 0, or the error of reading the stream. */
static int purge(struct session *session, struct bt_error *error)
{
    int64_t end = clock_monotonic_ms() + PURGE_MS;
    int result = 1;
    while (result > 0 && clock_monotonic_ms() < end &&
           wire_reader_statistics(session->reader)->bytes < PURGE_BYTES) {
        result = session_fill(session, QUIET_MS, error);
        wire_reader_reset(session->reader);
    }
    return result == BT_TIMEOUT || result > 0 ? 0 : result;
}

static int no_answer(struct session *session, struct bt_error *error)
{
    const struct wire_reader_statistics *reader = wire_reader_statistics(session->reader);
    const char *name = session->name;
    const bool program = session->stream->operations->program;
    if (reader->bytes == 0)
        return bt_fail(error, BT_DEVICE, "board %s does not answer and sends nothing; %s", name,
                       program ? "check that the program speaks the protocol of boards on its "
                                 "standard input and output"
                               : "check its power and whether it has the bustap firmware");
    if (reader->frames == 0)
        return bt_fail(error, BT_DEVICE,
                       "board %s does not answer; it sent %llu bytes without one good frame: %s",
                       name, (unsigned long long)reader->bytes,
                       program ? "the program's output is not the protocol of boards"
                               : "a bad cable, or not the bustap firmware");
    return bt_fail(error, BT_DEVICE, "board %s sends frames but does not answer; %s", name,
                   program ? "check that the program reads its standard input"
                           : "unplug it, plug it in and try again");
}

static void describe(struct session *session)
{
    struct wire_identity *identity = &session->identity;
    struct capture_info *info = &session->info;
    info->clock_hz = identity->clock_hz;
    snprintf(info->board, sizeof info->board, "%s%s%s", identity->name,
             identity->name[0] && identity->serial[0] ? " " : "", identity->serial);
    if (identity->bus == WIRE_BUS_P6)
        snprintf(info->bus, sizeof info->bus, "p6");
    else
        snprintf(info->bus, sizeof info->bus, "bus %u", identity->bus);
}

int session_identify(struct session *session, struct wire_identity *identity,
                     struct bt_error *error)
{
    for (int i = 0; i < TRIES; i++) {
        uint32_t tag;
        struct wire_reply reply;
        int result = session_send(session, WIRE_STOP, NULL, 0, &tag, error);
        if (result == 0)
            result = session_exchange(session, WIRE_IDENTIFY, NULL, 0, IDENTIFY_MS, &reply, error);
        if (result == BT_TIMEOUT)
            continue;
        if (result < 0)
            return result;
        if (reply.status != WIRE_OK)
            return session_refused(session, &reply, "identify", error);
        /* the first byte of an identity is the protocol version, in every version */
        if (reply.body_bytes > 0 && reply.body[0] != WIRE_VERSION)
            return session_other_protocol(session, reply.body[0], error);
        if (wire_identity_get(identity, reply.body, reply.body_bytes) < 0)
            return bt_fail(error, BT_DEVICE, "board %s sent an identity of %zu bytes, not %u",
                           session->name, reply.body_bytes, WIRE_IDENTITY_BYTES);
        return 0;
    }
    return no_answer(session, error);
}

struct session *session_new(struct stream *stream, struct bt_error *error)
{
    int result;
    struct session *session = calloc(1, sizeof *session);
    if (!session) {
        stream_close(stream);
        bt_fail(error, BT_MEMORY, "no memory for a session with a board");
        return NULL;
    }
    session->source.operations = session_source_operations();
    session->source.backpressure = stream->operations->backpressure;
    session->stream = stream;
    snprintf(session->name, sizeof session->name, "%s", stream_name(stream));
    session->settings = session_settings_default();
    session->reader = wire_reader_new();
    session->spare = malloc(WIRE_FRAME_RECORDS_MAX * sizeof *session->spare);
    if (!session->reader || !session->spare) {
        bt_fail(error, BT_MEMORY, "no memory for a session with a board");
        goto fail;
    }
    result = purge(session, error);
    if (result == 0)
        result = session_identify(session, &session->identity, error);
    if (result == 0) {
        describe(session);
        return session;
    }
    if (result == BT_CLOSED)
        (void)stream_diagnose(stream, error);
fail:
    session_free(session);
    return NULL;
}

void session_free(struct session *session)
{
    if (!session)
        return;
    stream_close(session->stream);
    wire_reader_free(session->reader);
    free(session->spare);
    free(session);
}

const struct wire_identity *session_identity(const struct session *session)
{
    return &session->identity;
}

static int send_configuration(struct session *session, struct wire_reply *reply,
                              struct bt_error *error)
{
    const struct wire_configuration configuration = {.filter = session->settings.filter,
                                                     .packing = (uint8_t)session->settings.packing,
                                                     .stall = session->settings.stall,
                                                     .flush_us = session->settings.flush_us,
                                                     .heartbeat_ms =
                                                         session->settings.heartbeat_ms};
    uint8_t body[WIRE_CONFIGURATION_BYTES];
    wire_configuration_put(body, &configuration);
    return session_exchange(session, WIRE_CONFIGURE, body, sizeof body, START_MS, reply, error);
}

/* Begins the session at its START frame. */
static void begin(struct session *session)
{
    session_rebase(session, &session->frame);
    session->position = (struct session_position){.index = session->base.index,
                                                  .tick = session->frame.first_tick,
                                                  .sequence = session->frame.sequence + 1};
    session->phase = SESSION_ARMED;
    session_heard(session);
    session->returned_ms = session->heard_ms;
    session->counters = (struct wire_counters){0};
    session->counters_known = session->totals_final = false;
    session->frame_pending = false;
    session->spare_count = 0;
    session->reason.code = 0;
    session->stops_sent = session->statuses_sent = 0;
    session->stop_written = session->stop_confirmed = false;
}

/* Sends ARM with a new id and discards all frames before the START with that id, so that frames of
 * an earlier session are not taken for this one's. 0, BT_TIMEOUT, or 1 for a refusal in *reply. */
static int send_arm(struct session *session, struct wire_reply *reply, struct bt_error *error)
{
    uint8_t body[4];
    uint32_t tag;
    session->id = session_random();
    bytes_put32(body, session->id);
    int64_t deadline = clock_monotonic_ms() + START_MS;
    int result = session_send(session, WIRE_ARM, body, sizeof body, &tag, error);
    while (result >= 0) {
        if (clock_monotonic_ms() >= deadline)
            return bt_fail(error, BT_TIMEOUT, "board %s does not start", session->name);
        result = session_receive(session, deadline, error);
        if (result < 0)
            break;
        const struct wire_frame *frame = &session->frame;
        if (frame->kind == WIRE_START && frame->session == session->id &&
            frame->version == WIRE_VERSION) {
            begin(session);
            return 0;
        }
        if (frame->kind == WIRE_REPLY &&
            wire_reply_get(reply, frame->payload, frame->payload_bytes) == 0 && reply->tag == tag &&
            reply->code == WIRE_ARM && reply->status != WIRE_OK)
            return 1;
        if (frame->session != 0)
            session->statistics.stale_frames++;
    }
    return result;
}

int session_rearm(struct session *session, struct bt_error *error)
{
    int result = BT_TIMEOUT;
    for (int i = 0; i < TRIES; i++) {
        struct wire_reply reply = {.status = WIRE_OK};
        const char *what = "configure";
        uint32_t tag;
        result = i > 0 ? session_send(session, WIRE_STOP, NULL, 0, &tag, error) : 0;
        if (result == 0)
            result = send_configuration(session, &reply, error);
        if (result == 0 && reply.status == WIRE_OK) {
            what = "arm";
            result = send_arm(session, &reply, error);
            if (result == 0)
                return 0;
        }
        if (result >= 0 && (reply.status != WIRE_BAD_STATE || i == TRIES - 1))
            return session_refused(session, &reply, what, error);
        if (result < 0 && result != BT_TIMEOUT)
            break;
    }
    if (result == BT_TIMEOUT)
        return bt_fail(error, BT_DEVICE,
                       "board %s does not start a capture; unplug it, plug it in and try again",
                       session->name);
    int why = result == BT_CLOSED ? stream_diagnose(session->stream, error) : 0;
    return why < 0 ? why : result;
}

void session_prepare(struct session *session, const struct session_settings *settings)
{
    session->settings = *settings;
    session->settings.filter_text = NULL;
    session->info.may_stall = settings->stall;
    snprintf(session->info.filter, sizeof session->info.filter, "%s",
             settings->filter_text ? settings->filter_text : "");
}

static bool is_armed(const struct session *session)
{
    return session->phase == SESSION_ARMED || session->phase == SESSION_STOPPING;
}

int session_start(struct session *session, struct bt_error *error)
{
    if (is_armed(session))
        return bt_fail(error, BT_USAGE, "board %s is armed already", session->name);
    if (!session->stream)
        return bt_fail(error, BT_CLOSED, "board %s is disconnected", session->name);
    if (session->settings.stall && !(session->identity.features & WIRE_FEATURE_STALL))
        return bt_fail(error, BT_DEVICE,
                       "board %s cannot stall its bus: it has no stall line; capture without stall",
                       session->name);
    session->base = (struct session_base){0};
    session->gap = (struct gap){.milliseconds = 0};
    session->uncounted = false;
    int result = session_rearm(session, error);
    if (result < 0)
        return result;
    session->statistics.lost = (struct loss){.count = 0};
    session->statistics.records = 0;
    session->info.started_ns = clock_realtime_ns();
    return 0;
}

int session_arm(struct session *session, const struct session_settings *settings,
                struct bt_error *error)
{
    if (!is_armed(session))
        session_prepare(session, settings);
    return session_start(session, error);
}

struct source *session_source(struct session *session)
{
    return &session->source;
}

void session_statistics(const struct session *session, struct session_statistics *statistics)
{
    *statistics = session->statistics;
    statistics->reader = *wire_reader_statistics(session->reader);
}
