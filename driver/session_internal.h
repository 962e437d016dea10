/* Shared by the parts of a session. Private to driver/session*.c. */
#ifndef DRIVER_SESSION_INTERNAL_H
#define DRIVER_SESSION_INTERNAL_H

#include "driver/session.h"
#include "formats/base/clock.h"

#include <stdbool.h>

enum session_phase {
    SESSION_IDLE,     /* not armed */
    SESSION_ARMED,    /* START was received */
    SESSION_STOPPING, /* STOP was sent, END is awaited */
    SESSION_ENDED,    /* END was received; `reason` may remain to be reported */
    SESSION_BROKEN    /* failed; `broken` says why */
};

/* Position in the stream of requests: those before it are delivered or reported as lost. */
struct session_position {
    uint64_t index;
    uint64_t tick;     /* last known tick */
    bool after_record; /* tick is that of the last record, and nothing is missing after it */
    uint32_t sequence;
};

/* Offsets from the board's counts to the capture's: not 0 after the board restarted. */
struct session_base {
    uint64_t index, tick;
    struct wire_counters counters; /* known counts from before the restarts */
};

struct session {
    struct source source;  /* first: the session is its own source */
    struct stream *stream; /* NULL while suspended */
    char name[160];        /* of the stream */
    struct wire_reader *reader;
    struct session_settings settings;
    struct session_statistics statistics;
    struct wire_identity identity;
    struct capture_info info;
    struct wire_counters counters;
    void (*test_show)(void *argument, uint64_t done, uint64_t total); /* session_watch_test */
    void *test_argument;
    bool counters_known; /* the board sent counters in this session */
    bool totals_final;   /* the counters are those of the session's end */

    enum session_phase phase;
    uint32_t id; /* of the last armed session; 0: none, or the board has forgotten it */
    struct session_base base;
    struct session_position position;
    struct gap gap; /* for the next batch */
    bool uncounted; /* the board restarted: the total of accepted requests is unknown */
    struct bt_error broken;
    struct bt_error unsent; /* failure to send the last STOP or STATUS; code 0: none */
    struct bt_error reason; /* the stream's diagnosis; code 0: none, or reported already */

    bool end_pending;   /* END was lost, but its counters were received: to be delivered */
    bool frame_pending; /* `frame` must be processed again with an empty batch */
    struct wire_frame frame;
    uint64_t heard_bytes; /* bytes received up to the last good frame of this session */
    int64_t arrival_ns;   /* CLOCK_REALTIME of the last bytes read */

    /* Monotonic times. */
    int64_t heard_ms; /* last good frame of this session, plus later time outside source_next */
    int64_t disconnected_since_ms; /* when the session broke */
    int64_t returned_ms;           /* last return of source_next */
    int64_t stop_ms;               /* first STOP, adjusted as heard_ms */
    int64_t asked_ms;              /* last STOP or STATUS, adjusted as heard_ms */

    unsigned stops_sent;
    bool stop_written, stop_confirmed; /* the board may know of one; it does */
    unsigned statuses_sent;
    uint32_t status_tag; /* of the last STATUS */

    struct record *spare; /* room for WIRE_FRAME_RECORDS_MAX: a frame larger than a batch */
    size_t spare_at, spare_count;
    uint64_t spare_index, spare_tick; /* of spare[spare_at] */
};

/* --- session.c --- */

/* Stops a session that an earlier host left running and reads the identity. 0 or a negative code.
 */
int session_identify(struct session *session, struct wire_identity *identity,
                     struct bt_error *error);

/* source_start: arms the board for a new capture. 0 or a negative code. */
int session_start(struct session *session, struct bt_error *error);

/* Configures and arms the board with the current settings. 0 or a negative code. */
int session_rearm(struct session *session, struct bt_error *error);

/* --- session_resume.c --- */

/* Converts the board's index and ticks to the capture's. */
void session_rebase(const struct session *session, struct wire_frame *frame);

/* --- session_commands.c --- */

/* A random number other than 0. */
uint32_t session_random(void);

/* Sends a command with a new tag, stored in *tag. 0 or a negative code. */
int session_send(struct session *session, enum wire_command_code code, const uint8_t *body,
                 size_t size, uint32_t *tag, struct bt_error *error);

/* Restarts the silence timer: a good frame arrived, or none is due yet. */
void session_heard(struct session *session);

/*
 * Receives the next good frame of any session. 1 and session->frame (valid until the next call);
 * BT_TIMEOUT once the monotonic clock has reached deadline_ms; or another negative code.
 */
int session_receive(struct session *session, int64_t deadline_ms, struct bt_error *error);

/* Reads once into the frame reader. As stream_read, but returns 1 for bytes; also 1 if nothing
 * arrived but a good frame was found inside a damaged one. */
int session_fill(struct session *session, int timeout_ms, struct bt_error *error);

/*
 * Sends a command and waits up to timeout_ms for its reply, dropping every other frame. 0 and
 * *reply (valid until the next call) whatever its status; BT_TIMEOUT, or another negative code.
 */
int session_exchange(struct session *session, enum wire_command_code code, const uint8_t *body,
                     size_t size, int timeout_ms, struct wire_reply *reply, struct bt_error *error);

/* As session_exchange, with up to three tries; no answer or a refusal is BT_DEVICE with a sentence
 * that names the command. */
int session_command(struct session *session, enum wire_command_code code, const uint8_t *body,
                    size_t size, struct wire_reply *reply, struct bt_error *error);

/* Reports a reply that refuses a command. Returns BT_DEVICE. */
int session_refused(struct session *session, const struct wire_reply *reply, const char *what,
                    struct bt_error *error);

/* "board NAME speaks protocol N, this bustap speaks 1". Returns BT_DEVICE. */
int session_other_protocol(struct session *session, unsigned version, struct bt_error *error);

/* --- session_source.c --- */

/* The operations of a session as a source. */
const struct source_operations *session_source_operations(void);

/* --- session_frames.c --- */

/*
 * Adds session->frame to batch. 0: done, continue; 1: the batch is complete, or must be returned
 * before the frame (frame_pending); BT_DATA: the frame is invalid and skipped.
 */
int session_take_frame(struct session *session, struct batch *batch, struct bt_error *error);

/* Whether the frame, of this session and rebased, contains nothing new. */
bool session_is_duplicate(const struct session *session, const struct wire_frame *frame);

/* Ends the stream by a STATUS reply because END was lost. Returns as session_take_frame. */
int session_take_late_end(struct session *session, struct batch *batch);

/* Fills batch with the next part of a frame that is larger than a batch. */
void session_take_spare(struct session *session, struct batch *batch);

/* --- session_stop.c --- */

/* source_stop. */
int session_stop(struct source *source, struct bt_error *error);

/* Makes the failure to send the last command, if any, the reason in session->broken. Whether it
 * failed. */
bool session_fail_unsent(struct session *session);

/* While stopping: repeats STOP, and requests STATUS if END is overdue. 0, or the session is broken
 * and the code says why. */
int session_check_stop(struct session *session);

/* Whether silence is a failure: the board is armed and sends heartbeats. */
bool session_detects_silence(const struct session *session);

/* Monotonic time at which a silent armed board is sent STATUS again, or given up. */
int64_t session_silence_due(const struct session *session);

/* Requests STATUS from a silent armed board when due, as its END may be lost. Whether the last
 * request had no answer. */
bool session_check_silence(struct session *session);

/*
 * Processes a reply while armed or stopping. True if it shows that the session has ended and END
 * was lost: session->counters are then final.
 */
bool session_take_reply(struct session *session, const struct wire_frame *frame);

/* The session ended normally. bus_ended: asks the stream why the bus ended early. */
void session_ended(struct session *session, bool counters_are_final, bool bus_ended);

/* Marks the session as broken for the reason in session->broken. Returns its code. */
int session_break(struct session *session);

#endif
