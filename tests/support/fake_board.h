/*
 * A board that a test controls: it answers commands as the protocol says unless set otherwise, and
 * sends the frames that the test requests, intact or damaged. Request i is on the bus at tick
 * FAKE_TICK(i) and its record is fake_record(i), unless the bus was idle.
 */
#ifndef TESTS_SUPPORT_FAKE_BOARD_H
#define TESTS_SUPPORT_FAKE_BOARD_H

#include "driver/stream.h"
#include "formats/wire/wire.h"

#include <stdbool.h>

#define FAKE_TICK(index) (1000u + 10u * (uint64_t)(index))

/* What happens to the next frame on the link. */
enum fake_fate {
    FAKE_SENT,
    FAKE_LOST,
    FAKE_SPOILT,  /* with one bit flipped */
    FAKE_TWICE,   /* sent twice */
    FAKE_DELAYED, /* sent after the next one */
};

struct fake_board {
    struct stream stream; /* first: a fake board is a stream */
    struct wire_identity identity;

    /* Faults. */
    unsigned silent;           /* number of commands that are ignored */
    unsigned ignored_codes;    /* bit n: commands with code n are neither answered nor obeyed */
    unsigned wrong_tags;       /* number of replies that carry another tag */
    uint8_t version;           /* of its frames */
    uint8_t refusal;           /* status of every reply but identify's */
    bool closes;               /* the stream is closed when everything is read, not silent */
    bool takes_nothing;        /* the stream is closed for writing */
    bool impatient;            /* reads without data time out at once */
    bool loses_end;            /* END never arrives */
    bool babbles;              /* sends endless noise instead of being silent */
    bool stuffed;              /* accepts no bytes: writes time out at once */
    bool packs;                /* sends packed records whatever its configuration */
    bool unplugged;            /* its cables are dead */
    unsigned unplugged_by;     /* bit n: unplugged once a command with code n was obeyed */
    const char *specification; /* of its cables */
    unsigned slow_ms;          /* duration of each read */
    unsigned late_ms;          /* additional duration of the next read without data */
    size_t piece;              /* maximum number of bytes per read; 0: any */
    int diagnosis;             /* result of diagnose, */
    const char *explanation;   /* and its message */
    unsigned pattern_missing, pattern_bad; /* self-test: frames to lose, bytes to corrupt */

    /* What it received. */
    struct wire_configuration configuration;
    unsigned heard[8]; /* number of commands, by code */
    unsigned reads;    /* by the host */
    bool *freed;       /* set to true when the session closes the stream */

    /* State. */
    bool armed;
    uint32_t session, sequence, armed_session;
    uint64_t accepted, lost;
    uint64_t idle_ticks;           /* ticks by which its clock is ahead of FAKE_TICK */
    uint64_t idle_since;           /* idle ticks since the last record */
    struct wire_counters counters; /* added to its own counts */
    enum fake_fate fate;

    uint8_t *out; /* bytes on the way to the host */
    size_t out_at, out_size, out_capacity;
    uint8_t delayed[WIRE_FRAME_MAX];
    size_t delayed_size;
};

/* Makes a board without faults. It is freed by stream_close. */
struct fake_board *fake_board_new(void);

/*
 * Makes a cable to the board: a separate stream, whose closing leaves the board as it is (free the
 * board with stream_close on its own stream). A cable in use while the board was unplugged stays
 * dead.
 */
struct stream *fake_board_cable(struct fake_board *board);

/* Drops the data on the line. */
void fake_board_lose_line(struct fake_board *board);

/* The board loses its power for a moment. */
void fake_board_restart(struct fake_board *board);

struct record fake_record(uint64_t index);

/* Puts bytes, or an unchanged frame, on the line. */
void fake_board_bytes(struct fake_board *board, const void *bytes, size_t size);
void fake_board_frame(struct fake_board *board, const struct wire_frame *frame);

/* Sends a frame with the next count requests (at most 1000), after lost requests were dropped. */
void fake_board_records(struct fake_board *board, unsigned count, unsigned lost);

/* Lets the bus be idle for this number of ticks, which the time of the next record includes. */
void fake_board_idle(struct fake_board *board, uint64_t ticks);

/* Sends HEARTBEAT. */
void fake_board_heartbeat(struct fake_board *board);

/* Ends the session: sends END with these flags, after lost requests were dropped. */
void fake_board_end(struct fake_board *board, uint16_t flags, unsigned lost);

#endif
