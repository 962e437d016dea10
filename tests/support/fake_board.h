/*
 * A board that a test plays: it answers commands as the protocol says unless told otherwise, and
 * sends the frames the test has it send, whole or spoilt. Request i is on the bus at tick
 * FAKE_TICK(i) and its record is fake_record(i), unless the bus was idle.
 */
#ifndef TESTS_SUPPORT_FAKE_BOARD_H
#define TESTS_SUPPORT_FAKE_BOARD_H

#include "driver/stream.h"
#include "formats/wire/wire.h"

#include <stdbool.h>

#define FAKE_TICK(index) (1000u + 10u * (uint64_t)(index))

/* What happens to the next frame on its way to the host. */
enum fake_fate {
    FAKE_SENT,
    FAKE_LOST,
    FAKE_SPOILT,  /* one bit of it flipped */
    FAKE_TWICE,   /* sent again behind itself */
    FAKE_DELAYED, /* sent behind the next one */
};

struct fake_board {
    struct stream stream; /* first: a fake board is a stream */
    struct wire_identity identity;

    /* How it misbehaves. */
    unsigned silent;           /* number of commands that are ignored */
    unsigned ignored_codes;    /* bit n: commands with code n are never answered nor obeyed */
    unsigned wrong_tags;       /* so many replies carry another tag */
    uint8_t version;           /* of its frames */
    uint8_t refusal;           /* status of every reply but identify's */
    bool closes;               /* the stream is closed once everything is read; else it is silent */
    bool impatient;            /* silence is told at once, without waiting for it */
    bool loses_end;            /* END never arrives */
    bool babbles;              /* where it would be silent it sends noise, without end */
    bool stuffed;              /* takes no bytes: writes time out at once */
    bool packs;                /* sends packed records whatever it was told */
    bool unplugged;            /* its cables are dead */
    unsigned unplugged_by;     /* bit n: ... once a command with code n was obeyed */
    const char *specification; /* of its cables */
    unsigned slow_ms;          /* that each read takes */
    unsigned late_ms;          /* by which the next one that finds nothing is late */
    size_t piece;              /* bytes a read returns at most; 0: any */
    int diagnosis;             /* what diagnose returns, */
    const char *explanation;   /* with this sentence */
    unsigned pattern_missing, pattern_bad; /* frames of a self-test to lose, bytes to spoil */

    /* What it saw. */
    struct wire_configuration configuration;
    unsigned heard[8]; /* commands, by code */
    unsigned reads;    /* by the host */
    bool *freed;       /* set to true when the session closes the stream */

    /* Its own state. */
    bool armed;
    uint32_t session, sequence, armed_session;
    uint64_t accepted, lost;
    uint64_t idle_ticks;           /* by which its clock is ahead of FAKE_TICK */
    uint64_t idle_since;           /* of those, since the last record */
    struct wire_counters counters; /* added to what it counts itself */
    enum fake_fate fate;

    uint8_t *out; /* bytes on their way to the host */
    size_t out_at, out_size, out_capacity;
    uint8_t delayed[WIRE_FRAME_MAX];
    size_t delayed_size;
};

/* A board that behaves. It is freed by stream_close. */
struct fake_board *fake_board_new(void);

/*
 * A cable to the board: a stream of its own, whose closing leaves the board as it is (free it with
 * stream_close on the board's own). A cable that was in use while the board was unplugged stays
 * dead.
 */
struct stream *fake_board_cable(struct fake_board *board);

/* What was on the line is gone. */
void fake_board_lose_line(struct fake_board *board);

/* The board loses its power for a moment. */
void fake_board_restart(struct fake_board *board);

struct record fake_record(uint64_t index);

/* Puts bytes, or a frame as it is, on the line. */
void fake_board_bytes(struct fake_board *board, const void *bytes, size_t size);
void fake_board_frame(struct fake_board *board, const struct wire_frame *frame);

/* Sends a frame with the next count requests, lost having been dropped before. count <= 1000. */
void fake_board_records(struct fake_board *board, unsigned count, unsigned lost);

/* Nothing is on the bus for so many ticks: they are in the time of the next record. */
void fake_board_idle(struct fake_board *board, uint64_t ticks);

/* Sends HEARTBEAT. */
void fake_board_heartbeat(struct fake_board *board);

/* Ends the session: END with these flags, lost requests having been dropped before. */
void fake_board_end(struct fake_board *board, uint16_t flags, unsigned lost);

#endif
