/*
 * The protocol with one board: identify, configure, arm, read frames, stop. Resynchronises after
 * garbage and counts losses of the link. The board is not trusted: a frame may contain anything.
 */
#ifndef DRIVER_SESSION_H
#define DRIVER_SESSION_H

#include "driver/stream.h"
#include "formats/record/source.h"
#include "formats/wire/wire_reader.h"

struct session;

#define SESSION_RECONNECT_FOR_EVER INT64_MAX

struct session_settings {
    struct filter filter;
    const char *filter_text; /* the whole filter, of which `filter` may be a part, as the user wrote
                                it; for the capture's header; may be NULL */
    enum wire_packing packing;
    bool stall;        /* the board stalls the bus rather than drop requests */
    uint32_t flush_us; /* see wire_configuration */
    uint32_t heartbeat_ms;
    int stop_ms;          /* time limit for sending the queued frames after STOP */
    int silence_ms;       /* an armed board that is silent for this long fails; 0: never */
    int64_t reconnect_ns; /* driver/reconnect.h: how long to wait for a disconnected board; 0: do
                             not wait; SESSION_RECONNECT_FOR_EVER */
};

/* The defaults: 20 ms flush, 250 ms heartbeat, 5 s of silence, 30 s to stop, delta packing, no
 * filter, no limit of the wait for a disconnected board. */
struct session_settings session_settings_default(void);

struct session_statistics {
    struct wire_reader_statistics reader;
    uint64_t records;          /* delivered */
    uint64_t stale_frames;     /* of another session */
    uint64_t duplicate_frames; /* contained nothing new */
    uint64_t bad_frames;       /* good CRC, invalid contents */
    uint64_t sequence_gaps;    /* gaps in the frames' sequence numbers */
    struct loss lost;          /* over the whole session: bus and link */
};

/*
 * Opens a session on stream (the session closes it, also on failure), discards data of an earlier
 * session and reads the board's identity. NULL and *error on failure.
 */
struct session *session_new(struct stream *stream, struct bt_error *error);
void session_free(struct session *session);

/* The board's identity. Valid as long as the session. */
const struct wire_identity *session_identity(const struct session *session);

/* Stores settings for source_start, which configures and arms the board with them. */
void session_prepare(struct session *session, const struct session_settings *settings);

/* For tests: session_prepare and source_start in one. 0 or a negative code. */
int session_arm(struct session *session, const struct session_settings *settings,
                struct bt_error *error);

/*
 * For an armed session whose source has failed: closes the stream. The board may continue the
 * session meanwhile and fill its queue.
 */
void session_suspend(struct session *session);

/*
 * Resumes a suspended session on a new stream, which the session then owns, also on failure. A
 * board that kept the session continues it, and its counts show what is missing. A board that has
 * forgotten it must have the same name, serial number, clock and bus; it is armed again, after an
 * uncounted gap. The next batch contains the gap. 0; or a negative code, and the session stays
 * suspended.
 */
int session_resume(struct session *session, struct stream *stream, struct bt_error *error);

/*
 * The session as a source of batches; it owns the session (source_close frees both). Start it with
 * session_prepare and source_start. source_stop sends STOP to the board; source_next then continues
 * to the END frame.
 */
struct source *session_source(struct session *session);

/* For tests: reads the counters. Only while not armed: an armed board sends them in heartbeats. */
int session_status(struct session *session, struct wire_counters *counters, struct bt_error *error);

struct session_test_result {
    uint64_t frames, bytes, bad_bytes, missing_frames;
    double seconds;
};
/* Makes the board send frames of a test pattern and compares them; frames that do not arrive within
 * 10 ms a frame are missing. A board whose bus waits (`backpressure`), which is most likely
 * simulated, has 30 s for each. Only while not armed. */
int session_self_test(struct session *session, uint32_t frames, struct session_test_result *result,
                      struct bt_error *error);

/* Calls show(argument, DONE, TOTAL) after each frame of a self-test, in frames; NULL: no longer. */
void session_watch_test(struct session *session,
                        void (*show)(void *argument, uint64_t done, uint64_t total),
                        void *argument);

/* For tests: the session's counts so far. */
void session_statistics(const struct session *session, struct session_statistics *statistics);

#endif
