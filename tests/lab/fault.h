/*
 * What can go wrong between the firmware and its USB chip, on purpose: frames damaged, lost, sent
 * twice or out of order, bytes that a full FIFO swallows, what an earlier session left behind, a
 * board that speaks another version.
 */
#ifndef TESTS_LAB_FAULT_H
#define TESTS_LAB_FAULT_H

#include "firmware/link.h"
#include "formats/wire/wire.h"

#include <stdbool.h>

enum fault_kind {
    FAULT_NONE,
    FAULT_CORRUPT,   /* some octet changed */
    FAULT_TRUNCATE,  /* the end is missing */
    FAULT_DROP,      /* bytes in the middle are missing */
    FAULT_DUPLICATE, /* sent twice */
    FAULT_REORDER,   /* sent behind the frame that follows */
    FAULT_GARBAGE,   /* octets of no meaning before it */
    FAULT_KINDS
};

/* The name of a kind ("corrupt"); NULL for none. */
const char *fault_name(enum fault_kind kind);

#define FAULT_STALE_BYTES 65536u
#define FAULT_OUT_BYTES   (4u * WIRE_FRAME_MAX + FAULT_STALE_BYTES)

struct fault {
    struct board_link below; /* the chip */

    enum fault_kind kind;
    uint64_t every;     /* frames of records from one time to the next */
    uint64_t countdown; /* until the next time */
    uint64_t times;     /* so often yet */
    uint64_t all_times; /* so often in a session */
    uint64_t one_in;    /* or: at random, one frame of records in so many; 0: not */
    uint64_t random;
    bool overrun;    /* the board does not look whether the FIFO is full */
    bool stale;      /* what was sent last stays in the FIFO for the next session */
    uint8_t version; /* the board says that it speaks this one; 0: its own */

    /* what was done */
    uint64_t frames;   /* of records, that were damaged, lost, repeated or moved */
    uint64_t requests; /* records that the host cannot have had because of that */
    uint64_t bytes;    /* that a full FIFO swallowed */

    /* a frame on its way: whole before anything is done to it */
    size_t frame_bytes;
    uint8_t frame[WIRE_FRAME_MAX];
    bool held; /* one waits for its successor */
    size_t held_bytes;
    uint8_t held_frame[WIRE_FRAME_MAX];
    size_t out_first, out_bytes;
    uint8_t out[FAULT_OUT_BYTES];
    /* the last bytes that were sent, a ring */
    uint64_t past_bytes;
    uint8_t past[FAULT_STALE_BYTES];
};

/* Nothing goes wrong yet. */
void fault_init(struct fault *fault, const struct board_link *below);

/* No more faults; the counts begin anew. What is on its way goes on. */
void fault_clear(struct fault *fault);

/* The board lost its power: what is on its way is gone. */
void fault_power_off(struct fault *fault);

/* The chip lost its power: the whole frames on their way are gone. */
void fault_unplugged(struct fault *fault);

/*
 * The n-th frame of records from now on (1: the next), and each n-th behind it, times in all; and
 * so again in each session that begins, with counts of its own: a host that has no time for a
 * board's answer arms it once more.
 */
void fault_nth(struct fault *fault, enum fault_kind kind, uint64_t n, uint64_t times);

/* One frame of records in so many, at random, for ever. */
void fault_random(struct fault *fault, enum fault_kind kind, uint64_t one_in, uint64_t seed);

/* A host has opened the chip: stale bytes come first. */
void fault_opened(struct fault *fault);

/* The link as the board is to see it. */
struct board_link fault_link(struct fault *fault);

/* Sends on what waits. Returns whether anything moved. */
bool fault_flush(struct fault *fault);

#endif
