/* What the parts of a session share. Private to driver/session*.c. */
#ifndef DRIVER_SESSION_INTERNAL_H
#define DRIVER_SESSION_INTERNAL_H

#include "driver/session.h"
#include "formats/base/clock.h"

#include <stdbool.h>

enum session_phase {
    SESSION_IDLE,     /* not armed */
    SESSION_ARMED,    /* START has come */
    SESSION_STOPPING, /* STOP is sent, END is awaited */
    SESSION_ENDED,    /* END has come; a reason to tell may wait */
    SESSION_BROKEN    /* no more can be had; `broken` says why */
};

/* Where the stream of requests has come to: everything before is delivered or told as lost. */
struct session_position {
    uint64_t index;
    uint64_t tick;     /* last one known */
    bool after_record; /* tick is that of the last record, and nothing is missing after it */
    uint32_t sequence;
};

/* Where the board's own counting began, in the capture's: not 0 once the board began anew. */
struct session_base {
    uint64_t index, tick;
    struct wire_counters counters; /* of the boards' lives before, as far as they are known */
};

struct session {
    struct source source;  /* first: the session is its own source */
    struct stream *stream; /* NULL while suspended */
    char name[160];        /* the stream's */
    struct wire_reader *reader;
    struct session_settings settings;
    struct session_statistics statistics;
    struct wire_identity identity;
    struct capture_info info;
    struct wire_counters counters;
    bool counters_known; /* the board sent them in this session */
    bool totals_final;   /* ... and it was its last word */

    enum session_phase phase;
    uint32_t id; /* of the session armed last; 0: none, or the board has forgotten it */
    struct session_base base;
    struct session_position position;
    struct gap gap; /* to be told with the next batch */
    bool uncounted; /* the board began anew: nobody knows what it accepted in all */
    struct bt_error broken;
    struct bt_error reason; /* what the stream knows of it; code 0: nothing, or told already */

    bool end_waits;   /* the counters of an END that was lost have come, and are to be told */
    bool frame_waits; /* frame was read and must be looked at again with an empty batch */
    struct wire_frame frame;
    uint64_t heard_bytes; /* that had come with the last good frame of this session */
    int64_t arrival_ns;   /* CLOCK_REALTIME of the bytes read last */

    /* All on the monotonic clock. */
    int64_t heard_ms; /* last good frame of this session; time not spent listening moves it on */
    int64_t deaf_ms;  /* since when the session has been broken */
    int64_t away_ms;  /* when source_next returned last */
    int64_t stop_ms;  /* when the first STOP was sent */
    int64_t asked_ms; /* when STOP or STATUS was sent last; as heard_ms, moved on */

    unsigned stops_sent;
    bool stop_confirmed;
    unsigned statuses_sent;
    uint32_t status_tag; /* of the last one */

    struct record *spare; /* WIRE_FRAME_RECORDS_MAX: a frame larger than the caller's whole batch */
    size_t spare_at, spare_count;
    uint64_t spare_index, spare_tick; /* of spare[spare_at] */
};

/* --- session.c --- */

/* Stops whatever a host that died left running, and asks who is there. 0 or a negative code. */
int session_identify(struct session *session, struct wire_identity *identity,
                     struct bt_error *error);

/* source_start: arms the board for a new capture. 0 or a negative code. */
int session_start(struct session *session, struct bt_error *error);

/* Configures and arms the board with the settings there are. 0 or a negative code. */
int session_arm_again(struct session *session, struct bt_error *error);

/* --- session_resume.c --- */

/* From the board's index and ticks to the capture's. */
void session_rebase(const struct session *session, struct wire_frame *frame);

/* --- session_commands.c --- */

/* A random number that is not 0. */
uint32_t session_random(void);

/* Sends a command with a fresh tag, which *tag gets. 0 or a negative code. */
int session_send(struct session *session, enum wire_command_code code, const uint8_t *body,
                 size_t size, uint32_t *tag, struct bt_error *error);

/* A good frame of this session has come, or cannot be missed yet. */
void session_heard(struct session *session);

/*
 * The next good frame, of whatever session. 1 and session->frame (valid until the next call);
 * BT_TIMEOUT once the monotonic clock has reached deadline_ms; or another negative code.
 */
int session_receive(struct session *session, int64_t deadline_ms, struct bt_error *error);

/* One read into the reader. As stream_read, but for the bytes: 1. Also 1 where nothing came, and a
 * good frame was found within one that has lost bytes. */
int session_fill(struct session *session, int timeout_ms, struct bt_error *error);

/*
 * Sends a command and waits up to timeout_ms for its reply, dropping every other frame. 0 and
 * *reply (valid until the next call) whatever its status; BT_TIMEOUT, or another negative code.
 */
int session_exchange(struct session *session, enum wire_command_code code, const uint8_t *body,
                     size_t size, int timeout_ms, struct wire_reply *reply, struct bt_error *error);

/* As session_exchange, three times if need be; a silent board or a refusal is BT_DEVICE with a
 * sentence that names what was asked. */
int session_command(struct session *session, enum wire_command_code code, const uint8_t *body,
                    size_t size, struct wire_reply *reply, struct bt_error *error);

/* A sentence for a reply that says no. Returns BT_DEVICE. */
int session_refused(struct session *session, const struct wire_reply *reply, const char *what,
                    struct bt_error *error);

/* "board NAME speaks protocol N, this bustap speaks 1". Returns BT_DEVICE. */
int session_other_protocol(struct session *session, unsigned version, struct bt_error *error);

/* --- session_source.c --- */

/* The operations of a session as a source. */
const struct source_operations *session_source_operations(void);

/* --- session_frames.c --- */

/*
 * Takes session->frame into batch. 0: it is dealt with, go on; 1: the batch must be handed out
 * first (the frame then waits), or is complete; BT_DATA: the frame made no sense, the next may.
 */
int session_take_frame(struct session *session, struct batch *batch, struct bt_error *error);

/* Whether the frame, of this session and rebased, has nothing that was not there before. */
bool session_told_before(const struct session *session, const struct wire_frame *frame);

/* END was lost, but an answer says where the stream ended: as session_take_frame. */
int session_take_late_end(struct session *session, struct batch *batch);

/* Hands out the next part of a frame that was larger than a whole batch. */
void session_take_spare(struct session *session, struct batch *batch);

/* --- session_stop.c --- */

/* source_stop. */
int session_stop(struct source *source, struct bt_error *error);

/* Looks after a stop that is under way: repeats STOP, and asks for STATUS where END is overdue. 0,
 * or the session is broken and the code says how. */
int session_tend_stop(struct session *session);

/* Whether an armed board can be told from an idle bus: one that sends heartbeats. */
bool session_may_not_be_silent(const struct session *session);

/* Monotonic: when an armed board that sends nothing is to be asked again, or given up. */
int64_t session_silence_due(const struct session *session);

/* The same board: asks it for STATUS, as its END may be lost, where that is due. 1 once it was
 * asked often enough and has not answered; 0; or the session is broken and the code says how. */
int session_tend_silence(struct session *session);

/*
 * A reply came while armed or stopping. True if it shows that the session is over although END was
 * lost: session->counters are then the last.
 */
bool session_take_reply(struct session *session, const struct wire_frame *frame);

/* The session ended as it should: asks the stream why the bus ended early, if it did. */
void session_ended(struct session *session, bool counters_are_final, bool bus_ended);

/* No more can be had from this session, because of session->broken. Returns its code. */
int session_break(struct session *session);

#endif
