/*
 * A conversation with one board: identify, configure, arm, read frames, stop; resynchronises after
 * garbage and counts what the link lost. The board is not trusted: every frame may hold anything.
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
    const char *filter_text; /* as the user wrote it, for the capture's header; may be NULL */
    enum wire_packing packing;
    uint32_t flush_us; /* see wire_configuration */
    uint32_t heartbeat_ms;
    int stop_ms;    /* told to stop, it may take so long to send what it has queued */
    int silence_ms; /* armed, nothing heard for so long, STATUS not answered: the board is given up
                     */
    int64_t reconnect_ns; /* driver/reconnect.h: a board that went away is waited for so long; 0:
                             not at all; SESSION_RECONNECT_FOR_EVER */
};

/* Plain numbers that suit a bench: 20 ms flush, 250 ms heartbeat, 5 s of silence, 30 s to stop,
 * delta packing, no filter; a board that went away is waited for for ever. */
struct session_settings session_settings_default(void);

struct session_statistics {
    struct wire_reader_statistics reader;
    uint64_t records;          /* delivered */
    uint64_t stale_frames;     /* of another session */
    uint64_t duplicate_frames; /* told what had been told already */
    uint64_t bad_frames;       /* good CRC, nonsense inside */
    uint64_t sequence_gaps;    /* places where frames are missing */
    struct loss lost;          /* over the whole session: bus and link */
};

/*
 * Opens a session on stream (the session closes it, also on failure) and asks the board who it is,
 * discarding whatever an earlier session left on the line. NULL and *error on failure.
 */
struct session *session_new(struct stream *stream, struct bt_error *error);
void session_free(struct session *session);

/* Who the board is. Valid as long as the session. */
const struct wire_identity *session_identity(const struct session *session);

/* Keeps settings for source_start, which configures and arms the board with them. */
void session_prepare(struct session *session, const struct session_settings *settings);

/* Both at once: configures and arms the board, and waits for its START. 0 or a negative code. */
int session_arm(struct session *session, const struct session_settings *settings,
                struct bt_error *error);

/*
 * For a session that was armed and whose source has failed: closes the stream. The board may go on
 * by itself meanwhile, its queue filling.
 */
void session_suspend(struct session *session);

/*
 * Goes on with a suspended session on a new stream (taken over, also on failure). A board that kept
 * the session goes on with it, and its counting tells what is missing. One that ended it or began
 * anew is identified, and must be the same by name, serial number, clock and bus; in the latter
 * case it is armed as before, behind a gap that is uncounted. The next batch tells the gap. 0; or a
 * negative code, with the session suspended as before.
 */
int session_resume(struct session *session, struct stream *stream, struct bt_error *error);

/*
 * The session as a source of batches; it owns the session (source_close frees both). It begins with
 * session_arm, or with session_prepare and source_start.
 * source_stop tells the board to stop; source_next then goes on to the END frame.
 */
struct source *session_source(struct session *session);

/* Asks for the counters. Only while not armed: an armed board sends them with its heartbeats. */
int session_status(struct session *session, struct wire_counters *counters, struct bt_error *error);

struct session_test_result {
    uint64_t frames, bytes, bad_bytes, missing_frames;
    double seconds;
};
/* Has the board send frames of pattern and compares them; those that have not come within 10 ms a
 * frame are missing. Only while not armed. */
int session_self_test(struct session *session, uint32_t frames, struct session_test_result *result,
                      struct bt_error *error);

void session_statistics(const struct session *session, struct session_statistics *statistics);

#endif
