/* Converts frames to batches; detects and counts losses, duplicates and invalid frames. */
#include "driver/session_internal.h"

#include "formats/base/saturating.h"

#include <string.h>

/* More requests than a bus has in a year: a larger gap is invalid. */
#define GAP_MAX (UINT64_C(1) << 52)

static bool has_records(const struct wire_frame *frame)
{
    return (frame->kind == WIRE_RECORDS || frame->kind == WIRE_PACKED) && frame->count > 0;
}

/* Returns the batch first; the frame is processed again with an empty batch. */
static int hand_out(struct session *session)
{
    session->frame_pending = true;
    return 1;
}

static int nonsense(struct session *session, const struct batch *batch, const char *what,
                    struct bt_error *error)
{
    if (batch->count > 0)
        return hand_out(session);
    session->statistics.bad_frames++;
    return bt_fail(error, BT_DATA, "board %s sent an invalid frame: %s (frame %lu)", session->name,
                   what, (unsigned long)session->frame.sequence);
}

/* The frame's sequence number is less than the next expected one. */
static bool is_late(const struct session *session, const struct wire_frame *frame)
{
    return frame->sequence - session->position.sequence > UINT32_MAX / 2;
}

static void note_sequence(struct session *session, const struct wire_frame *frame)
{
    if (is_late(session, frame))
        return;
    session->statistics.sequence_gaps += frame->sequence != session->position.sequence;
    session->position.sequence = frame->sequence + 1;
}

static struct loss make_loss(enum loss_stage stage, uint64_t count, uint64_t first, uint64_t last)
{
    struct loss loss = {.first_tick = first, .last_tick = last};
    loss.count[stage] = count;
    return loss;
}

/* The requests missing between the stream's position and the frame: those that the board reports as
 * dropped, and the rest, which were lost on the link. */
static struct loss loss_before(const struct session *session, const struct wire_frame *frame)
{
    struct loss loss = {.count = 0};
    uint64_t gap = frame->first_index - session->position.index;
    struct loss bus =
        make_loss(LOSS_BUS, frame->lost, frame->lost_first_tick, frame->lost_last_tick);
    struct loss link =
        make_loss(LOSS_LINK, gap - frame->lost, session->position.tick, frame->first_tick);
    loss_add(&loss, &bus);
    loss_add(&loss, &link);
    return loss;
}

/* Starts a batch after a loss, at index and tick. */
static void start_batch(struct session *session, struct batch *batch, const struct loss *loss,
                        uint64_t index, uint64_t tick)
{
    batch->first_index = index;
    batch->first_tick = tick;
    batch->last_tick = tick;
    batch->lost = *loss;
    batch->gap = session->gap;
    batch->host_time_ns = session->arrival_ns;
    session->gap = (struct gap){.milliseconds = 0};
}

/* Puts the loss or gap before a frame without records into a separate batch. 0 if there is none. */
static int put_loss(struct session *session, struct batch *batch, const struct wire_frame *frame)
{
    struct loss loss = loss_before(session, frame);
    if (loss_total(&loss) == 0 && session->gap.milliseconds == 0)
        return 0;
    loss_add(&session->statistics.lost, &loss);
    start_batch(session, batch, &loss, frame->first_index, session->position.tick);
    session->position.index = frame->first_index;
    session->position.after_record = false;
    return 1;
}

void session_take_spare(struct session *session, struct batch *batch)
{
    const struct loss none = {.count = 0};
    size_t count = session->spare_count < batch->capacity ? session->spare_count : batch->capacity;
    const struct record *from = session->spare + session->spare_at;
    memcpy(batch->records, from, count * sizeof *from);
    start_batch(session, batch, &none, session->spare_index, session->spare_tick);
    batch->count = count;
    batch->last_tick += records_time(from + 1, count - 1);
    session->spare_at += count;
    session->spare_count -= count;
    session->spare_index += count;
    if (session->spare_count > 0)
        session->spare_tick = batch->last_tick + from[count].time;
}

/* Updates the position for the frame's records, which are valid. */
static void accept_records(struct session *session, const struct wire_frame *frame,
                           uint64_t last_tick)
{
    note_sequence(session, frame);
    session->statistics.records += frame->count;
    session->position.index = frame->first_index + frame->count;
    session->position.tick = last_tick;
    session->position.after_record = true;
}

/* Why the records' times are invalid; NULL if they are valid. A time counts from the last record
 * that the board kept, which is the last one received unless records are missing. */
static const char *mistimed(const struct session *session, const struct record *records)
{
    const struct wire_frame *frame = &session->frame;
    const struct session_position *position = &session->position;
    uint64_t passed = frame->first_tick - position->tick;
    bool follows = position->after_record && session->gap.milliseconds == 0 &&
                   frame->first_index == position->index;
    if (records_until_saturated(records, frame->count) < frame->count)
        return "a record after its first one has a saturated time";
    if (follows &&
        (passed < records[0].time || (passed > records[0].time && records[0].time != UINT32_MAX)))
        return "its first tick contradicts its first record's time";
    return NULL;
}

/* Takes a frame of records whose position in the stream is valid. */
static int take_records(struct session *session, struct batch *batch, struct bt_error *error)
{
    const struct wire_frame *frame = &session->frame;
    bool fits = frame->count <= batch->capacity - batch->count;
    if (!fits && batch->count > 0)
        return hand_out(session);
    struct record *records = fits ? batch->records + batch->count : session->spare;
    if (wire_frame_records(frame, records) < 0)
        return nonsense(session, batch, "its payload does not match its number of records", error);
    uint64_t last_tick;
    if (__builtin_add_overflow(frame->first_tick, records_time(records + 1, frame->count - 1u),
                               &last_tick))
        return nonsense(session, batch, "its ticks overflow", error);
    const char *wrong = mistimed(session, records);
    if (wrong)
        return nonsense(session, batch, wrong, error);
    if (batch->count > 0 && records[0].time == UINT32_MAX)
        return hand_out(session); /* only a batch's first tick says how long that was */
    struct loss loss = loss_before(session, frame);
    loss_add(&session->statistics.lost, &loss);
    accept_records(session, frame, last_tick);
    if (!fits) {
        session->spare_at = 0;
        session->spare_count = frame->count;
        session->spare_index = frame->first_index;
        session->spare_tick = frame->first_tick;
        session_take_spare(session, batch);
        batch->lost = loss;
        return 1;
    }
    if (batch->count == 0)
        start_batch(session, batch, &loss, frame->first_index, frame->first_tick);
    batch->count += frame->count;
    batch->last_tick = last_tick;
    return batch->count == batch->capacity;
}

/* Whether the final counters agree with each other and with the data that the board sent. accepted:
 * the index at the end of its stream. */
static bool counters_agree(const struct session *session, const struct wire_counters *counters,
                           uint64_t accepted)
{
    uint64_t seen = counters->accepted;
    bool overflows = __builtin_add_overflow(seen, counters->filtered, &seen) ||
                     __builtin_add_overflow(seen, counters->above_4gib, &seen) ||
                     __builtin_add_overflow(seen, counters->undecoded, &seen);
    uint64_t lost;
    overflows =
        overflows || __builtin_add_overflow(session->base.counters.lost, counters->lost, &lost);
    return !overflows && counters->seen == seen && counters->lost <= counters->accepted &&
           saturating_add(session->base.index, counters->accepted) == accepted &&
           (session->uncounted || lost >= session->statistics.lost.count[LOSS_BUS]);
}

/* The session ended with these counters, which are final if they are consistent. */
static void end_with(struct session *session, const struct wire_counters *counters,
                     uint64_t accepted, bool bus_ended)
{
    bool good = counters && counters_agree(session, counters, accepted);
    session_ended(session, good, bus_ended);
    if (good)
        return;
    session->statistics.bad_frames++;
    if (session->reason.code == 0)
        bt_fail(&session->reason, BT_DATA,
                "the final counters of board %s contradict the data it sent; some requests may be "
                "missing",
                session->name);
}

/* Why the frame's position is invalid; NULL if it is valid. */
static const char *misplaced(const struct session *session, const struct wire_frame *frame)
{
    uint64_t gap = frame->first_index - session->position.index;
    if (frame->version != WIRE_VERSION)
        return "it has another protocol version";
    if (frame->first_index < session->position.index)
        return "it overlaps earlier frames";
    if (gap > GAP_MAX || frame->first_index > UINT64_MAX - frame->count)
        return "its index is implausibly large";
    if (frame->lost > gap)
        return "it reports more losses than are missing";
    if (frame->first_tick < session->position.tick)
        return "its first tick precedes the last one";
    if (frame->lost > 0 && (frame->lost_first_tick < session->position.tick ||
                            frame->lost_last_tick < frame->lost_first_tick ||
                            frame->lost_last_tick > frame->first_tick))
        return "the ticks of its loss are not between the last tick and its own";
    return NULL;
}

int session_take_late_end(struct session *session, struct batch *batch)
{
    struct wire_frame end = {.first_index = session->counters.accepted,
                             .first_tick = session->counters.tick};
    session->end_pending = false;
    session_rebase(session, &end);
    end.version = WIRE_VERSION;
    bool sane = !misplaced(session, &end);
    int put = sane ? put_loss(session, batch, &end) : 0;
    bool unasked = session->phase == SESSION_ARMED && session->statuses_sent > 0;
    end_with(session, sane ? &session->counters : NULL, end.first_index, unasked);
    return put;
}

/* Takes a frame without records whose position in the stream is valid. */
static int take_word(struct session *session, struct batch *batch, bool end, struct bt_error *error)
{
    const struct wire_frame *frame = &session->frame;
    bool counts = end || frame->kind == WIRE_HEARTBEAT;
    struct wire_counters counters;
    bool good = wire_counters_get(&counters, frame->payload, frame->payload_bytes) == 0;
    if (counts && !good && !end)
        return nonsense(session, batch, "its counters are truncated", error);
    note_sequence(session, frame);
    int put = put_loss(session, batch, frame);
    if (counts && good) {
        session->counters = counters;
        session->counters_known = true;
    }
    if (end)
        end_with(session, good ? &counters : NULL, frame->first_index,
                 frame->flags & WIRE_FLAG_BUS_ENDED);
    return put;
}

/* Frames of records are compared by index: it shows whether records are missing or duplicate. */
bool session_is_duplicate(const struct session *session, const struct wire_frame *frame)
{
    if (!has_records(frame))
        return is_late(session, frame) || frame->first_index < session->position.index;
    return frame->first_index < session->position.index &&
           session->position.index - frame->first_index >= frame->count;
}

int session_take_frame(struct session *session, struct batch *batch, struct bt_error *error)
{
    const struct wire_frame *frame = &session->frame;
    bool ended = frame->kind == WIRE_REPLY && frame->version == WIRE_VERSION &&
                 session_take_reply(session, frame);
    if (ended)
        return batch->count > 0 ? hand_out(session) : session_take_late_end(session, batch);
    if (frame->session != session->id) {
        session->statistics.stale_frames += frame->session != 0;
        return 0;
    }
    session_heard(session);
    bool end = frame->kind == WIRE_END;
    if (session_is_duplicate(session, frame) && !end) {
        session->statistics.duplicate_frames++;
        return 0;
    }
    const char *wrong = misplaced(session, frame);
    if (wrong && end && batch->count == 0)
        session_ended(session, false, false);
    if (wrong)
        return nonsense(session, batch, wrong, error);
    if (batch->count > 0 &&
        (end || session->gap.milliseconds > 0 || frame->first_index != session->position.index))
        return hand_out(session);
    if (has_records(frame))
        return take_records(session, batch, error);
    return take_word(session, batch, end, error);
}
